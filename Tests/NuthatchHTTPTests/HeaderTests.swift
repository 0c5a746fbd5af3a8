import Testing

@testable import NuthatchHTTP

@Suite("Header fields") struct HeaderTests {
  @Test(
    "header fields that would change the message are refused",
    arguments: [
      ("X", "a\r\nHost: evil"), ("X", "a\nb"), ("X", "a\rb"), ("X", "a\0b"), ("X", "\u{1b}[2J"),
      ("X\r\n", "a"),
      ("", "a"), ("X Y", "a"), ("X:", "a"), ("Ü", "a"), ("Content-Length", "5"),
      ("transfer-encoding", "chunked"),
    ])
  func refused(name: String, value: String) {
    #expect(throws: HeaderFault.self) { try HeaderFields(checking: [(name: name, value: value)]) }
  }

  @Test("header fields keep their order and repetitions, and are found in any spelling")
  func lookup() throws {
    let fields = try HeaderFields(checking: [
      (name: "A", value: " 1 "), (name: "b", value: ""), (name: "a", value: "2\tü"),
    ])
    #expect(fields.fields.map(\.name) == ["A", "b", "a"])
    #expect(fields["a"] == "1")
    #expect(fields.values("A") == ["1", "2\tü"])
    #expect(fields["B"] == "")
    #expect(!fields.contains("c"))
  }

  @Test("header fields with a name like a secret's are secret")
  func secrets() {
    let names = [
      "Authorization", "Cookie", "X-Api-Key", "x-auth-token", "X-Session", "Client-Secret", "X-Password",
      "X-Passwd", "X-Passphrase", "X-Amz-Credential", "X-Bearer", "Cf-Access-Jwt",
    ]
    for name in names {
      #expect(HeaderFields.Field(name: name, value: "").isSecret, "\(name)")
    }
    for name in ["Accept", "Content-Type", "X-Bypass", "Idempotency"] {
      #expect(!HeaderFields.Field(name: name, value: "").isSecret, "\(name)")
    }
  }

  @Test("a method must be a token")
  func methods() {
    #expect(throws: Never.self) { try checkMethod("PROPFIND") }
    for method in ["", "GET /", "GET\r\n", "É"] {
      #expect(throws: HeaderFault.self) { try checkMethod(method) }
    }
  }
}

@Suite("Heads") struct ResponseHeadTests {
  private func parse(_ lines: [String]) throws -> [ResponseHeadParser.Step] {
    var parser = ResponseHeadParser()
    return try lines.map { line in
      try Array((line + "\r\n").utf8).withUnsafeBytes { bytes in try parser.take(bytes) }
    }
  }

  @Test("a head is put together from its lines")
  func simple() throws {
    let steps = try parse(["HTTP/1.1 200 All right", "A: 1", "Folded: x", "  y", "a:2", "", "Trailer: t"])
    guard case .head(let head) = steps[5] else { return #expect(Bool(false), "\(steps)") }
    #expect(head.status == 200)
    #expect(head.reason == "All right")
    #expect(head.fields.values("a") == ["1", "2"])
    #expect(head.fields["folded"] == "x y")
    #expect(steps[6] == .trailer)
  }

  @Test("a head comes after interim heads")
  func interim() throws {
    let steps = try parse(["HTTP/1.1 103 Early Hints", "Link: x", "", "HTTP/2 204", ""])
    #expect(
      steps[2] == .interim(ResponseHead(status: 103, reason: "Early Hints", fields: fields(("Link", "x")))))
    #expect(steps[4] == .head(ResponseHead(status: 204)))
  }

  @Test("a head has one status line, even if later lines look like one")
  func oneStatusLine() throws {
    let steps = try parse([
      "HTTP/1.1 200 OK", "A: 1", "HTTP/1.1 500 : x", "B: 2", "", "HTTP/1.1 302 : x", "Location: /", "",
    ])
    guard case .head(let head) = steps[4] else { return #expect(Bool(false)) }
    #expect(head.status == 200 && head.fields["A"] == "1" && head.fields["B"] == "2")
    #expect(steps[5...] == [.trailer, .trailer, .trailer])
  }

  @Test("a head holds no control character that a terminal or another server would obey")
  func harmless() throws {
    let steps = try parse(["HTTP/1.1 404 \u{1b}[31mred", "A: b\rC: d", ""])
    guard case .head(let head) = steps[2] else { return #expect(Bool(false)) }
    #expect(head.reason == "\\u{1B}[31mred")
    #expect(head.fields["A"] == "b C: d")
  }

  @Test("a head's status and the request's method tell whether a body may follow")
  func bodies() {
    for status in [200, 206, 301, 404, 500, 101] {
      #expect(ResponseHead(status: status).mayHaveBody(method: "GET"))
    }
    for status in [100, 103, 204, 304] { #expect(!ResponseHead(status: status).mayHaveBody(method: "GET")) }
    #expect(!ResponseHead(status: 200).mayHaveBody(method: "HEAD"))
  }

  @Test("a head without an end is refused")
  func bounded() throws {
    var parser = ResponseHeadParser()
    let line = Array(("A: " + String(repeating: "x", count: 1000) + "\r\n").utf8)
    _ = try Array("HTTP/1.1 200 OK\r\n".utf8).withUnsafeBytes { try parser.take($0) }
    #expect(throws: HeaderFault.self) {
      for _ in 0..<1000 { _ = try line.withUnsafeBytes { try parser.take($0) } }
    }
  }

  @Test("bytes of a head that aren't UTF-8 are kept as Latin-1")
  func latin1() throws {
    var parser = ResponseHeadParser()
    for line in [Array("HTTP/1.1 200\r\n".utf8), Array("A: caf".utf8) + [0xe9, 13, 10]] {
      _ = try line.withUnsafeBytes { try parser.take($0) }
    }
    guard case .head(let head) = try [UInt8]([13, 10]).withUnsafeBytes({ try parser.take($0) }) else {
      return #expect(Bool(false))
    }
    #expect(head.fields["A"] == "café")
  }

  @Test("a head announces one Content-Length or none")
  func length() throws {
    for values in [["5"], ["5", "5"], ["5, 5"]] { #expect(try head(values).contentLength() == 5) }
    #expect(try head([]).contentLength() == nil)
  }

  @Test(
    "a head with an invalid or contradictory Content-Length is refused",
    arguments: [["5", "6"], ["5, 6"], ["-1"], ["x"], [""], ["9999999999999999999"]])
  func wrongLength(values: [String]) {
    #expect(throws: HeaderFault.self) { try head(values).contentLength() }
  }

  private func head(_ lengths: [String]) -> ResponseHead {
    var fields = HeaderFields()
    for length in lengths { fields.append("Content-Length", length) }
    return ResponseHead(status: 200, fields: fields)
  }

  private func fields(_ pairs: (String, String)...) -> HeaderFields {
    var fields = HeaderFields()
    for (name, value) in pairs { fields.append(name, value) }
    return fields
  }
}
