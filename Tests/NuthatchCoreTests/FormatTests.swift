import NuthatchCore
import TestServer
import Testing

/// Answers as text and JSON.
@Suite("Text and JSON of answers") struct FormatTests {
  let bench: Bench

  init() throws { bench = try Bench() }

  private func answer(_ bytes: [UInt8], _ type: String?) throws -> Response {
    bench.server.on("/a", .ok(bytes, type: type))
    return try bench.get("/a") { $0.policy = .reload }
  }

  @Test("an answer's text is decoded by the charset of its Content-Type")
  func text() throws {
    let cases: [([UInt8], String?, String)] = [
      ([0x67, 0xfc], "text/plain; charset=ISO-8859-1", "gü"),
      ([0x80], "text/plain;Charset=\"windows-1252\"", "€"),
      ([0x82, 0xa0, 0x82], "text/html; a=b; charset=shift_jis", "あ\u{fffd}"),
      ([0x61, 0, 0x3d, 0xd8], "text/plain; charset=utf-16le", "a\u{fffd}"),
      ([0xc3, 0xbc, 0xff], nil, "ü\u{fffd}"),
      ([0xc3, 0xbc], "text/plain; charset=nonsense", "ü"),
      ([0xc3, 0xbc], "text/plain; charset=../../x", "ü"),
      ([0xc3, 0xbc], "text/plain; charset=", "ü"), ([], "text/plain; charset=latin1", ""),
    ]
    for (bytes, type, text) in cases { #expect(try answer(bytes, type).text == text) }
    let many = try answer([UInt8](repeating: 0xfc, count: 100_000), "text/plain; charset=latin1")
    #expect(many.text == String(repeating: "ü", count: 100_000))
  }

  private func json(_ text: String) throws -> JSON { try answer(Array(text.utf8), "application/json").json() }

  @Test("an answer's JSON is parsed")
  func values() throws {
    #expect(try json(" [] ") == .array([]))
    #expect(
      try json(
        "\u{feff}{\"a\": [1, -0.5e2, true, false, null], \"b\": {}, \"a b\": \"\\u00fc\\n\\\"/\\ud83d\\ude00\"}"
      )
        == .object([
          "a": .array([.number(1), .number(-50), .bool(true), .bool(false), .null]), "b": .object([:]),
          "a b": .string("ü\n\"/😀"),
        ]))
    #expect(try json("\"\\ud83dx\\udc00\"") == .string("\u{fffd}x\u{fffd}"))
    #expect(try json("{\"a\": [{\"b\": \"c\"}]}")["a"]?[0]?["b"]?.string == "c")
    #expect(try json("3")["a"] == nil)
    #expect(try json(String(repeating: "[", count: 512) + String(repeating: "]", count: 512))[0] != nil)
  }

  @Test(
    "an answer that isn't JSON is `wrong_format` with the position",
    arguments: [
      "", " ", "{", "[1,]", "{\"a\"}", "{\"a\":1,}", "{a:1}", "nul", "nullx", "01", "1.", "-", "1e", "+1",
      "'a'", "\"a",
      "\"\u{1}\"", "\"\\x\"", "\"\\u12g4\"", "\"\\", "[1 2]", "[1]]", "NaN", "<html>", "\"\\u", "// 1",
    ])
  func noJSON(_ text: String) throws {
    let error = #expect(throws: NuthatchError.self) { try json(text) }
    #expect(error?.code == .wrongFormat)
    #expect(error?.message.contains("at byte") == true)
  }

  @Test("hostile JSON is an error, not a crash")
  func hostile() throws {
    for bytes in [
      [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000), [0x22, 0xff, 0x22], [0xff, 0xfe],
    ] {
      let response = try answer(bytes, "application/json")
      let error = #expect(throws: NuthatchError.self) { try response.json() }
      #expect(error?.code == .wrongFormat)
    }
  }

  @Test("the JSON scanner skips values without checking them")
  func skipped() throws {
    let deep = String(repeating: "[", count: 1_000_000) + String(repeating: "]", count: 1_000_000)
    let values = [
      "1", "NaN", "\"\\\",\"", "{\"b\": [\"]}\", 1], \"c\": {}}", "\"\u{1}\"", " {} ", deep,
    ]
    for value in values {
      let text = Array(" {\"a\": \(value), \"\\u00fc\": \"x\"}".utf8)
      let names = try text.withUnsafeBytes { bytes in
        var scanner = JSONScanner(bytes, at: 2)
        let first = try scanner.name()
        try scanner.skip()
        scanner.skipSpace()
        let isFollowed = scanner.take(UInt8(ascii: ","))
        return try [first, scanner.name(), isFollowed && scanner.next == 0x20 ? [] : nil]
      }
      #expect(names == [Array("a".utf8), Array("ü".utf8), []])
    }
    for text in ["[1, 2", "{\"a\"", "\"a", "\"\\", "\"\\\"", "[\"]"] {
      #expect(throws: JSONScanner.Fault.self) {
        try Array(text.utf8).withUnsafeBytes { bytes in
          var scanner = JSONScanner(bytes)
          try scanner.skip()
        }
      }
    }
  }
}
