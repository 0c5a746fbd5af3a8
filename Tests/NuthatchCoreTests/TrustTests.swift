import Glibc
import NuthatchTransport
import Testing

@testable import NuthatchCore

/// The trust options of requests. The tests of the bindings use them with TLS servers.
@Suite("Trust in TLS certificates") struct TrustTests {
  let bench: Bench
  init() throws { bench = try Bench() }

  private func options(_ change: (inout Options) -> Void) -> Options {
    var options = Options()
    change(&options)
    return options
  }

  /// Returns the plan of a request: its cache key, and its trust at its origin and elsewhere.
  private func plan(
    of site: Options? = nil, in cache: Options = Options(), to url: String = "http://here.test/a",
    _ change: (inout Request) -> Void = { _ in }
  ) throws -> RequestPlan {
    var request = Request(url)
    if let site { request = request.to(try bench.cache.site("http://here.test/", site)) }
    change(&request)
    return try RequestPlan(request, cache)
  }

  @Test("caFile, caDir and insecure are part of the cache key unless they are the defaults")
  func names() throws {
    let one = options { $0.caFile = "/one.pem" }
    let usual = try plan().name
    #expect(try plan(in: options { $0.caFile = "" }).name == usual)
    var seen: Set<AnswerName> = [usual]
    for different in [
      try plan(in: one), try plan { $0.caFile = "/two.pem" },
      // A site's trust counts at its origin only, so answers behind redirects may differ.
      try plan(of: one), try plan(of: options { $0.caFile = "" }, in: one),
      try plan(of: options { $0.caFile = "/two.pem" }, in: one),
      try plan { $0.caDir = "/one.pem" },
      try plan { $0.insecure = true }, try plan(of: options { $0.insecure = true }),
      try plan(of: options { $0.insecure = false }, in: options { $0.insecure = true }),
    ] {
      #expect(seen.insert(different.name).inserted)
      #expect(different.coalescingKey != (try plan()).coalescingKey)
    }
    #expect(try plan(in: options { $0.insecure = true }) { $0.insecure = false }.name == usual)
    #expect(try plan(in: one).name == (try plan { $0.caFile = "/one.pem" }).name)
    // A request's folder replaces the cache's file.
    #expect(try plan(in: one) { $0.caDir = "/one.pem" }.name == (try plan { $0.caDir = "/one.pem" }).name)
    #expect(seen.allSatisfy { $0.group == usual.group })
  }

  @Test("errors show the paths of certificates without control characters")
  func shownPaths() throws {
    let odd = "/none\u{1b}[31m"
    let changes: [(inout Request) -> Void] = [
      { $0.caFile = odd }, { $0.caDir = odd }, { $0.cert = ClientCertificate(odd) },
      { $0.cert = ClientCertificate(bench.folder + odd) },
    ]
    mkdir(bench.folder + odd, 0o700)
    for change in changes {
      var request = Request("https://127.0.0.1:9/")
      change(&request)
      let error = #expect(throws: NuthatchError.self) { try bench.cache.submit(request).result() }
      #expect(error?.message.contains("[31m") == true && error?.message.contains("\u{1b}") == false)
    }
  }

  @Test("a site's trust stays at its origin, that of a request or a cache follows redirects")
  func elsewhere() throws {
    let (one, two) = (options { $0.caFile = "/one.pem" }, options { $0.caFile = "/two.pem" })
    func trusted(_ plan: RequestPlan) throws -> [TransferExtras.Trust?] {
      let away = plan.first.redirected(to: try WebURL("http://there.test/"), status: 302, travelling: [])
      let near = plan.first.redirected(to: try WebURL("http://here.test/b"), status: 302, travelling: [])
      return [plan.first, near, away].map { $0.extras?.trust }
    }
    let (first, second) = (one.trust, two.trust)
    #expect(try trusted(plan(of: one)) == [first, first, nil])
    #expect(try trusted(plan(of: one, in: two)) == [first, first, second])
    #expect(try trusted(plan(in: two)) == [second, second, second])
    #expect(try trusted(plan(of: one, in: two) { $0.caFile = "/one.pem" }) == [first, first, first])
    #expect(try plan(of: one, to: "http://there.test/a").extras?.trust == nil)
    #expect(try plan(of: one, to: "http://there.test/a").name == (try plan(to: "http://there.test/a")).name)
  }

  @Test("a frozen request keeps its trust, and whether it is its site's")
  func frozen() throws {
    let outbox = try OutboxBench()
    outbox.server.goDown()
    let site = try #require(outbox.cache).site(outbox.url("/"), options { $0.caFile = "one.pem" })
    _ = try outbox.freeze("/a") { $0 = $0.to(site) }
    _ = try outbox.freeze("/a") { $0.caFile = "/two.pem" }
    _ = try outbox.freeze("/a") { ($0.insecure, $0.caFile) = (true, "/two.pem") }
    _ = try outbox.freeze("/a") { $0.caDir = "/three" }
    _ = try outbox.freeze("/a")
    outbox.close()
    try outbox.open { $0.outbox = .off }
    let here = try #require(getcwd(nil, 0))
    defer { free(here) }
    let kept = try outbox.list().map { item in
      try #require(try outbox.cache?.shared.outbox.store.begin(item.id)?.request(OutboxSecrets()) { $0 })
    }
    #expect(kept.map(\.options.caFile) == ["\(String(cString: here))/one.pem", "/two.pem", nil, nil, nil])
    #expect(kept.map(\.isTrustOfSite) == [true, false, false, false, false])
    #expect(kept.map(\.options.insecure) == [false, false, true, false, false])
    #expect(kept.map(\.options.caDir) == [nil, nil, nil, "/three", nil])
    // An insecure cache that sends the request doesn't make it insecure.
    let careless = options { $0.insecure = true }
    #expect(
      try kept.map { try RequestPlan($0, careless).extras?.trust == .unchecked } == [
        false, false, true, false, false,
      ])
    #expect(
      try kept.map { try RequestPlan($0, careless).extras?.trustElsewhere == .unchecked } == [
        false, false, true, false, false,
      ])
    let sent = try kept.map { try RequestPlan($0, Options()).extras }
    #expect(sent.map { $0?.trust == nil } == [false, false, false, false, true])
    #expect(sent.map { $0?.trustElsewhere == nil } == [true, false, false, false, true])
  }
}
