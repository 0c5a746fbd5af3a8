import TestServer
import Testing

@testable import NuthatchCore

#if canImport(Glibc)
  import Glibc
#endif

@Suite("Secrets of frozen requests", .serialized) struct FrozenSecretTests {
  let bench: OutboxBench

  init() throws { bench = try OutboxBench() }

  @Test("a freezable request with a secret and no provider is `secret_needs_provider`")
  func refused() throws {
    let cases: [(inout Request) -> Void] = [
      { $0.headers = [("Authorization", "Bearer hush")] },
      { $0.headers = [("X-Api-Key", "hush")] },
      { $0.headers = [("Cookie", "session=hush")] },
      { $0.user = ("ann", "hush") },
      { $0.url = $0.url.replacingHost("127.0.0.1", "ann:hush@127.0.0.1") },
    ]
    for change in cases {
      let error = #expect(throws: NuthatchError.self) {
        try bench.cache?.submit(bench.request("/a", "x", change))
      }
      #expect(error?.code == .secretNeedsProvider)
      #expect(error?.message.contains("hush") == false)
    }
    #expect(!names(in: bench.folder).contains("outbox"))
  }

  @Test("a secret's provider must have a name")
  func nameless() throws {
    let cases: [(inout Request) -> Void] = [
      { $0.freezing?.secrets = [Request.Freezing.Secret("X-Api-Key", provider: "")] },
      {
        $0.user = ("ann", "")
        $0.freezing?.passwordProvider = ""
      },
    ]
    for change in cases {
      let error = #expect(throws: NuthatchError.self) {
        try bench.cache?.submit(bench.request("/a", "x", change))
      }
      #expect(error?.code == .invalid)
    }
    #expect(!names(in: bench.folder).contains("outbox"))
  }

  @Test("a password from a netrc needs a provider, a host without an entry needs none")
  func netrc() throws {
    let path = bench.folder + "/netrc"
    let text = "machine 127.0.0.1 login ann password hush\n"
    let file = try #require(fopen(path, "w"))
    fputs(text, file)
    fclose(file)
    let error = #expect(throws: NuthatchError.self) {
      try bench.cache?.submit(bench.request("/a") { $0.netrc = .file(path) })
    }
    #expect(error?.code == .secretNeedsProvider)
    let named = try bench.freeze("/a") {
      $0.netrc = .file(path)
      $0.freezing?.passwordProvider = "password"
    }
    let other = try bench.freeze("/a") {
      $0.netrc = .file(path)
      $0.url = $0.url.replacingHost("127.0.0.1", "localhost")
    }
    unlink(path)
    #expect(try !contains("hush", in: bench.folder))
    bench.server.on("/a", .ok(""))
    try bench.server.goUp()
    try bench.cache?.outbox.provide("password", "here")
    #expect(try bench.waitUntilEnded(named).isDone && bench.waitUntilEnded(other).isDone)
    #expect(
      Set(bench.server.requests("/a").map { $0.headers["Authorization"] }) == ["Basic YW5uOmhlcmU=", nil])
  }

  @Test("a site's cookies are sent with the first attempt only, and never written to the outbox")
  func cookies() throws {
    bench.server.on("/login", .ok("").with("Set-Cookie", "id=hush; Path=/").with("Connection", "close"))
    bench.server.on("/a", sequence: [Script(steps: [.reset], sendsHead: false), .ok("")])
    try bench.server.goUp()
    var options = Options()
    options.cookieJar = .memory
    let site = try #require(bench.cache).site(bench.url("/"), options)
    _ = try bench.cache?.submit(site.request("login")).result()
    let ticket = try #require(bench.cache).submit(bench.request("/a") { $0 = $0.to(site) })
    let id = try #require(try ticket.final(within: 20_000)?.error?.outboxID)
    #expect(try !contains("hush", in: bench.folder + "/outbox"))
    #expect(try bench.waitUntilEnded(id).isDone)
    #expect(bench.server.requests("/a").map { $0.headers["Cookie"] } == ["id=hush", nil])
  }

  @Test("secrets of frozen requests never reach the disk, and are asked for before sending")
  func provided() throws {
    setenv("NUTHATCH_TEST_TOKEN", "token-of-the-environment", 1)
    let id = try bench.freeze("/a") {
      $0.headers = [("Authorization", "Bearer hush-1")]
      $0.user = ("ann", "hush-2")
      $0.freezing?.secrets = [
        .init("authorization", prefix: "Bearer ", provider: "token"),
        .init("X-Api-Key", provider: "env:NUTHATCH_TEST_TOKEN"),
      ]
      $0.freezing?.passwordProvider = "password"
    }
    for secret in ["hush-1", "hush-2", "token-of-the-environment"] {
      #expect(try !contains(secret, in: bench.folder))
    }
    bench.server.on("/a", .ok(""))
    try bench.server.goUp()
    // The request waits for the two secrets.
    var wanted: Set<String> = []
    for _ in 0..<2 {
      if case .secretWanted(let provider) = try bench.cache?.nextNotice(within: 20_000) {
        wanted.insert(provider)
      }
    }
    #expect(wanted == ["token", "password"])
    #expect(bench.server.count() == 0)
    try bench.cache?.outbox.provide("token", "hush-3")
    try bench.cache?.outbox.provide("password", "hush-2")
    #expect(try bench.waitUntilEnded(id).isDone)
    let sent = try #require(bench.server.requests("/a").first)
    #expect(sent.headers["X-Api-Key"] == "token-of-the-environment")
    #expect(sent.headers["Authorization"] == "Bearer hush-3")
    for secret in ["hush-", "token-of-the-environment"] {
      #expect(try !contains(secret, in: bench.folder))
    }
  }

  @Test(
    "a secret that a server refuses pauses the queue until its provider gives a new one",
    arguments: [401, 403])
  func paused(_ status: Int) throws {
    try bench.cache?.outbox.provide("token", "old")
    let first = try bench.freeze("/a", "1") { $0.freezing?.secrets = [.init("X-Token", provider: "token")] }
    let second = try bench.freeze("/a", "2")
    bench.server.on("/a") { request in
      request.headers["X-Token"] == "old" ? .status(status) : .ok("")
    }
    try bench.server.goUp()
    try bench.wait { $0.first?.state == .paused }
    bench.source.change()
    try bench.settle()
    #expect(bench.server.count("/a") == 1)
    #expect(try bench.list().map(\.state) == [.paused, .waiting])
    // Also after a restart.
    bench.close()
    try bench.open()
    try bench.settle()
    #expect(bench.server.count("/a") == 1)
    try bench.cache?.outbox.provide("token", "new")
    #expect(try bench.waitUntilEnded(first).isDone && bench.waitUntilEnded(second).isDone)
    #expect(bench.server.requests("/a").map { $0.headers["X-Token"] } == ["old", "new", nil])
  }

  @Test("a refused request holds its queue up until it is dropped or replayed")
  func resumed() throws {
    let ids = try (0..<3).map { try bench.freeze("/\($0)") }
    bench.server.on("/0", sequence: [.status(403), .ok("")])
    bench.server.on("/1", .status(401))
    bench.server.on("/2", .ok(""))
    try bench.server.goUp()
    try bench.wait { $0.first?.state == .paused }
    #expect(try bench.list().map(\.state) == [.paused, .waiting, .waiting])
    #expect(try bench.cache?.outbox.replay(ids[0]) == true)
    try bench.wait { $0.map(\.state) == [.done, .paused, .waiting] }
    #expect(try bench.cache?.outbox.drop(ids[1]) == true)
    #expect(try bench.waitUntilEnded(ids[2]).isDone)
    #expect(bench.server.requests.map(\.path) == ["/0", "/0", "/1", "/2"])
  }

  @Test(
    "after a refusal all secrets are sent again when one is renewed or the request is replayed",
    arguments: [false, true])
  func several(_ isRenewed: Bool) throws {
    setenv("NUTHATCH_TEST_TOKEN", "token-of-the-environment", 1)
    try bench.cache?.outbox.provide("token", "old")
    let id = try bench.freeze("/a") {
      $0.freezing?.secrets = [
        .init("X-Token", provider: "token"), .init("X-Key", provider: "env:NUTHATCH_TEST_TOKEN"),
      ]
    }
    bench.server.on("/a", sequence: [.status(403), .ok("")])
    try bench.server.goUp()
    try bench.wait { $0.first?.state == .paused }
    if isRenewed {
      // The provider hears that the secret was refused.
      guard case .secretWanted("token") = try bench.cache?.nextNotice(within: 20_000) else {
        Issue.record("nobody was asked")
        return
      }
      try bench.cache?.outbox.provide("token", "new")
    } else {
      try bench.cache?.outbox.replay(id)
    }
    #expect(try bench.waitUntilEnded(id).isDone)
    let sent = try #require(bench.server.requests("/a").last)
    #expect(sent.headers["X-Token"] == (isRenewed ? "new" : "old"))
    #expect(sent.headers["X-Key"] == "token-of-the-environment")
  }

  @Test("a listener hears once of each secret that is wanted, and again when it asks again")
  func askedOnce() throws {
    _ = try bench.freeze("/a") {
      $0.freezing?.secrets = [.init("X-One", provider: "one"), .init("X-Two", provider: "two")]
    }
    try bench.server.goUp()
    let cache = try #require(bench.cache)
    // When the first of the two notices comes, the second is there, and isn't taken.
    guard case .secretWanted("one") = try cache.nextNotice(within: 20_000) else {
      Issue.record("nobody was asked")
      return
    }
    let told = Collected<String>()
    try cache.outbox.ask(for: "two") {
      cache.whenNews { if case .secretWanted(let provider) = $0 { told.add(provider) } }
    }
    for _ in 0..<2000 where told.values.isEmpty { usleep(10_000) }
    // Asking again brings all notices again.
    try cache.outbox.ask(for: nil) {}
    for _ in 0..<2000 where told.values.count < 3 { usleep(10_000) }
    try bench.settle()
    #expect(told.values.sorted() == ["one", "two", "two"])
  }

  @Test("a request with a user and no password waits in the outbox for its password provider")
  func lacksPassword() throws {
    bench.server.on("/a", .ok(""))
    try bench.server.goUp()
    let id = try bench.freeze("/a") {
      $0.user = ("ann", "")
      $0.freezing?.passwordProvider = "password"
    }
    try bench.settle()
    #expect(bench.server.count() == 0)
    try bench.cache?.outbox.provide("password", "here")
    #expect(try bench.waitUntilEnded(id).isDone)
    #expect(bench.server.requests("/a").first?.headers["Authorization"] == "Basic YW5uOmhlcmU=")
  }

  @Test("a request whose secret is missing waits in the outbox for its provider")
  func missing() throws {
    bench.server.on("/a", .ok(""))
    try bench.server.goUp()
    let id = try bench.freeze("/a") { $0.freezing?.secrets = [.init("X-Token", provider: "token")] }
    try bench.settle()
    #expect(bench.server.count() == 0)
    try bench.cache?.outbox.provide("token", "here")
    #expect(try bench.waitUntilEnded(id).isDone)
    // Now it is known.
    let ticket = try #require(bench.cache).submit(
      bench.request("/a") { $0.freezing?.secrets = [.init("X-Token", provider: "token")] })
    #expect(try ticket.result().status == 200)
    #expect(bench.server.requests("/a").map { $0.headers["X-Token"] } == ["here", "here"])
  }
}

extension String {
  fileprivate func replacingHost(_ host: String, _ other: String) -> String {
    split(separator: host, maxSplits: 1).joined(separator: other)
  }
}
