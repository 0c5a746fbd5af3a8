import Glibc
import NuthatchTransport
import TestServer
import Testing

@testable import NuthatchCore

/// Config files that a program names.
@Suite("Config files") struct ConfigTests {
  /// A folder for a config file and a cache, which goes with it.
  final class Place {
    let folder: String
    var file: String { "\(folder)/config.toml" }

    init(_ text: String, mode: mode_t = 0o600) throws {
      folder = try Bench.makeFolder()
      try write(text, mode: mode)
    }

    deinit { removeTree(folder) }

    func write(_ text: String, mode: mode_t = 0o600) throws {
      let file = try #require(fopen(file, "w"))
      fputs(text, file)
      fclose(file)
      chmod(self.file, mode)
    }

    func open(_ change: (inout Options) -> Void = { _ in }) throws -> Cache {
      var options = Options()
      options.config = file
      options.addresses = .any
      change(&options)
      return try Cache(path: "\(folder)/cache", options: options)
    }
  }

  @Test("a cache has the file's options, and the program's before them")
  func order() throws {
    let place = try Place("retries = 7\ntimeout = \"9s\"\nheaders = { X-A = \"file\", X-B = \"file\" }\n")
    let cache = try place.open {
      $0.retries = 2
      $0.headers = [("x-a", "own")]
    }
    defer { cache.close() }
    #expect(cache.options.retries == 2)
    #expect(cache.options.timeout == .milliseconds(9000))
    #expect(cache.options.headers.map { "\($0.name): \($0.value)" } == ["x-a: own", "X-B: file"])
    #expect(try cache.optionsInForce.retries == 2)
  }

  @Test("without the option no file is read")
  func unasked() throws {
    let place = try Place("a mistake")
    let cache = try Cache(path: "\(place.folder)/cache")
    defer { cache.close() }
    #expect(cache.options.hosts == nil)
  }

  @Test("the file names the directory, unless the program or the environment does")
  func directory() throws {
    let place = try Place("")
    try place.write("cache = \"\(place.folder)/named\"\n")
    var options = Options()
    options.config = place.file
    let own = try Cache(path: "\(place.folder)/own", options: options)
    defer { own.close() }
    #expect(own.path == "\(place.folder)/own")
    guard getenv("NUTHATCH_CACHE") == nil else { return }
    let named = try Cache(options: options)
    defer { named.close() }
    #expect(named.path == "\(place.folder)/named")
  }

  @Test(
    "a mistake is the error invalid, with file, line, column and the nearest name",
    arguments: [
      ("retires = 1", "1:1: there is no option 'retires'; did you mean retries?"),
      ("\n  retries = 1001", "2:13: retries is 1001; it must be 0 to 1000, or none"),
      ("method = \"POST\"", "1:1: 'method' is an option of a single request"),
      ("outbox = \"off\"", "1:1: there is no option 'outbox'"),
      ("timeout = 3s", "1:11: this is neither a number"),
    ])
  func mistakes(text: String, message: String) throws {
    let place = try Place(text)
    let error = try #require(throws: NuthatchError.self) { try place.open() }
    #expect(error.code == .invalid)
    #expect(error.message.hasPrefix("\(place.file):\(message)"), "\(error)")
  }

  @Test("files of others, pipes and missing files are refused")
  func unsafe() throws {
    let place = try Place("retries = 1\n", mode: 0o622)
    #expect(try code { try place.open() } == .unsafeFile)
    unlink(place.file)
    #expect(try code { try place.open() } == .io)
    mkfifo(place.file, 0o600)
    #expect(try code { try place.open() } == .unsafeFile)
    #expect(try code { try place.open { $0.config = "a\0b" } } == .invalid)
  }

  private func code(_ body: () throws -> Cache) throws -> ErrorCode {
    try #require(throws: NuthatchError.self) { try body() }.code
  }

  @Test("a section counts at its host only, below the options of request and site")
  func sections() throws {
    let (server, other) = (try TestServer.start(), try TestServer.start())
    defer {
      server.stop()
      other.stop()
    }
    let answer = Script.status(200, headers: ["Cache-Control": "no-store"], body: "x")
    for one in [server, other] { one.on("/a", answer) }
    let place = try Place(
      """
      user_agent = "top"
      [host."\(server.url(""))"]
      user_agent = "section"
      user = "ann:nuts"
      headers = { X-A = "section", X-B = "section" }
      """)
    let cache = try place.open()
    defer { cache.close() }
    for one in [server, other] { _ = try cache.submit(Request(one.url("/a"))).result() }
    var seen = try #require(server.requests("/a").last)
    #expect(seen.headers["User-Agent"] == "section" && seen.headers["X-A"] == "section")
    #expect(seen.headers["Authorization"] == "Basic YW5uOm51dHM=")
    let elsewhere = try #require(other.requests("/a").last)
    #expect(elsewhere.headers["User-Agent"] == "top" && elsewhere.headers["Authorization"] == nil)

    var options = Options()
    options.headers = [("x-b", "site")]
    options.user = ("bob", "nuts")
    var request = try cache.site(server.url("/"), options).request("a")
    request.headers = [("x-a", "request")]
    _ = try cache.submit(request).result()
    seen = try #require(server.requests("/a").last)
    #expect(seen.headers["X-A"] == "request" && seen.headers["X-B"] == "site")
    #expect(seen.headers["Authorization"] == "Basic Ym9iOm51dHM=")
  }

