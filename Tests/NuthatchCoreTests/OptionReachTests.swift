import CNuthatch
import Glibc
import NuthatchHTTP
import TestServer
import Testing

@testable import NuthatchCore

/// Compares the table's reach of an option with two requests that differ in this option only. The generator ensures that an
/// option that reaches a hit makes a request special.
@Suite("Reach of options") struct OptionReachTests {
  /// A value other than the default, and settings that it needs, which both requests have.
  private struct Saying: Sendable {
    typealias Change = @Sendable (inout Said) throws -> Void

    var beside: Change = { _ in }
    let change: Change

    init(_ change: @escaping Change) { self.change = change }

    init(beside: @escaping Change, _ change: @escaping Change) {
      (self.beside, self.change) = (beside, change)
    }
  }

  /// A request and the options of its site.
  private struct Said {
    var request = Request(url)
    var site = Options()
    var cookie: String?
  }

  private struct Reach: OptionSet, CustomStringConvertible {
    let rawValue: UInt32
    static let fetch = Reach(rawValue: NH_REACHES_FETCH.rawValue)
    static let name = Reach(rawValue: NH_REACHES_NAME.rawValue)
    static let outbox = Reach(rawValue: NH_REACHES_OUTBOX.rawValue)

    var description: String {
      let names: [(Reach, String)] = [(.fetch, "fetch"), (.name, "name"), (.outbox, "outbox")]
      return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
  }

  private static let url = "http://host.example/a?b"
  private static let netrc = "netrc"

  private static let sayings: [String: Saying] = [
    "policy": Saying { $0.request.policy = .rfc9111 },
    "validator_ttl": Saying { $0.request.validatorTTL = .seconds(9) },
    "image_ttl": Saying { $0.request.imageTTL = .seconds(9) },
    "no_cache_ttl": Saying { $0.request.noCacheTTL = .seconds(9) },
    "heuristic": Saying { $0.request.heuristic = 0.5 },
    "expire_after": Saying { $0.request.expireAfter = .seconds(9) },
    "timeout": Saying { $0.request.timeout = .milliseconds(9) },
    "deadline": Saying { $0.request.deadline = .milliseconds(9) },
    "retries": Saying { $0.request.retries = 9 },
    "give_up_after": Saying { $0.request.giveUpAfter = .milliseconds(9) },
    "max_bytes": Saying { $0.request.maxBytes = 9 },
    "decoding": Saying { $0.request.decode = .isolated },
    "max_pixels": Saying { $0.request.maxPixels = 9 },
    "batched": Saying { $0.request.isBatched = true },
    "site": Saying { $0.site.user = ("ann", "pw") },
    "addresses": Saying { $0.request.addresses = .any },
    "proxy": Saying { $0.site.proxy = "http://127.0.0.1:9" },
    "redirects": Saying { $0.request.redirects = 0 },
    "method": Saying { $0.request.method = "PUT" },
    "headers": Saying { $0.request.headers += [("X-A", "1"), ("X-Api-Key", "k")] },
    "keep_headers_across_origins": Saying(beside: { $0.request.headers.append(("X-Api-Key", "k")) }) {
      $0.request.keepHeadersAcrossOrigins = ["X-Api-Key"]
    },
    "user_agent": Saying { $0.site.userAgent = "own" },
    "accept": Saying { $0.site.accept = "image/x" },
    "user": Saying { $0.request.user = ("ann", "pw") },
    "password": Saying(beside: { $0.request.user = ("ann", "") }) { $0.request.user = ("ann", "pw") },
    "user_place": Saying(beside: { $0.request.user = ("ann", "pw") }) {
      $0.request.userPlace = SignInPlace("other.example")
    },
    "bearer": Saying { $0.request.setBearer("token") },
    "sign_in": Saying(beside: { $0.request.user = ("ann", "pw") }) { $0.request.signIn = .negotiate },
    "cert": Saying { $0.request.cert = ClientCertificate("/c") },
    "cert_key": Saying(beside: { $0.request.cert = ClientCertificate("/c") }) { $0.request.cert?.key = "/k" },
    "cert_password": Saying(beside: { $0.request.cert = ClientCertificate("/c") }) {
      $0.request.cert?.password = "pw"
    },
    "netrc": Saying { $0.request.netrc = .file(netrc) },
    "partition": Saying { $0.request.partition = "p" },
    "cookie_jar": Saying { ($0.site.cookieJar, $0.cookie) = (.memory, "id=7") },
    "asks": Saying { $0.request.asks = [.credentials] },
    "asks_not": Saying(beside: { $0.site.asks = [.credentials] }) { $0.request.asksNot = [.credentials] },
    "cache_key": Saying { $0.request.cacheKey = "k" },
    "ignore_query": Saying { $0.request.ignoreQuery = true },
    "sizes": Saying { $0.request.boxes = [ThumbnailBox(9)] },
    "fit": Saying(beside: { $0.request.boxes = [ThumbnailBox(9)] }) { $0.request.boxes[0].fit = .cover },
    "enlarge": Saying(beside: { $0.request.boxes = [ThumbnailBox(9)] }) {
      $0.request.boxes[0].enlarge = true
    },
    "scaling": Saying(beside: { $0.request.boxes = [ThumbnailBox(9)] }) {
      $0.request.boxes[0].scaling = .fast
    },
    "allow_damaged": Saying { $0.request.allowDamaged = true },
    "early_stop": Saying { $0.request.earlyStop = true },
    "delivery": Saying { $0.request.delivery = .first },
    "priority": Saying { $0.request.priority = 9 },
    "tag": Saying { $0.request.tag = "t" },
    "progress_events": Saying { $0.request.progressEvents = true },
    "resume": Saying { $0.request.resume = false },
    "freezable": Saying(beside: { $0.request.method = "POST" }) { $0.request.freezable = true },
    "outbox_durable": freezable { $0.isDurable = true },
    "outbox_queue": freezable { $0.queue = "q" },
    "outbox_handler": freezable { $0.handler = "h" },
    "outbox_attempts": freezable { $0.attempts = 9 },
    "outbox_max_age": freezable { $0.longest = .milliseconds(9) },
    "outbox_key_lifetime": freezable { $0.keyLifetime = .milliseconds(9) },
    "secrets": freezable { $0.secrets.append(Request.Freezing.Secret("X-Other", provider: "p")) },
    "password_provider": Saying(beside: {
      freeze(&$0)
      $0.request.user = ("ann", "pw")
    }) { $0.request.freezing?.passwordProvider = "other" },
    "ca_file": Saying { $0.request.caFile = "/c" },
    "ca_dir": Saying { $0.request.caDir = "/c" },
    "insecure": Saying { $0.request.insecure = true },
  ]

