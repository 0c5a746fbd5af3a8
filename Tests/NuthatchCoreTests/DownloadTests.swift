import Glibc
import NuthatchCore
import TestServer
import Testing

/// Answers that are saved while they come.
@Suite("Downloads") struct DownloadTests {
  let bench: Bench
  let folder: String

  init() throws {
    bench = try Bench { $0.retries = 2 }
    folder = "\(bench.folder)/saved"
    mkdir(folder, 0o700)
  }

  static let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 7) }

  private static func script(_ bytes: [UInt8] = Self.bytes, etag: String = "\"1\"") -> Script {
    // Nothing stored may stand in for what fails.
    Script.ok(bytes).withValidators(etag: etag).withRanges().with("Cache-Control", "no-store")
  }

  /// The first half, then the end of the connection.
  private static func half(etag: String? = "\"1\"") -> Script {
    var script = Script.truncated(announced: bytes.count, sent: Array(bytes.prefix(150_000)))
    if let etag { script.headers.add("ETag", etag) }
    return script
  }

  private func submit(_ path: String, _ sinks: [Sink], _ change: (inout Request) -> Void = { _ in }) throws
    -> Ticket
  {
    var request = Request(bench.server.url(path))
    request.saveTo = sinks
    change(&request)
    return try bench.cache.submit(request)
  }

  private func save(_ path: String, _ sinks: [Sink], _ change: (inout Request) -> Void = { _ in }) throws
    -> Response
  {
    try submit(path, sinks, change).result()
  }

  private func path(_ name: String) -> String { "\(folder)/\(name)" }

  private func content(_ name: String) -> [UInt8]? {
    let descriptor = open(path(name), O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var all: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(descriptor, &piece, piece.count), count > 0 { all += piece[..<count] }
    return all
  }

  private var saved: [String] { names(in: folder).sorted() }

  @Test("a download goes to several files, a descriptor and events at once, and into the cache")
  func several() throws {
    bench.server.on("/a", Script.ok(Self.bytes).with("Cache-Control", "max-age=60"))
    var pipe: [Int32] = [0, 0]
    try #require(Glibc.pipe(&pipe) == 0)
    for isInCache in [false, true] {
      let ticket = try submit(
        "/a", [.file(path("one")), .descriptor(pipe[1]), .events, .file(path("two"))])
      // A pipe holds less: the transfer waits for its reader.
      var piped: [UInt8] = []
      var piece = [UInt8](repeating: 0, count: 65_536)
      while piped.count < Self.bytes.count, case let count = read(pipe[0], &piece, piece.count), count > 0 {
        piped += piece[..<count]
      }
      var told: [UInt8] = []
      var last: Event?
      while last?.isFinal != true {
        last = try ticket.next(within: 30_000)
        told += last?.data ?? []
      }
      #expect(last?.kind == (isInCache ? .cached : .fresh))
      #expect(piped == Self.bytes && told == Self.bytes)
      #expect(content("one") == Self.bytes && content("two") == Self.bytes)
      #expect(last?.response?.bodySize == Self.bytes.count)
      #expect(saved == ["one", "two"])
    }
    close(pipe[0])
    close(pipe[1])
    #expect(bench.server.count("/a") == 1)
  }

  @Test("a download may be larger than the cache keeps, but not than the request's own limit")
  func large() throws {
    bench.server.on("/a", Self.script())
    var options = Options()
    options.maxBytes = 1000
    let small = try Cache(path: "\(bench.folder)/small", options: options)
    defer { small.close() }
    var request = Request(bench.server.url("/a"))
    request.saveTo = [.file(path("one"))]
    let response = try small.submit(request).result()
    #expect(response.status == 200 && response.bodySize == 0)
    #expect(content("one") == Self.bytes)
    let error = #expect(throws: NuthatchError.self) {
      try save("/a", [.file(path("two"))]) { $0.maxBytes = 1000 }
    }
    #expect(error?.code == .tooLarge)
    #expect(saved == ["one"])
  }

  @Test("a download goes on where its last attempt broke off")
  func retried() throws {
    bench.server.on("/a", sequence: [Self.half(), Self.script()])
    var pipe: [Int32] = [0, 0]
    try #require(Glibc.pipe(&pipe) == 0)
    // F_SETPIPE_SZ
    #expect(fcntl(pipe[1], 1031, 1 << 20) >= 300_000)
    let response = try save("/a", [.file(path("one")), .descriptor(pipe[1])])
    #expect(response.status == 200 && response.header("Content-Range") == nil)
    #expect(response.header("Content-Length") == "300000")
    #expect(content("one") == Self.bytes)
    var piped = [UInt8](repeating: 0, count: 400_000)
    #expect(read(pipe[0], &piped, piped.count) == 300_000)
    #expect(piped.prefix(300_000).elementsEqual(Self.bytes))
    let second = try #require(bench.server.requests("/a").last)
    #expect(second.headers["Range"] == "bytes=150000-" && second.headers["If-Range"] == "\"1\"")
    close(pipe[0])
    close(pipe[1])
  }

  /// Leaves half of it behind.
  private func breakOff(etag: String? = "\"1\"") throws {
    bench.server.on("/a", Self.half(etag: etag))
    let error = #expect(throws: NuthatchError.self) {
      try save("/a", [.file(path("one"))]) { $0.retries = 0 }
    }
    #expect(error?.code == .truncated)
    bench.server.clearLog()
  }

  @Test("a later request goes on with a download that broke off; files get their names when whole")
  func laterRequest() throws {
    try breakOff()
    #expect(saved == [".one.nuthatch-info", ".one.nuthatch-part"])
    bench.server.on("/a", Self.script())
    _ = try save("/a", [.file(path("one")), .file(path("two"))])
    #expect(bench.server.requests("/a").map { $0.headers["Range"] } == ["bytes=150000-"])
    #expect(content("one") == Self.bytes && content("two") == Self.bytes)
    #expect(saved == ["one", "two"])
  }

  @Test("a download goes on after a kill with the bytes that a slow server had sent until then")
  func killed() throws {
    var script = Script(headers: ["ETag": "\"1\"", "Content-Length": "300000"])
    script.steps = [
      .bytes(Array(Self.bytes.prefix(100_000))), .pause(milliseconds: 1500),
      .drip(Array(Self.bytes[100_000..<109_000]), piece: 1000, milliseconds: 600), .wait("g"),
    ]
    bench.server.on("/a", script)
    let ticket = try submit("/a", [.file(path("one"))])
    // Copies the files that a kill at this moment would leave.
    func isTold() -> Bool {
      content(".one.nuthatch-info").map { String(decoding: $0, as: UTF8.self).contains("bytes 10") } ?? false
    }
    for _ in 0..<3000 where !isTold() { usleep(10_000) }
    for kind in ["info", "part"] {
      let bytes = try #require(content(".one.nuthatch-\(kind)"))
      #expect(kind == "info" || bytes.count >= 100_000)
      let copy = open(path(".two.nuthatch-\(kind)"), O_WRONLY | O_CREAT, 0o600)
      #expect(write(copy, bytes, bytes.count) == bytes.count)
      close(copy)
    }
    bench.server.on("/a", Self.script())
    _ = try save("/a", [.file(path("two"))])
    let range = try #require(bench.server.requests("/a").last?.headers["Range"])
    #expect(range.hasPrefix("bytes=10"))
    #expect(content("two") == Self.bytes)
    ticket.cancel()
    bench.server.gate("g").open()
  }

  @Test("a download begins anew if the answer changed, the part is damaged, or the URL is another")
  func anew() throws {
    let other = [UInt8](repeating: 7, count: 200_000)
    try breakOff()
    bench.server.on("/a", Self.script(other, etag: "\"2\""))
    _ = try save("/a", [.file(path("one"))])
    #expect(content("one") == other)
    unlink(path("one"))

    try breakOff()
    let part = open(path(".one.nuthatch-part"), O_WRONLY)
    #expect(pwrite(part, [1, 2, 3], 3, 70_000) == 3)
    close(part)
    bench.server.on("/a", Self.script())
    _ = try save("/a", [.file(path("one"))])
    #expect(bench.server.requests("/a").map { $0.headers["Range"] } == [nil])
    #expect(content("one") == Self.bytes)
    unlink(path("one"))

    try breakOff()
    bench.server.on("/b", Self.script(other))
    _ = try save("/b", [.file(path("one"))])
    #expect(bench.server.requests("/b").map { $0.headers["Range"] } == [nil])
    #expect(content("one") == other)
    #expect(saved == ["one"])
  }

  @Test("a download copes with servers that ignore ranges, refuse them, or send another range")
  func oddServers() throws {
    try breakOff()
    bench.server.on(
      "/a", Script.ok(Self.bytes).with("ETag", "\"1\"").with("Cache-Control", "no-store"))
    _ = try save("/a", [.file(path("one"))])
    #expect(content("one") == Self.bytes)

    let refused = Script.status(416, headers: ["Content-Range": "bytes */10"])
    var wrong = Script.status(206, headers: ["Content-Range": "bytes 200000-299999/300000", "ETag": "\"1\""])
    wrong.steps = [.bytes(Array(Self.bytes[200_000...]))]
    for odd in [refused, wrong] {
      try breakOff()
      bench.server.on("/a", sequence: [odd, Self.script()])
      _ = try save("/a", [.file(path("one"))])
      #expect(bench.server.requests("/a").map { $0.headers["Range"] } == ["bytes=150000-", nil])
      #expect(content("one") == Self.bytes)
    }
    // Bytes that were delivered as events can't be taken back.
    bench.server.on("/a", sequence: [Self.half(), Self.script(etag: "\"2\"")])
    let error = #expect(throws: NuthatchError.self) { try save("/a", [.events]) }
    #expect(error?.code == .truncated)
  }

  @Test("a download begins anew if the rest comes in another content coding")
  func codedRest() throws {
    try breakOff()
    var coded = Script.status(
      206,
      headers: [
        "Content-Range": "bytes 150000-299999/300000", "ETag": "\"1\"", "Content-Encoding": "gzip",
        "Transfer-Encoding": "chunked",
      ])
    coded.steps = [.chunk([0x1f, 0x8b, 8, 0, 1, 2, 3]), .lastChunk([:])]
    bench.server.on("/a", sequence: [coded, Self.script()])
    #expect(try save("/a", [.file(path("one"))]).status == 200)
    #expect(content("one") == Self.bytes)
    #expect(bench.server.requests("/a").map { $0.headers["Range"] } == ["bytes=150000-", nil])
  }

  @Test("the program judges a download as a whole, and a rejected one leaves no file")
  func judged() throws {
    let page = Array("an error page, sorry".utf8)
    bench.server.on("/a", Self.script(page))
    let judged = Collected<Int>()
    func judge(_ reply: @escaping @Sendable (Int) -> Reply) throws -> Event? {
      try submit("/a", [.file(path("one"))]) { $0.asks = [.verdict] }.final(answering: { question in
        judged.add(question.response?.bodySize ?? -1)
        return reply(judged.values.count)
      })
    }
    #expect(try judge { _ in .retry }?.error?.code == .http)
    #expect(judged.values == [20, 20, 20])
    #expect(try judge { _ in .reject("no") }?.error?.code == .http)
    #expect(saved == [])
    #expect(try judge { $0 == 5 ? .retry : .accept }?.response?.status == 200)
    #expect(judged.values == [20, 20, 20, 20, 20, 20])
    #expect(bench.server.requests("/a").allSatisfy { $0.headers["Range"] == nil })
    #expect(content("one") == page)
    unlink(path("one"))

    // The program also sees the bytes that an earlier attempt had received.
    try breakOff()
    bench.server.on("/a", sequence: [.status(404), Self.script()])
    #expect(try judge { $0 == 7 ? .retry : .accept }?.response?.bodySize == Self.bytes.count)
    #expect(judged.values.suffix(2) == [0, Self.bytes.count])
    #expect(bench.server.requests("/a").map { $0.headers["Range"] } == ["bytes=150000-", "bytes=150000-"])
    #expect(content("one") == Self.bytes)
    try breakOff()
    bench.server.on("/a", Self.script())
    #expect(try save("/a", [.file(path("one"))]) { $0.maxBytes = 1 << 20 }.bodySize == Self.bytes.count)
  }

  @Test("a 206 that wasn't asked for is `truncated` and leaves no file")
  func unaskedPart() throws {
    var part = Script.status(206, headers: ["Content-Range": "bytes 0-3/100", "ETag": "\"1\""])
    part.steps = [.text("part")]
    bench.server.on("/a", part)
    let error = #expect(throws: NuthatchError.self) { try save("/a", [.file(path("one"))]) }
    #expect(error?.code == .truncated)
    #expect(saved == [])
    // A request for a part gets the server's part, and a part of all bytes counts as the whole.
    #expect(try save("/a", [.file(path("two"))]) { $0.headers = [("Range", "bytes=0-3")] }.status == 206)
    #expect(content("two") == Array("part".utf8))
    part.headers = ["Content-Range": "bytes 0-3/4"]
    bench.server.on("/a", part)
    #expect(try save("/a", [.file(path("one"))]).status == 206)
    #expect(content("one") == Array("part".utf8))
  }

  @Test("a download begins anew if the server names another length, and later attempts succeed")
  func otherLength() throws {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    func dated(_ bytes: [UInt8]) -> Script {
      .ok(bytes).with("Last-Modified", date).with("Cache-Control", "no-store")
    }
    for length in [1000, 200_000, 400_000] {
      var half = Script.truncated(announced: Self.bytes.count, sent: Array(Self.bytes.prefix(150_000)))
      half.headers.add("Last-Modified", date)
      bench.server.on("/a", half)
      #expect(throws: NuthatchError.self) { try save("/a", [.file(path("one"))]) { $0.retries = 0 } }
      #expect(saved.contains(".one.nuthatch-part"))
      // Changed within the same second.
      let other = [UInt8](repeating: 7, count: length)
      bench.server.on("/a", dated(other))
      #expect(try save("/a", [.file(path("one"))]).status == 200)
      #expect(content("one") == other)
      unlink(path("one"))
    }
    // More than there is can't be gone on with.
    try breakOff()
    var more = Script.status(
      206,
      headers: [
        "Content-Range": "bytes 150000-299999/300000", "ETag": "\"1\"", "Transfer-Encoding": "chunked",
      ])
    more.steps = [.chunk([UInt8](repeating: 1, count: 200_000)), .lastChunk([:])]
    bench.server.on("/a", more)
    let error = #expect(throws: NuthatchError.self) {
      try save("/a", [.file(path("one"))]) { $0.retries = 0 }
    }
    #expect(error?.code == .truncated)
    bench.server.on("/a", Self.script())
    #expect(try save("/a", [.file(path("one"))]).status == 200)
    #expect(content("one") == Self.bytes)
  }

  @Test("a download that can't go on later leaves no part behind")
  func noValidator() throws {
    try breakOff(etag: nil)
    #expect(saved == [])
    try breakOff(etag: "W/\"1\"")
    #expect(saved == [])
    bench.server.on("/a", Self.half())
    #expect(throws: NuthatchError.self) {
      try save("/a", [.file(path("one"))]) {
        $0.resume = false
        $0.retries = 0
      }
    }
    bench.server.on("/404", .status(404, body: "no"))
    #expect(try save("/404", [.file(path("one"))]).status == 404)
    #expect(saved == [])
  }

  @Test("a download is appended to a file as a whole, or not at all")
  func appended() throws {
    bench.server.on("/a", .ok("two"))
    bench.server.on("/b", .ok("one,"))
    _ = try save("/b", [.appended(path("all"))])
    _ = try save("/a", [.appended(path("all")), .file(path("copy"))])
    #expect(content("all") == Array("one,two".utf8))
    #expect(content("copy") == Array("two".utf8))
    bench.server.on("/c", .truncated(announced: 10, sent: [1]))
    #expect(throws: NuthatchError.self) { try save("/c", [.appended(path("all"))]) { $0.retries = 0 } }
    #expect(content("all") == Array("one,two".utf8))
  }

  @Test("a download is appended to all its files, or to none")
  func appendedToSeveral() throws {
    bench.server.on("/a", Self.script())
    let descriptor = open(path("one"), O_WRONLY | O_CREAT, 0o600)
    try #require(descriptor >= 0 && write(descriptor, "old", 3) == 3)
    close(descriptor)
    mkdir(path("folder"), 0o700)
    // Nothing can be added to a folder that is only looked at when the first file has had its part.
    symlink(path("folder") + "/nowhere/two", path("two"))
    let error = #expect(throws: NuthatchError.self) {
      try save("/a", [.appended(path("one")), .appended(path("two"))])
    }
    #expect(error?.code == .io)
    #expect(content("one")?.count == 3)
    // Nor is there a file where there was none.
    #expect(throws: NuthatchError.self) {
      try save("/a", [.appended(path("three")), .appended(path("two"))])
    }
    #expect(saved == ["folder", "one", "two"])
    unlink(path("two"))
    #expect(try save("/a", [.appended(path("one")), .appended(path("two"))]).status == 200)
    #expect(content("one")?.count == 3 + Self.bytes.count && content("two") == Self.bytes)
  }

  @Test("a download makes no file before the first bytes have come")
  func nameless() throws {
    bench.server.on("/a", Script(steps: [.wait("g")]))
    let ticket = try submit("/a", [.file(path("one"))])
    #expect(bench.server.waitForRequests(1, path: "/a"))
    // A process that ends here leaves no file.
    #expect(saved == [])
    ticket.cancel()
    bench.server.gate("g").open()
  }

  @Test("a download to a full disk is `no_space` and leaves no file")
  func full() throws {
    bench.server.on("/a", Self.script())
    let error = #expect(throws: NuthatchError.self) { try save("/a", [.file("/dev/full")]) }
    #expect(error?.code == .noSpace)
    let missing = #expect(throws: NuthatchError.self) { try save("/a", [.file(path("no/such"))]) }
    #expect(missing?.code == .io)
    #expect(saved == [])
  }

  @Test("a cancelled download is gone on with by a later request")
  func cancelled() throws {
    let gate = bench.server.gate("g")
    var script = Script(headers: ["ETag": "\"1\"", "Content-Length": "300000"])
    script.steps = [
      .bytes(Array(Self.bytes.prefix(100_000))), .wait("g"), .bytes(Array(Self.bytes[100_000...])),
    ]
    bench.server.on("/a", script)
    let ticket = try submit("/a", [.file(path("one"))]) { $0.progressEvents = true }
    #expect(gate.waitUntilReached())
    while try ticket.next(within: 30_000)?.bytesDone != 100_000 {}
    ticket.cancel()
    #expect(bench.server.waitForDisconnect())
    for _ in 0..<3000 where !saved.contains(".one.nuthatch-info") { usleep(10_000) }
    bench.server.on("/a", Self.script())
    _ = try save("/a", [.file(path("one"))])
    #expect(bench.server.requests("/a").last?.headers["Range"] == "bytes=100000-")
    #expect(content("one") == Self.bytes)
  }

  @Test("a transfer waits while the program doesn't take its data events")
  func slowTaker() throws {
    let many = [UInt8](repeating: 3, count: 20_000_000)
    bench.server.on("/a", .ok(many))
    let ticket = try submit("/a", [.events]) { $0.timeout = .milliseconds(5000) }
    var taken = 0
    var last: Event?
    while last?.isFinal != true {
      last = try ticket.next(within: 30_000)
      // Longer than the silence that is allowed.
      if taken == 0 { usleep(6_000_000) }
      taken += last?.data.count ?? 0
    }
    #expect(taken == many.count)
    #expect(last?.response?.status == 200)
  }
}
