import Testing

@testable import NuthatchCore

/// The fields of a request, each with a change to another value than the standard one.
enum RequestFields {
  typealias Change = @Sendable (inout Request, Cache) throws -> Void

  /// Those that a plain request may have set.
  static let plain: [String: Change] = [
    "boxes": { request, _ in request.boxes = [ThumbnailBox(9)] },
    "earlyStop": { request, _ in request.earlyStop = true },
    "delivery": { request, _ in request.delivery = .first },
    "decode": { request, _ in request.decode = .isolated },
    "timeout": { request, _ in request.timeout = Request.Limit.none },
    "deadline": { request, _ in request.deadline = .milliseconds(9) },
    "isBatched": { request, _ in request.isBatched = true },
    "giveUpAfter": { request, _ in request.giveUpAfter = .milliseconds(9) },
    "mayBeDeferred": { request, _ in request.mayBeDeferred = true },
    "retries": { request, _ in request.retries = 9 },
    "progressEvents": { request, _ in request.progressEvents = true },
  ]

  /// The same, but they have no part in the terms.
  static let outsideTerms: [String: Change] = [
    "url": { request, _ in request.url += "?" },
    "priority": { request, _ in request.priority = 9 },
    "tag": { request, _ in request.tag = "t" },
  ]

  /// Those that make a request special.
  static let special: [String: Change] = [
    "method": { request, _ in request.method = "HEAD" },
    "headers": { request, _ in request.headers.append(("X-A", "1")) },
    "body": { request, _ in request.body = [1] },
    "upload": { request, _ in request.upload = .file("/f") },
    "saveTo": { request, _ in request.saveTo = [.events] },
    "asksNot": { request, _ in request.asksNot = [.headers] },
    "resume": { request, _ in request.resume = false },
    "user": { request, _ in request.user = ("a", "b") },
    "userPlace": { request, _ in request.userPlace = SignInPlace("host.example") },
    "isAnonymous": { request, _ in request.isAnonymous = true },
    "signIn": { request, _ in request.signIn = .digest },
    "cert": { request, _ in request.cert = ClientCertificate("/c") },
    "netrc": { request, _ in request.netrc = .standard },
    "validatorTTL": { request, _ in request.validatorTTL = .seconds(9) },
    "imageTTL": { request, _ in request.imageTTL = .seconds(9) },
    "noCacheTTL": { request, _ in request.noCacheTTL = .seconds(9) },
    "heuristic": { request, _ in request.heuristic = 0.5 },
    "maxPixels": { request, _ in request.maxPixels = 1 << 20 },
    "allowDamaged": { request, _ in request.allowDamaged = true },
    "policy": { request, _ in request.policy = .kit },
    "addresses": { request, _ in request.addresses = .any },
    "cacheKey": { request, _ in request.cacheKey = "k" },
    "ignoreQuery": { request, _ in request.ignoreQuery = true },
    "partition": { request, _ in request.partition = "p" },
    "maxBytes": { request, _ in request.maxBytes = 1 << 20 },
    "asks": { request, _ in request.asks = [.headers] },
    "download": { request, cache in
      var saved = Request(request.url)
      saved.saveTo = [.events]
      request.download = try Download(saved, cache.options, cache.runtime)
    },
    "freezing": { request, _ in request.freezing = Request.Freezing() },
    "isTrustOfSite": { request, _ in request.isTrustOfSite = true },
    "redirects": { request, _ in request.redirects = 9 },
    "caFile": { request, _ in request.caFile = "/c" },
    "caDir": { request, _ in request.caDir = "/c" },
    "insecure": { request, _ in request.insecure = true },
    "expireAfter": { request, _ in request.expireAfter = .seconds(9) },
    "keepHeadersAcrossOrigins": { request, _ in request.keepHeadersAcrossOrigins = ["X-A"] },
    "isReplay": { request, _ in request.isReplay = true },
    "site": { request, cache in request.site = try cache.site("http://127.0.0.1/") },
    "signedIn": { request, _ in request.signedIn = [("X-A", "1")] },
    "hosts": { request, _ in
      let place = try #require(SignInPlace("host.example"))
      request.hosts = HostSections([HostSection(place: place, options: Options(), command: nil, rate: 1)])
    },
  ]

  /// Options that a request can't have.
  static let elsewhere: [String: Change] = [
    "proxy": { request, _ in request.proxy = "" },
    "userAgent": { request, _ in request.userAgent = "" },
    "accept": { request, _ in request.accept = "a/b" },
    "cookieJar": { request, _ in request.cookieJar = .memory },
    "memoryBytes": { request, _ in request.memoryBytes = 1 },
    "memoryItems": { request, _ in request.memoryItems = 1 },
    "diskBytes": { request, _ in request.diskBytes = 4 << 20 },
    "checkBytes": { request, _ in request.checkBytes = .always },
    "spill": { request, _ in request.spill = .eager },
    "thumbStore": { request, _ in request.thumbStore = .raw },
    "keepSource": { request, _ in request.keepSource = true },
    "allowFiles": { request, _ in request.allowFiles = true },
    "config": { request, _ in request.config = "/c" },
    "outbox": { request, _ in request.outbox = .off },
    "outboxBytes": { request, _ in request.outboxBytes = 1 },
    "outboxItems": { request, _ in request.outboxItems = 1 },
    "concurrency": { request, _ in request.concurrency = 1 },
    "perHost": { request, _ in request.perHost = 1 },
    "perHostGrows": { request, _ in request.perHostGrows = true },
    "rate": { request, _ in request.rate = 1 },
    "inFlightBytes": { request, _ in request.inFlightBytes = 1 },
  ]

  static func names(_ value: Any) -> [String] {
    Mirror(reflecting: value).children.compactMap(\.label).sorted()
  }
}