  @Test("an answer that a section's user has fetched is found with the section only")
  func names() throws {
    let server = try TestServer.start()
    defer { server.stop() }
    server.on("/a", .status(200, headers: ["Cache-Control": "max-age=600"], body: "x"))
    let place = try Place("[host.\"\(server.url(""))\"]\nuser = \"ann:nuts\"\n")
    let cache = try place.open()
    _ = try cache.submit(Request(server.url("/a"))).result()
    #expect(try cache.inspect(Request(server.url("/a"))) != nil)
    #expect(try cache.peekResponse(server.url("/a")) != nil)
    cache.close()
    var options = Options()
    options.addresses = .any
    let plain = try Cache(path: cache.path, options: options)
    #expect(try plain.inspect(Request(server.url("/a"))) == nil)
    plain.close()
    // A removal by URL removes all of its answers.
    let again = try place.open()
    defer { again.close() }
    #expect(try again.remove(server.url("/a")) == 1)
  }

  @Test("a command signs in, also for calls that send nothing")
  func command() throws {
    let server = try TestServer.start()
    defer { server.stop() }
    server.on("/a", .status(200, headers: ["Cache-Control": "max-age=600"], body: "x"))
    let place = try Place("[host.\"\(server.url(""))\"]\nauth_command = [\"echo\", \"token\"]\n")
    let cache = try place.open()
    // It never waits, so the command hasn't run.
    #expect(try cache.peekResponse(server.url("/a")) == nil)
    _ = try cache.submit(Request(server.url("/a"))).result()
    #expect(server.requests("/a").last?.headers["Authorization"] == "Bearer token")
    #expect(try cache.peekResponse(server.url("/a")) != nil)
    cache.close()
    let again = try place.open()
    defer { again.close() }
    #expect(try again.inspect(Request(server.url("/a"))) != nil)
    #expect(try again.remove(Request(server.url("/a"))) == 1)
    var request = Request(server.url("/a"))
    request.isAnonymous = true
    _ = try again.submit(request).result()
    #expect(server.requests("/a").last?.headers["Authorization"] == nil)
    #expect(try !contains("token", in: again.path))
  }

  @Test("a section's cookies are kept and sent back")
  func cookies() throws {
    let server = try TestServer.start()
    defer { server.stop() }
    server.on("/a", .status(200, headers: ["Set-Cookie": "id=1", "Cache-Control": "no-store"], body: "x"))
    let place = try Place("[host.\"\(server.url(""))\"]\ncookie_jar = \"memory\"\n")
    let cache = try place.open()
    defer { cache.close() }
    for _ in 0..<2 { _ = try cache.submit(Request(server.url("/a"))).result() }
    #expect(server.requests("/a").map { $0.headers["Cookie"] } == [nil, "id=1"])
  }

  @Test("a file of certificates of a section isn't used after a redirect to another origin")
  func trust() throws {
    var cache = Options()
    cache.hosts = HostSections([
      HostSection(
        place: try #require(SignInPlace("https://a.test")), options: Options().with { $0.caFile = "/ca.pem" },
        command: nil, rate: nil)
    ])
    let plan = try RequestPlan(Request("https://a.test/"), cache)
    let extras = try #require(plan.first.extras)
    #expect(extras.trust == .authorities(file: "/ca.pem", folder: nil) && extras.trustElsewhere == nil)
    #expect(try RequestPlan(Request("https://b.test/"), cache).first.extras == nil)
  }

  @Test("special sections override general ones in any order, and a host's rate the general one")
  func layers() throws {
    let place = try Place(
      """
      rate = 9
      [host."https://a.test"]
      retries = 3
      [host."a.test"]
      retries = 1
      timeout = 1
      rate = 2
      [host."a.test:443"]
      retries = 2
      """)
    let config = try Config([ConfigFile(.named, place.file)])
    let (options, process) = try config.under(Options(), process: Options())
    let hosts = try #require(options.hosts)
    let section = try #require(hosts.section(at: try WebURL("https://a.test/").origin))
    #expect(section.options.retries == 3 && section.options.timeout == .milliseconds(1000))
    let plain = try #require(hosts.section(at: try WebURL("http://a.test/").origin))
    #expect(plain.options.retries == 1)
    #expect(process.rate == 9 && options.rate == nil)
    var settings = QueueSettings()
    (settings.rate, settings.rates) = (process.rate, hosts.rates)
    #expect(settings.rate(of: try WebURL("http://a.test/").origin) == 2)
    #expect(settings.rate(of: try WebURL("http://b.test/").origin) == 9)
    var own = Options()
    own.rate = 5
    let overridden = try config.under(Options(), process: own)
    #expect(overridden.process.rate == 5 && overridden.options.hosts?.rates.isEmpty == true)
  }
}

extension Options {
  fileprivate func with(_ change: (inout Options) -> Void) -> Options {
    var result = self
    change(&result)
    return result
  }
}
