import Testing

@testable import NuthatchCore

@Suite("Terms of requests") struct RequestTermsTests {
  private static let url = "http://host.example/a"

  /// The cache key that a request names instead of its URL is no part of the terms.
  private static let changes = RequestFields.plain.merging(RequestFields.special) { own, _ in own }
    .filter { $0.key != "cacheKey" && $0.key != "ignoreQuery" }

  @Test("the terms of two requests differ if any field differs", arguments: changes.keys.sorted())
  func difference(in field: String) throws {
    let bench = try Bench()
    let change = try #require(Self.changes[field])
    var request = Request(Self.url)
    #expect(request.wantsTheSame(as: Request("http://other.example/")))
    try change(&request, bench.cache)
    #expect(!request.wantsTheSame(as: Request(Self.url)) && !Request(Self.url).wantsTheSame(as: request))
    // These belong to one request.
    let own = ["download", "freezing", "signedIn", "site"]
    #expect(request.wantsTheSame(as: request) == !own.contains(field))
  }

  @Test(
    "terms that come from files, sites or programs are read anew for each request",
    arguments: ["asks", "download", "netrc", "site", "userPlace"])
  func readings(of field: String) throws {
    let bench = try Bench()
    let change = try #require(RequestFields.special[field])
    let known = TermsCache()
    var request = Request(Self.url)
    try change(&request, bench.cache)
    let first = try RequestPlan(request, Options(), known).sharedTerms
    let second = try RequestPlan(request, Options(), known).sharedTerms
    #expect(!first.terms.isMemorable && first !== second)
  }

  @Test("requests that differ only in URL, key, priority or tag share their terms")
  func shared() throws {
    let cache = TermsCache()
    let first = try RequestPlan(Request(Self.url), Options(), cache)
    var request = Request("https://other.example/b")
    (request.cacheKey, request.priority, request.tag) = ("k", 3, "t")
    let second = try RequestPlan(request, Options(), cache)
    #expect(first.sharedTerms === second.sharedTerms && second.priority == 3 && second.name.address == "k")
    request.headers = [("Authorization", "Bearer x")]
    let third = try RequestPlan(request, Options(), cache)
    #expect(third.headers["Authorization"] == "Bearer x" && !third.name.partition.isEmpty)
    #expect(second.headers["Authorization"] == nil && second.name.partition.isEmpty)
    // The first ones are still there, and those of userinfo are its URL's own affair.
    let fourth = try RequestPlan(Request("http://u:p@host.example/a"), Options(), cache)
    #expect(fourth.sharedTerms === first.sharedTerms && fourth.credentials?.user == Array("u".utf8))
    #expect(!fourth.name.partition.isEmpty && first.credentials == nil)
  }

  @Test("requests of a cache without a netrc share their terms")
  func noNetrc() throws {
    var options = Options()
    options.netrc = .off
    let cache = TermsCache()
    let first = try RequestPlan(Request(Self.url), options, cache).sharedTerms
    #expect(first.terms.isMemorable)
    #expect(try RequestPlan(Request(Self.url), options, cache).sharedTerms === first)
  }

  @Test("a request's token that stays behind isn't replaced by the cache's Authorization")
  func tokenElsewhere() throws {
    var options = Options()
    options.headers = [("Authorization", "everybody's"), ("X-A", "1")]
    var request = Request("http://other.example/b")
    request.setBearer("own")
    #expect(try RequestPlan(request, options).headers["Authorization"] == "Bearer own")
    request.userPlace = SignInPlace("host.example")
    let elsewhere = try RequestPlan(request, options)
    #expect(elsewhere.headers["Authorization"] == nil && elsewhere.headers["X-A"] == "1")
  }

  @Test("a priority out of range is refused, also if the terms are shared")
  func priority() throws {
    let cache = TermsCache()
    _ = try RequestPlan(Request(Self.url), Options(), cache)
    var request = Request(Self.url)
    request.priority = 11
    #expect(throws: NuthatchError.self) { try RequestPlan(request, Options(), cache) }
  }

  @Test("user and password are sent only in their userPlace")
  func place() throws {
    let cache = TermsCache()
    var request = Request("http://other.example/b")
    request.user = ("u", "p")
    request.userPlace = SignInPlace("host.example")
    let outside = try RequestPlan(request, Options(), cache)
    request.url = Self.url
    let inside = try RequestPlan(request, Options(), cache)
    #expect(outside.credentials == nil && outside.name.partition.isEmpty)
    #expect(inside.credentials?.user == Array("u".utf8) && !inside.name.partition.isEmpty)
  }

  @Test("headers of a site are sent at its origin only")
  func site() throws {
    let bench = try Bench()
    var options = Options()
    options.headers = [("X-Key", "1")]
    let site = try bench.cache.site("http://host.example/", options)
    let inside = try RequestPlan(site.request("a"), bench.cache.options, bench.cache.instant.termsCache)
    let outside = try RequestPlan(
      site.request("http://other.example/"), bench.cache.options, bench.cache.instant.termsCache)
    #expect(inside.headers["X-Key"] == "1" && outside.headers["X-Key"] == nil)
  }
}
