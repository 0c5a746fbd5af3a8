@testable import NuthatchCore

/// The fields of a request, each with a change to another value than the standard one.
enum RequestFields {
  typealias Change = @Sendable (inout Request, Cache) throws -> Void

  /// Those that a plain request may have set.
  static let plain: [String: Change] = [
    "boxes": { request, _ in request.boxes = [ThumbnailBox(9)] },
    "earlyStop": { request, _ in request.earlyStop = true },
    "delivery": { request, _ in request.delivery = .first },
    "timeout": { request, _ in request.timeout = Request.Limit.none },
    "deadline": { request, _ in request.deadline = .milliseconds(9) },
    "isBatched": { request, _ in request.isBatched = true },
    "giveUpAfter": { request, _ in request.giveUpAfter = .milliseconds(9) },
    "mayBeDeferred": { request, _ in request.mayBeDeferred = true },
    "retries": { request, _ in request.retries = 9 },
    "reportsProgress": { request, _ in request.reportsProgress = true },
  ]

  /// The same, but they have no part in the terms.
  static let outsideTerms: [String: Change] = [
    "url": { request, _ in request.url += "?" },
    "priority": { request, _ in request.priority = 9 },
    "tag": { request, _ in request.tag = "t" },
  ]

  /// Those of `Request.Special`.
  static let special: [String: Change] = [
    "method": { request, _ in request.method = "HEAD" },
    "headers": { request, _ in request.headers.append(("X-A", "1")) },
    "body": { request, _ in request.body = [1] },
    "upload": { request, _ in request.upload = .file("/f") },
    "saveTo": { request, _ in request.saveTo = [.events] },
    "resumes": { request, _ in request.resumes = false },
    "user": { request, _ in request.user = ("a", "b") },
    "userPlace": { request, _ in request.userPlace = SignInPlace("host.example") },
    "isAnonymous": { request, _ in request.isAnonymous = true },
    "signIn": { request, _ in request.signIn = .digest },
    "certificate": { request, _ in request.certificate = ClientCertificate("/c") },
    "netrc": { request, _ in request.netrc = .standard },
    "maxPixels": { request, _ in request.maxPixels = 1 << 20 },
    "allowTruncated": { request, _ in request.allowTruncated = true },
    "policy": { request, _ in request.policy = .kit },
    "guard": { request, _ in request.guard = .any },
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
    "isReplay": { request, _ in request.special.isReplay = true },
    "site": { request, cache in request.site = try cache.site("http://127.0.0.1/") },
  ]

  static func names(_ value: Any) -> [String] {
    Mirror(reflecting: value).children.compactMap(\.label).sorted()
  }
}
