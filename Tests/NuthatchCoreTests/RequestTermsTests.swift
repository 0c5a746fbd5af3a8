import Testing

@testable import NuthatchCore

@Suite("Terms of requests") struct RequestTermsTests {
  private static let url = "http://host.example/a"

  /// Every field by which requests can differ, each with another value than the standard one. `url`, `cacheKey`, `ignoreQuery`,
  /// `priority` and `tag` are no part of the terms; requests of a site never share any.
  private static let changes: [(field: String, change: @Sendable (inout Request) -> Void)] = [
    ("method", { $0.method = "HEAD" }), ("headers", { $0.headers = [("X-A", "1")] }),
    ("body", { $0.body = [1] }),
    ("user", { $0.user = ("a", "b") }), ("isAnonymous", { $0.isAnonymous = true }),
    ("boxes", { $0.boxes = [ThumbnailBox(9)] }),
    ("maxPixels", { $0.maxPixels = 9 }),
    ("allowTruncated", { $0.allowTruncated = true }), ("earlyStop", { $0.earlyStop = true }),
    ("delivery", { $0.delivery = .first }), ("policy", { $0.policy = .kit }), ("guard", { $0.guard = .any }),
    ("partition", { $0.partition = "p" }), ("timeout", { $0.timeout = Request.Limit.none }),
    ("deadline", { $0.deadline = .milliseconds(9) }), ("isBatched", { $0.isBatched = true }),
    ("giveUpAfter", { $0.giveUpAfter = .milliseconds(9) }), ("mayBeDeferred", { $0.mayBeDeferred = true }),
    ("retries", { $0.retries = 9 }),
    ("maxBytes", { $0.maxBytes = 9 }),
    ("signIn", { $0.signIn = .digest }), ("certificate", { $0.certificate = ClientCertificate("/c") }),
    ("netrc", { $0.netrc = .standard }), ("upload", { $0.upload = .file("/f") }),
    ("saveTo", { $0.saveTo = [.events] }),
    ("resumes", { $0.resumes = false }),
    ("reportsProgress", { $0.reportsProgress = true }), ("asks", { $0.asks = [.headers] }),
  ]

  @Test("know every field of a request")
  func fields() {
    let known =
      Self.changes.map(\.field) + [
        "url", "cacheKey", "ignoreQuery", "priority", "tag", "site", "download", "freezing", "isReplay",
        "userPlace",
      ]
    #expect(Mirror(reflecting: Request(Self.url)).children.compactMap(\.label).sorted() == known.sorted())
  }

  @Test("differ in any field", arguments: changes.indices)
  func difference(of index: Int) {
    var request = Request(Self.url)
    #expect(request.wantsTheSame(as: Request("http://other.example/")))
    Self.changes[index].change(&request)
    #expect(!request.wantsTheSame(as: Request(Self.url)) && !Request(Self.url).wantsTheSame(as: request))
    #expect(request.wantsTheSame(as: request))
  }

  @Test("are shared by requests that differ in their URL, key, priority or tag only")
  func shared() throws {
    let shelf = TermsCache()
    let first = try RequestPlan(Request(Self.url), Cache.Options(), shelf)
    var request = Request("https://other.example/b")
    (request.cacheKey, request.priority, request.tag) = ("k", 3, "t")
    let second = try RequestPlan(request, Cache.Options(), shelf)
    #expect(first.terms === second.terms && second.priority == 3 && second.name.address == "k")
    request.headers = [("Authorization", "Bearer x")]
    let third = try RequestPlan(request, Cache.Options(), shelf)
    #expect(third.headers["Authorization"] == "Bearer x" && !third.name.partition.isEmpty)
    #expect(second.headers["Authorization"] == nil && second.name.partition.isEmpty)
    // The first ones are still on the shelf, and those of userinfo are its URL's own affair.
    let fourth = try RequestPlan(Request("http://u:p@host.example/a"), Cache.Options(), shelf)
    #expect(fourth.terms === first.terms && fourth.credentials?.user == Array("u".utf8))
    #expect(!fourth.name.partition.isEmpty && first.credentials == nil)
  }

  @Test("have user and password in their place only")
  func place() throws {
    let shelf = TermsCache()
    var request = Request("http://other.example/b")
    request.user = ("u", "p")
    request.userPlace = SignInPlace("host.example")
    let outside = try RequestPlan(request, Cache.Options(), shelf)
    request.url = Self.url
    let inside = try RequestPlan(request, Cache.Options(), shelf)
    #expect(outside.credentials == nil && outside.name.partition.isEmpty)
    #expect(inside.credentials?.user == Array("u".utf8) && !inside.name.partition.isEmpty)
  }

  @Test("of a site are its own")
  func site() throws {
    let bench = try Bench()
    var options = Site.Options()
    options.headers = [("X-Key", "1")]
    let site = try bench.cache.site("http://host.example/", options)
    let inside = try RequestPlan(site.request("a"), bench.cache.options, bench.cache.termsCache)
    let outside = try RequestPlan(
      site.request("http://other.example/"), bench.cache.options, bench.cache.termsCache)
    #expect(inside.headers["X-Key"] == "1" && outside.headers["X-Key"] == nil)
  }
}
