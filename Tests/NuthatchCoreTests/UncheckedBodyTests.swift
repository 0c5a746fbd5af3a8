import Glibc
import TestServer
import Testing

@testable import NuthatchCore

/// A record is read and checked when a session uses it first. Where that takes long, a worker does it, and not the thread that
/// was promised that it needn't wait.
@Suite("Long records that weren't read in this session") final class UncheckedBodyTests {
  private static let length = 4 << 20
  /// The most bytes that a submitting thread may read: records of less than 256 KiB.
  private static let most = 600 << 10

  private let server: TestServer
  private let folder: String
  private let url: String
  private let picture: String
  /// What the sessions before had in common with each other, as long as a worker has it.
  private weak var shared: SharedCache?

  init() throws {
    server = try TestServer.start()
    folder = try Bench.makeFolder()
    (url, picture) = (server.url("/long"), server.url("/a.png"))
    let body = (0..<Self.length).map(Self.byte)
    server.on("/long", Script(headers: ["Cache-Control": "max-age=600"], steps: [.bytes(body)]))
    server.on(
      "/a.png",
      Script(
        headers: ["Cache-Control": "max-age=600"], steps: [.bytes(Pictures.png(width: 900, height: 700))]))
    let cache = try opened()
    #expect(try cache.submit(Request(url)).result().bodySize == Self.length)
    _ = try cache.thumbnail(Request(picture), ImageOptions(ThumbnailBox(600)))
    cache.close()
  }

  deinit {
    server.stop()
    removeTree(folder)
  }

  private static func byte(_ place: Int) -> UInt8 { UInt8(truncatingIfNeeded: place &* 31 &+ place >> 8) }

  /// Begins a session when no other one is open.
  private func opened(_ folder: String? = nil, keepsSource: Bool = true) throws -> Cache {
    var options = Options()
    options.keepSource = keepsSource
    options.retries = 0
    options.thumbStore = .raw
    options.maxBytes = 64 << 20
    for _ in 0..<30_000 where shared != nil { usleep(1000) }
    try #require(shared == nil)
    let cache = try Cache(path: folder ?? self.folder, options: options)
    shared = cache.shared
    return cache
  }

  /// How many bytes this thread reads from files meanwhile.
  private func bytesRead(_ body: () throws -> Void) throws -> Int {
    let before = try bytesReadSoFar()
    try body()
    return try bytesReadSoFar() - before
  }

  private func bytesReadSoFar() throws -> Int {
    let fd = open("/proc/thread-self/io", O_RDONLY)
    defer { close(fd) }
    var bytes = [UInt8](repeating: 0, count: 1024)
    let count = read(fd, &bytes, bytes.count)
    let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("rchar: ") })
    return try #require(Int(line.dropFirst(7)))
  }

  /// Returns the first value of `look`, which is called up to 30 s.
  private func eventually<Value>(_ look: () throws -> Value?) throws -> Value {
    for _ in 0..<30_000 {
      if let value = try look() { return value }
      usleep(1000)
    }
    throw NuthatchError(.timeout, "it never came")
  }

  @Test(
    "a long body is read by a worker for a ticket, not by the submitting thread, and is a hit",
    arguments: [Delivery.twice, .first, .fresh])
  func submit(delivery: Delivery) throws {
    let cache = try opened()
    defer { cache.close() }
    var request = Request(url)
    request.delivery = delivery
    for _ in 0..<2 {
      var ticket: Ticket?
      let read = try bytesRead { ticket = try cache.submit(request) }
      #expect(read < Self.most)
      let response = try #require(try ticket?.result())
      #expect(response.isInCache && response.bodySize == Self.length)
      #expect(response.withBody { $0.last } == Self.byte(Self.length - 1))
    }
    #expect(cache.statistics.transfers == 0 && cache.statistics.hits == 2)
  }

  @Test("a long body isn't found by the first peek, and by a later one without any request")
  func peekResponse() throws {
    let cache = try opened()
    defer { cache.close() }
    let read = try bytesRead {
      let first = try cache.peekResponse(url)
      #expect(first == nil)
    }
    #expect(read < Self.most)
    let response = try eventually { try cache.peekResponse(url) }
    #expect(response.isInCache && response.bodySize == Self.length)
    #expect(cache.statistics.requests == 0 && cache.statistics.transfers == 0)
  }

  @Test("a long raw thumbnail isn't found by the first peek, but by a later one", arguments: [false, true])
  func peek(decode: Bool) throws {
    let cache = try opened()
    defer { cache.close() }
    let read = try bytesRead {
      let first = try cache.peek(picture, size: 600, decode: decode)
      let source = first?.source
      #expect(source == nil)
    }
    #expect(read < Self.most)
    let image = try eventually { try cache.peek(picture, size: 600, decode: decode) }
    #expect(image.width == 600 && image.isInCache)
    #expect(cache.statistics.requests == 0 && cache.statistics.transfers == 0)
  }

  @Test("a long larger thumbnail is read by a worker to make a smaller one")
  func larger() throws {
    let other = folder + "/other"
    do {
      let before = try opened(other, keepsSource: false)
      _ = try before.thumbnail(Request(picture), ImageOptions(ThumbnailBox(600)))
      before.close()
    }
    let cache = try opened(other, keepsSource: false)
    defer { cache.close() }
    var request = Request(picture)
    request.boxes = [ThumbnailBox(200)]
    var ticket: Ticket?
    let read = try bytesRead { ticket = try cache.submit(request) }
    #expect(read < Self.most)
    let image = try #require(try ticket?.final(within: 30_000)?.images.first)
    #expect(image.width == 200 && image.isInCache)
    #expect(cache.statistics.transfers == 0)
  }

  @Test("an inspection doesn't read a long body")
  func inspect() throws {
    let cache = try opened()
    defer { cache.close() }
    let read = try bytesRead {
      let info = try #require(try cache.inspect(Request(url)))
      #expect(info.prospect == .hit)
    }
    #expect(read < Self.most)
  }

  @Test("a long body that is damaged is fetched again")
  func damaged() throws {
    let pack = try #require(
      names(in: folder + "/packs").map { "\(folder)/packs/\($0)" }.max { size($0) < size($1) })
    let fd = open(pack, O_WRONLY)
    defer { close(fd) }
    #expect(pwrite(fd, "x", 1, off_t(Self.length / 2)) == 1)
    let cache = try opened()
    defer { cache.close() }
    let response = try cache.submit(Request(url)).result()
    #expect(!response.isInCache && response.bodySize == Self.length)
    #expect(cache.statistics.transfers == 1)
  }

  /// Returns the bytes that a file takes on the disk.
  private func size(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_blocks) : 0
  }
}
