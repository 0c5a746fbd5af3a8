import TestServer
import Testing

@testable import NuthatchTransport

@Suite("Content codings") struct CodingTests {
  private func answer(_ coding: String, _ bytes: [UInt8], pieces: Int = .max) -> Script {
    var steps: [Script.Step] = []
    for start in stride(from: 0, to: bytes.count, by: min(pieces, max(1, bytes.count))) {
      steps.append(.chunk(Array(bytes[start..<min(bytes.count, start + min(pieces, bytes.count))])))
    }
    return Script(headers: ["Content-Encoding": coding], steps: steps + [.lastChunk])
  }

  private let text = Array(String(repeating: "the quick brown fox; ", count: 5000).utf8)

  @Test("content codings are asked for only if the request accepts compressed answers")
  func asked() throws {
    let wire = try Wire()
    wire.server.on("/a", .ok("x"))
    _ = try wire.get("/a")
    _ = try wire.get("/a") { $0.acceptsCompressed = true }
    _ = try wire.get("/a") {
      $0.acceptsCompressed = true
      $0.headers.append("Accept-Encoding", "br")
    }
    let asked = wire.server.requests("/a").map { $0.headers.values(of: "Accept-Encoding") }
    #expect(asked == [[], ["gzip, deflate"], ["br"]])
  }

  @Test(
    "gzip and deflate are decoded, whichever form and pieces they come in",
    arguments: ["gzip", "x-gzip", "GZIP", "deflate", "bare"])
  func decoded(_ coding: String) throws {
    let wire = try Wire()
    let packed =
      switch coding {
      case "deflate": Zlib.packed(text)
      case "bare": Gzip.bare(text)
      default: Gzip.packed(text)
      }
    for pieces in [Int.max, 1000, 7] {
      wire.server.on("/a", answer(coding == "bare" ? "deflate" : coding, packed, pieces: pieces))
      let record = try wire.get("/a")
      #expect(record.fault == nil)
      #expect(record.body == text)
    }
  }

  @Test("gzip may come one byte at a time, with every optional part of a header")
  func dribbled() throws {
    let wire = try Wire()
    let plain = Array("hello".utf8)
    let packed = Gzip.packed(plain)
    // FHCRC, FEXTRA, FNAME, FCOMMENT
    let header: [UInt8] =
      [0x1f, 0x8b, 8, 0x1e, 0, 0, 0, 0, 0, 3, 3, 0, 1, 2, 3] + Array("name\0a comment\0".utf8) + [0xab, 0xcd]
    wire.server.on("/a", answer("gzip", header + packed.dropFirst(10), pieces: 1))
    #expect(try wire.get("/a").text == "hello")
  }

  @Test("gzip may have several members, and rubbish behind the last")
  func members() throws {
    let wire = try Wire()
    let two = Gzip.packed(Array("one ".utf8)) + Gzip.packed(Array("two".utf8))
    for (tail, pieces) in [([], 1000), ([0, 0, 0], 1000), ([], 1), (Array("\r\nx".utf8), 1)] {
      wire.server.on("/a", answer("gzip", two + tail, pieces: pieces))
      #expect(try wire.get("/a").text == "one two")
    }
    wire.server.on("/a", answer("gzip", two + Gzip.packed(Array("three".utf8)).prefix(20)))
    #expect(try wire.fault("/a").kind == .truncated)
  }

  @Test("a compressed body that ends too early is `truncated`, even with the right Content-Length")
  func cut() throws {
    let wire = try Wire()
    let packed = Gzip.packed(text)
    for count in [1, 5, 10, 12, 100, packed.count - 9, packed.count - 8, packed.count - 4, packed.count - 1] {
      let script = Script(
        headers: ["Content-Encoding": "gzip"], steps: [.bytes(Array(packed.prefix(count)))])
      wire.server.on("/a", script)
      #expect(try wire.fault("/a").kind == .truncated, "\(count)")
    }
    // An empty body is truncated unless the head says that it is empty.
    for (head, isCut) in [("", true), ("Content-Length: 0\r\n", false)] {
      wire.server.on(
        "/a", .raw("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\(head)\r\n"))
      #expect(try wire.get("/a").fault?.kind == (isCut ? .truncated : nil))
    }
    let zlib = Zlib.packed(text)
    for count in [1, 2, 3, zlib.count - 1] {
      wire.server.on("/a", answer("deflate", Array(zlib.prefix(count))))
      #expect(try wire.fault("/a").kind == .truncated, "\(count)")
    }
  }

  @Test("a compressed body with a damaged header, data, checksum or length is a fault")
  func damaged() throws {
    let wire = try Wire()
    var cases: [[UInt8]] = [
      Array("not gzip at all".utf8), [0x1f, 0x8b, 9] + [UInt8](repeating: 0, count: 30),
    ]
    let packed = Gzip.packed(Array("hello".utf8))
    for place in [0, 1, 2, 3, 10, packed.count - 8, packed.count - 1] {
      var bad = packed
      bad[place] ^= 0xe7
      cases.append(bad)
    }
    for bad in cases {
      wire.server.on("/a", answer("gzip", bad))
      #expect(try wire.fault("/a").kind == .http)
    }
    var zlib = Zlib.packed(text)
    zlib[zlib.count - 1] ^= 1
    wire.server.on("/a", answer("deflate", zlib))
    #expect(try wire.fault("/a").kind == .http)
  }

  @Test("an unknown content coding is passed on undecoded, with its name")
  func unknown() throws {
    let wire = try Wire()
    for coding in ["br", "zstd", "rot13", "gzip, br", "gzip, gzip"] {
      wire.server.on("/a", answer(coding, Array("as it is".utf8)))
      let record = try wire.get("/a") { $0.acceptsCompressed = true }
      #expect(record.fault == nil)
      #expect(record.text == "as it is")
      #expect(record.head?.fields["Content-Encoding"] == coding)
    }
    wire.server.on("/a", answer("identity", Array("as it is".utf8)))
    #expect(try wire.get("/a").text == "as it is")
  }

  @Test("a content coding is ignored for an answer without a body, or with a part of one")
  func bodiless() throws {
    let wire = try Wire()
    wire.server.on("/a", Script(headers: ["Content-Encoding": "gzip", "Content-Length": "77"]))
    let head = try wire.get("/a") { $0.method = "HEAD" }
    #expect(head.fault == nil)
    for status in [204, 304] {
      wire.server.on("/a", .status(status, headers: ["Content-Encoding": "gzip"]))
      #expect(try wire.get("/a").fault == nil)
    }
    wire.server.on("/a", Script(headers: ["Content-Encoding": "gzip"]))
    #expect(try wire.get("/a").fault == nil)
    wire.server.on("/a", .status(206, headers: ["Content-Encoding": "gzip"], body: "part"))
    #expect(try wire.get("/a").text == "part")
  }

  @Test("a compressed body that grows beyond the limit is stopped, in little memory")
  func bomb() throws {
    let wire = try Wire()
    let bomb = Gzip.bomb(zeros: 1 << 28)
    wire.server.on("/a", Script(headers: ["Content-Encoding": "gzip"], steps: [.bytes(bomb)]))
    let recorder = Recorder(keepsBody: false)
    try wire.start("/a", sink: recorder) { $0.maxBytes = 20 << 20 }
    let record = try recorder.result()
    #expect(record.fault?.kind == .tooLarge)
    #expect(record.largestPiece <= 32_768)
    #expect(record.bytes <= 20 << 20)
  }
}