  /// Options of the C call: how a program hears of its request, and what only a peek obeys.
  private static let ofTheCall: Set<String> = ["user_data", "callback", "quiet", "decode"]

  private static func freezable(_ change: @escaping @Sendable (inout Request.Freezing) -> Void) -> Saying {
    Saying(beside: freeze) { said in
      var freezing = said.request.freezing ?? Request.Freezing()
      change(&freezing)
      said.request.freezing = freezing
    }
  }

  @Sendable private static func freeze(_ said: inout Said) {
    var freezing = Request.Freezing()
    freezing.secrets = ["Authorization", "X-Api-Key"].map { Request.Freezing.Secret($0, provider: "p") }
    freezing.passwordProvider = "p"
    said.request.freezing = freezing
    if said.request.method == "GET" { said.request.method = "POST" }
    said.request.headers.append(("Idempotency-Key", "\"k\""))
  }

  /// By name, what the table says of each option that requests and sites have.
  private static let rows: [String: Reach] = {
    let rows = UnsafeBufferPointer(start: nh_option_rows(), count: nh_option_row_count)
    let levels = NH_LEVEL_SITE.rawValue | NH_LEVEL_REQUEST.rawValue
    return Dictionary(
      uniqueKeysWithValues: rows.filter { $0.levels & levels != 0 }.map {
        (String(cString: $0.name), Reach(rawValue: $0.reaches & ~NH_REACHES_HIT.rawValue))
      })
  }()

  let bench: Bench

  init() throws {
    bench = try Bench()
    let file = try #require(fopen("\(bench.folder)/\(Self.netrc)", "w"))
    fputs("machine host.example login ann password pw\n", file)
    fclose(file)
  }

  @Test("the reach of every option is tested")
  func all() {
    #expect(Self.rows.count > 50)
    #expect(Set(Self.rows.keys) == Self.ofTheCall.union(Self.sayings.keys))
    for name in Self.ofTheCall { #expect(Self.rows[name] == [], "\(name)") }
  }

  @Test(
    "an option reaches the fetch, the cache key and the outbox as the table says",
    arguments: sayings.keys.sorted())
  func reach(of option: String) throws {
    let saying = try #require(Self.sayings[option])
    var found: Reach = []
    let (plain, same, said) = (try plan(saying), try plan(saying), try plan(saying, isSaid: true))
    if said.name != plain.name { found.insert(.name) }
    #expect(plain.name == same.name && plain.coalescingKey == same.coalescingKey)
    if plain.coalescingKey != nil, said.coalescingKey != plain.coalescingKey { found.insert(.fetch) }
    if let record = try? frozen(saying, isSaid: true), record != (try frozen(saying)) {
      found.insert(.outbox)
    }
    #expect(found == Self.rows[option])
  }

  private func plan(_ saying: Saying, isSaid: Bool = false) throws -> RequestPlan {
    try RequestPlan(request(saying, isSaid, isFreezable: false), bench.cache.options)
  }

  private func request(_ saying: Saying, _ isSaid: Bool, isFreezable: Bool) throws -> Request {
    var said = Said()
    try saying.beside(&said)
    if isFreezable, said.request.method == "GET" { Self.freeze(&said) }
    if isSaid { try saying.change(&said) }
    if said.request.netrc != nil { said.request.netrc = .file("\(bench.folder)/\(Self.netrc)") }
    let site = try bench.cache.site("http://host.example/", said.site)
    if let cookie = said.cookie {
      var head = ResponseHead(status: 200)
      head.fields.append("Set-Cookie", cookie)
      site.cookies?.take(head, from: try WebURL(Self.url))
    }
    return said.request.to(site)
  }

  /// Returns the outbox record of the request; empty if the request isn't freezable.
  private func frozen(_ saying: Saying, isSaid: Bool = false) throws -> [UInt8] {
    let request = try request(saying, isSaid, isFreezable: true)
    let plan = try RequestPlan(request, bench.cache.options)
    guard let freezingPlan = plan.freezingPlan else { return [] }
    var encoder = RecordEncoder()
    freezingPlan.frozen(
      plan, Ticket(url: Self.url, tag: request.tag), at: DurableTime(wall: 0, running: 0, boot: 0),
      exposed: nil,
      isLive: freezingPlan.options.isDurable
    ).encode(into: &encoder)
    return encoder.bytes
  }
}
