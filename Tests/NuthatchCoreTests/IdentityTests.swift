import Glibc
import NuthatchCore
import TestServer
import Testing

/// The identity of a request: cookies, netrc files, challenges, and options of its site.
@Suite("Identities of requests") struct IdentityTests {
  let bench: Bench

  init() throws { bench = try Bench() }

  private func site(_ path: String = "/", in cache: Cache? = nil, _ change: (inout Options) -> Void)
    throws -> Site
  {
    var options = Options()
    change(&options)
    return try (cache ?? bench.cache).site(bench.server.url(path), options)
  }

  private func get(_ site: Site, _ path: String, _ change: (inout Request) -> Void = { _ in }) throws
    -> Response
  {
    var request = site.request(path)
    change(&request)
    return try site.cache.submit(request).result()
  }

  private func cookies(_ path: String) -> [String?] {
    bench.server.requests(path).map { $0.headers["Cookie"] }
  }

  private func write(_ text: String, _ name: String = "netrc") throws -> String {
    let path = "\(bench.folder)/\(name)"
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(file) }
    try #require(Glibc.write(file, text, text.utf8.count) == text.utf8.count)
    return path
  }

  private static let login = Script.redirect(to: "/home", status: 303).with("Set-Cookie", "id=7; Path=/")

  @Test("cookies of an answer are sent to its redirect and to all later requests of the site")
  func memory() throws {
    bench.server.on("/login", Self.login)
    bench.server.on("/home", .ok("x"))
    let site = try site { $0.cookieJar = .memory }
    _ = try get(site, "login") { $0.method = "POST" }
    _ = try get(site, "home")
    #expect(cookies("/login") == [nil])
    #expect(cookies("/home") == ["id=7", "id=7"])
    // The same site shares the cookies, sites with other options or users don't.
    _ = try get(self.site { $0.cookieJar = .memory }, "home")
    _ = try get(self.site { _ in }, "home")
    _ = try get(self.site { ($0.cookieJar, $0.user) = (.memory, ("bob", "x")) }, "home")
    _ = try bench.get("/home")
    #expect(cookies("/home").dropFirst(2) == ["id=7", nil, nil, nil])
    // A Cookie header of the request replaces them.
    _ = try get(site, "home") { $0.headers = [("Cookie", "own=1")] }
    site.clearCookies()
    _ = try get(site, "home")
    #expect(cookies("/home").dropFirst(6) == ["own=1", nil])
    #expect(try !contains("id=7", in: bench.folder))
    #expect(try !contains("\tid\t7", in: bench.folder))
  }

  @Test("each identity of a cookie gets its own stored answers")
  func partitions() throws {
    bench.server.on("/in") { request in
      Script.ok("hello").with("Set-Cookie", "id=\(request.queryValue("as") ?? "")")
    }
    bench.server.on("/page") { request in
      Script.ok(request.headers["Cookie"] ?? "nobody").with("Cache-Control", "max-age=60")
    }
    let site = try site { $0.cookieJar = .memory }
    for (name, isInCache) in [("ann", false), ("bob", false), ("ann", true)] {
      _ = try get(site, "in?as=\(name)") { $0.policy = .reload }
      let response = try get(site, "page")
      #expect(response.text == "id=\(name)" && response.isInCache == isInCache)
    }
    #expect(try bench.get("/page").text == "nobody")
  }

  @Test("cookies stay with their host")
  func otherHosts() throws {
    let other = try TestServer.start()
    defer { other.stop() }
    other.on("/a", .ok("x"))
    bench.server.on(
      "/login",
      Script.redirect(to: other.url("/a", host: "localhost")).with("Set-Cookie", "id=7; Path=/"))
    let site = try site { ($0.cookieJar, $0.addresses) = (.memory, .any) }
    _ = try get(site, "login")
    #expect(other.requests("/a").map { $0.headers["Cookie"] } == [nil])
  }

  @Test("cookies on disk are kept for later processes, in files that only the user can read")
  func disk() throws {
    bench.server.on("/login", Self.login)
    bench.server.on("/home", .ok("x"))
    let other = try Cache(path: bench.folder)
    defer { other.close() }
    do {
      let early = try site { $0.cookieJar = .disk }
      _ = try get(early, "login")
    }
    bench.cache.close()
    other.close()
    let later = try Cache(path: bench.folder)
    defer { later.close() }
    let site = try site(in: later) { $0.cookieJar = .disk }
    _ = try get(site, "home")
    #expect(cookies("/home").last == "id=7")
    for name in names(in: "\(bench.folder)/cookies") {
      var status = stat()
      #expect(stat("\(bench.folder)/cookies/\(name)", &status) == 0 && status.st_mode & 0o777 == 0o600)
    }
    // Cookies that another process writes are read.
    for name in names(in: "\(bench.folder)/cookies") where name.hasSuffix(".txt") {
      _ = try write("127.0.0.1\tFALSE\t/\tFALSE\t0\tid\t8\n", "cookies/\(name)")
    }
    _ = try get(site, "home")
    #expect(cookies("/home").last == "id=8")
    site.clearCookies()
    #expect(try !contains("\tid\t8", in: bench.folder))
    _ = try get(site, "home")
    #expect(cookies("/home").last == .some(nil))
  }

  @Test("a netrc signs requests in if it is asked for and nothing else names a user")
  func netrc() throws {
    bench.server.on("/a", .ok("x"))
    let path = try write("machine 127.0.0.1 login ann password pw\n")
    func authorization(_ change: (inout Request) -> Void) throws -> String? {
      _ = try bench.get("/a") {
        $0.policy = .reload
        change(&$0)
      }
      return bench.server.requests("/a").last?.headers["Authorization"]
    }
    #expect(try authorization { _ in } == nil)
    #expect(try authorization { $0.netrc = .file(path) } == "Basic YW5uOnB3")
    #expect(
      try authorization {
        $0.netrc = .file(path)
        $0.user = ("bob", "x")
      } == "Basic Ym9iOng=")
    #expect(
      try authorization {
        $0.netrc = .file(path)
        $0.setBearer("t")
      } == "Bearer t")
    let none = try write("machine other.example login ann password pw\n", "none")
    #expect(try authorization { $0.netrc = .file(none) } == nil)
    let missing = try bench.failure("/a") { $0.netrc = .file("/does/not/exist") }
    #expect(missing.code == .io)
    var options = Options()
    options.netrc = .file(path)
    let cache = try Cache(path: "\(bench.folder)/other", options: options)
    defer { cache.close() }
    for host in ["127.0.0.1", "localhost", "127.0.0.1"] {
      _ = try cache.submit(Request(bench.server.url("/b", host: host))).result()
    }
    let sent = bench.server.requests("/b").map { $0.headers["Authorization"] }
    #expect(sent.prefix(2) == ["Basic YW5uOnB3", nil])
    let ofSite = try site(in: cache) { $0.netrc = .file(none) }
    _ = try get(ofSite, "c")
    #expect(bench.server.requests("/c").map { $0.headers["Authorization"] } == [nil])
  }

  @Test("a netrc's user counts for pictures that were shown before, too")
  func pictures() throws {
    bench.server.on("/a.png") { request in
      let side = request.headers["Authorization"] == nil ? 40 : 80
      return Script.ok(Pictures.png(width: side, height: side), type: "image/png")
        .with("Cache-Control", "max-age=60")
    }
    let path = try write("machine 127.0.0.1 login ann password pw\n")
    for _ in 0..<3 { #expect(try bench.thumbnail("/a.png", 16).originalWidth == 40) }
    for _ in 0..<3 {
      #expect(try bench.thumbnail("/a.png", 16) { $0.netrc = .file(path) }.originalWidth == 80)
    }
    // A certificate is another identity, and so is the system's sign-in.
    _ = try bench.thumbnail("/a.png", 16) { $0.cert = ClientCertificate("/none") }
    _ = try bench.thumbnail("/a.png", 16) { $0.signIn = .negotiate }
    #expect(bench.server.count("/a.png") == 4)
    #expect(try bench.cache.peek(bench.server.url("/a.png"), size: 16)?.originalWidth == 40)
  }

  @Test("a netrc is read again when a request is resubmitted")
  func resubmitted() throws {
    bench.server.on("/a", Script.ok("x").with("Cache-Control", "no-store"))
    var request = Request(bench.server.url("/a"))
    request.netrc = .file(try write("machine 127.0.0.1 login ann password pw\n"))
    let ticket = try bench.cache.submit(request)
    _ = try ticket.result()
    _ = try write("machine 127.0.0.1 login bob password pw\n")
    _ = try bench.cache.resubmit(ticket).result()
    #expect(
      bench.server.requests("/a").map { $0.headers["Authorization"] } == ["Basic YW5uOnB3", "Basic Ym9iOnB3"])
  }

  @Test("a netrc that names another user now counts at once, also for pictures in memory")
  func changedNetrc() throws {
    bench.server.on("/a.png") { request in
      let side = request.headers["Authorization"] == "Basic YW5uOnB3" ? 40 : 80
      return Script.ok(Pictures.png(width: side, height: side), type: "image/png")
        .with("Cache-Control", "max-age=60")
    }
    var options = Options()
    options.netrc = .file(try write("machine 127.0.0.1 login ann password pw\n"))
    let cache = try Cache(path: "\(bench.folder)/other", options: options)
    defer { cache.close() }
    let url = bench.server.url("/a.png")
    var request = Request(url)
    request.boxes = [ThumbnailBox(16)]
    func hit() -> Image? { url.withBytes { cache.instant.hit($0, size: 16) } }
    for _ in 0..<3 { #expect(try cache.thumbnail(url, size: 16).originalWidth == 40) }
    #expect(try cache.peek(url, size: 16)?.originalWidth == 40)
    #expect(try cache.peek(request)?.originalWidth == 40)
    #expect(try cache.peekResponse(url) != nil && cache.get(url).isInCache)
    _ = try write("machine 127.0.0.1 login bob password pw\n")
    #expect(hit() == nil && url.withBytes { cache.instant.hit($0) } == nil)
    #expect(try cache.peekResponse(url) == nil)
    #expect(try cache.peek(url, size: 16) == nil)
    #expect(try cache.peek(request) == nil)
    #expect(try cache.submit(request).final()?.images.first?.originalWidth == 80)
    #expect(try cache.thumbnail(url, size: 16).originalWidth == 80)
    #expect(try cache.peek(url, size: 16)?.originalWidth == 80)
    _ = try write("machine 127.0.0.1 login ann password pw\n")
    #expect(try cache.thumbnail(url, size: 16).originalWidth == 40)
    #expect(bench.server.count("/a.png") == 2)
  }

  @Test("a program answers a challenge in several steps, in place of the refused header")
  func challenge() throws {
    bench.server.on("/a") { request in
      switch request.headers["Authorization"] {
      case "Nut three": .ok("welcome")
      case "Nut two": .status(401, headers: ["WWW-Authenticate": "Nut three"])
      default: .status(401, headers: ["WWW-Authenticate": "Nut two"])
      }
    }
    var request = Request(bench.server.url("/a"))
    request.asks = [.challenge]
    request.setBearer("expired")
    func answer(_ question: Question) -> Reply {
      guard let wanted = question.response?.header("WWW-Authenticate") else { return .pass }
      return .headers([("authorization", wanted)])
    }
    let event = try bench.cache.submit(request).final(answering: answer)
    #expect(event?.response?.text == "welcome")
    #expect(
      bench.server.requests("/a").map { $0.headers.values(of: "Authorization") } == [
        ["Bearer expired"], ["Nut two"], ["Nut three"],
      ])
    // A server that refuses every answer isn't asked without end.
    bench.server.on("/b", .status(401, headers: ["WWW-Authenticate": "Nut more"]))
    request.url = bench.server.url("/b")
    #expect(try bench.cache.submit(request).final(answering: answer)?.response?.status == 401)
    #expect(bench.server.count("/b") == 11)
    let passed = try bench.cache.submit(request).final(answering: { _ in .pass })
    #expect(passed?.response?.status == 401)
  }

  @Test("a site can ask for verdicts on all its requests")
  func siteAsks() throws {
    bench.server.on("/a", sequence: [.ok("no"), .ok("yes")])
    let site = try site { ($0.asks, $0.retries) = ([.verdict], 2) }
    let event = try bench.cache.submit(site.request("a")).final(answering: {
      $0.response?.text == "yes" ? .accept : .retry
    })
    #expect(event?.response?.text == "yes")
    var quiet = site.request("a")
    quiet.asksNot = [.verdict]
    quiet.delivery = .fresh
    #expect(try bench.cache.submit(quiet).next()?.kind == .fresh)
  }
}
