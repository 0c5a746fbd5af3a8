import Glibc
import NuthatchCore
import TestServer
import Testing

/// URLs that need no server.
@Suite("URLs that need no server") struct LocalURLTests {
  private let bench: Bench
  private static let pixels = Pictures.png(width: 40, height: 30)

  init() throws { bench = try Bench { $0.allowFiles = true } }

  private func get(_ url: String, _ change: (inout Request) -> Void = { _ in }) throws -> Event {
    var request = Request(url)
    change(&request)
    return try #require(try bench.cache.submit(request).final())
  }

  private func failure(_ url: String, _ change: (inout Request) -> Void = { _ in }) throws -> NuthatchError {
    do {
      return try #require(try get(url, change).error, "\(url)")
    } catch let error as NuthatchError {
      return error
    }
  }

  private static func dataURL(_ bytes: [UInt8]) -> String {
    "data:image/png," + bytes.map { "%" + String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  private func write(_ bytes: [UInt8], _ name: String) throws -> String {
    let path = "\(bench.folder)/\(name)"
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    try #require(file >= 0)
    #expect(Glibc.write(file, bytes, bytes.count) == bytes.count)
    close(file)
    return path
  }

  @Test("a data: URL is decoded without a server")
  func data() throws {
    let event = try get("data:text/plain;base64,aGVsbG8=")
    let response = try #require(event.response)
    #expect(event.kind == .fresh && response.text == "hello" && response.status == 200)
    #expect(response.header("Content-Type") == "text/plain" && response.header("Content-Length") == "5")
    #expect(!response.isInCache && response.source == .memory)
    #expect(response.url == "data:text/plain;base64,aGVsbG8=")
  }

  @Test("a data: URL of a picture has thumbnails, which are kept by their content")
  func pictures() throws {
    let url = Self.dataURL(Self.pixels)
    for isInCache in [false, true] {
      let event = try get(url) { $0.boxes = [ThumbnailBox(20), ThumbnailBox(10)] }
      #expect(event.images.map(\.width) == [20, 10])
      #expect(event.isInCache == isInCache && event.kind == (isInCache ? .cached : .fresh))
      #expect(event.images.first?.url == url)
    }
    #expect(bench.cache.statistics.decodes == 1)
    // The same picture from a server has them already: one body and one decode for a content.
    bench.server.on("/a.png", .ok(Self.pixels, type: "image/png"))
    #expect(try bench.thumbnail("/a.png", 20).width == 20)
    #expect(bench.cache.statistics.decodes == 1)
    #expect(try bench.cache.peek(url, size: 20) == nil)
  }

  @Test("a wrong data: URL has its error code, and is never shown whole")
  func wrongData() throws {
    #expect(try failure("data:text/plain").code == .badURL)
    #expect(try failure("data:;base64,a!").code == .badURL)
    let large = "data:," + String(repeating: "x", count: 5000)
    let error = try failure(large) { $0.maxBytes = 4999 }
    #expect(error.code == .tooLarge && error.message.utf8.count < 300)
    let noPicture = try failure(large) { $0.boxes = [ThumbnailBox(10)] }
    #expect(noPicture.code == .notAnImage && noPicture.message.utf8.count < 300)
    #expect(
      try failure(Self.dataURL(Self.pixels)) {
        $0.boxes = [ThumbnailBox(10)]
        $0.maxPixels = 1199
      }.code == .tooManyPixels)
    #expect(try failure("data:,x") { $0.method = "POST" }.code == .invalid)
    #expect(try failure("data:,x") { $0.boxes = [ThumbnailBox(0)] }.code == .invalid)
  }

  @Test("a file: URL is read if allowFiles is set", arguments: ["file://", "file://localhost", "FILE:"])
  func file(prefix: String) throws {
    let path = try write(Self.pixels, "a picture.png")
    let url = prefix + path.split(separator: " ").joined(separator: "%20")
    let response = try #require(try get(url).response)
    #expect(response.withBody { Array($0) } == Self.pixels)
    #expect(response.header("Content-Type") == "image/png" && response.source == .disk && !response.isInCache)
    #expect(try get(url) { $0.boxes = [ThumbnailBox(20)] }.images.first?.width == 20)
    #expect(try get(url + "#part") { $0.boxes = [ThumbnailBox(20)] }.isInCache)
    // Another content is another picture.
    _ = try write(Pictures.png(width: 30, height: 40), "a picture.png")
    let changed = try get(url) { $0.boxes = [ThumbnailBox(20)] }
    #expect(!changed.isInCache && changed.images.first?.height == 20)
  }

  @Test("a file: URL that may not or can't be read has its error code")
  func wrongFiles() throws {
    let path = try write(Array("0123456789".utf8), "ten")
    #expect(try failure("file://\(bench.folder)").code == .denied)
    #expect(try failure("file:///dev/zero").code == .denied)
    #expect(mkfifo("\(bench.folder)/pipe", 0o600) == 0)
    #expect(try failure("file://\(bench.folder)/pipe").code == .denied)
    let missing = try failure("file://\(bench.folder)/nothing")
    #expect(missing.code == .io && missing.message.contains("nothing"))
    #expect(try failure("file://\(path)") { $0.maxBytes = 9 }.code == .tooLarge)
    for url in [
      "file:", "file:a", "file://other.host/a", "file:////a", "file:///a%00b", "file:///%ff", "file:///a?b",
      "file:///a\nb", "file:///a b",
    ] {
      #expect(try failure(url).code == .badURL, "\(url)")
    }
    // Error messages hold no control characters of the URL.
    for url in ["file:///a\u{1b}[31m\nb", "data:,\u{1b}[31m\nb", "data:image/png;base64,\u{9b}31m"] {
      let controls = try failure(url).message.unicodeScalars.filter {
        $0.properties.generalCategory == .control
      }
      #expect(controls.isEmpty, "\(url.debugDescription)")
    }
    for url in ["data:,x", "file://\(path)"] {
      #expect(try failure(url) { $0.headers = [("X", "a\r\nb")] }.code == .badHeader)
    }
    let careful = try Bench()
    let denied = #expect(throws: NuthatchError.self) { try careful.cache.get("file://\(path)") }
    #expect(denied?.code == .denied)
    #expect(try careful.cache.get("data:,x").text == "x")
  }

  @Test("a redirect to a data: or file: URL is `bad_url`", arguments: ["data:,x", "file:///etc/hostname"])
  func redirects(to target: String) throws {
    bench.server.on("/a", .redirect(to: target))
    #expect(try bench.failure("/a").code == .badURL)
  }

  @Test("a data: URL fails after its cache was closed")
  func closed() throws {
    let ticket = try bench.cache.submit(Request("data:,x"))
    bench.cache.close()
    let event = try ticket.final()
    #expect(event?.response?.text == "x" || event?.error?.code == .closed)
    #expect(throws: NuthatchError.self) { try bench.cache.get("data:,x") }
  }
}
