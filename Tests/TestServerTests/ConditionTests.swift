import TestServer
import Testing

@Suite("Conditional and range requests to the test server")
struct ConditionTests {
  let server: TestServer
  static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

  init() throws {
    server = try .start()
    server.on(
      "/a",
      Script(
        headers: ["Cache-Control": "max-age=1", "Content-Type": "text/plain"], steps: [.text("0123456789")]
      )
      .withValidators(etag: "\"a,b\"", lastModified: Self.date).withRanges())
    server.on("/plain", .ok("0123456789"))
  }

  private func status(_ headers: String, path: String = "/a") throws -> Substring {
    let client = try RawClient(server)
    client.get(path, headers: headers)
    return client.answer().head.dropFirst(9).prefix(3)
  }

  @Test(
    "If-None-Match and If-Modified-Since give 304 if they match the script's validators, else 200",
    arguments: [
      ("If-None-Match: \"a,b\"\n", "304"), ("If-None-Match: \"x\", W/\"a,b\"\n", "304"),
      ("If-None-Match: \"a\"\n", "200"), ("If-None-Match: *\n", "304"),
      ("If-Modified-Since: \(date)\n", "304"), ("If-Modified-Since: Mon, 07 Nov 1994 08:49:37 GMT\n", "304"),
      ("If-Modified-Since: Sat, 05 Nov 1994 08:49:37 GMT\n", "200"), ("If-Modified-Since: today\n", "200"),
      ("If-None-Match: \"x\"\nIf-Modified-Since: \(date)\n", "200"), ("", "200"),
    ])
  func conditions(headers: String, expected: String) throws {
    #expect(try status(headers) == expected)
    #expect(try status(headers, path: "/plain") == "200")
  }

  @Test("A 304 keeps ETag and Cache-Control, and has no field that begins with Content-")
  func notModifiedKeepsTheRightFields() throws {
    let client = try RawClient(server)
    client.get("/a", headers: "If-None-Match: *\n")
    let head = client.answer().head
    #expect(head.contains("ETag: \"a,b\"\n") && head.contains("Cache-Control: max-age=1\n"))
    #expect(!head.contains("Content-"))
    client.get("/a")
    #expect(client.answer().body == "0123456789")
  }

  @Test(
    "A range gives its part, 416 beyond the end, or the whole body if its form is another",
    arguments: [
      ("bytes=0-3", "206", "0-3/10", "0123"), ("bytes=7-", "206", "7-9/10", "789"),
      ("bytes=-4", "206", "6-9/10", "6789"), ("bytes=5-99", "206", "5-9/10", "56789"),
      ("bytes=-99", "206", "0-9/10", "0123456789"), ("bytes=10-", "416", "*/10", ""),
      ("bytes=-0", "416", "*/10", ""), ("bytes=3-1", "200", "", "0123456789"),
      ("bytes=0-1,3-4", "200", "", "0123456789"), ("lines=1-2", "200", "", "0123456789"),
    ])
  func ranges(range: String, status: String, part: String, body: String) throws {
    let client = try RawClient(server)
    client.get("/a", headers: "Range: \(range)\n")
    let answer = client.answer()
    #expect(answer.head.hasPrefix("HTTP/1.1 \(status)"))
    #expect(part.isEmpty || answer.head.contains("Content-Range: bytes \(part)\n"))
    #expect(answer.body == body)
  }

  @Test(
    "If-Range gives the part for the current strong ETag or date only",
    arguments: [
      ("\"a,b\"", "206"), ("W/\"a,b\"", "200"), ("\"x\"", "200"), (date, "206"),
      ("Mon, 07 Nov 1994 08:49:37 GMT", "200"),
    ])
  func ifRange(validator: String, expected: String) throws {
    #expect(try status("Range: bytes=0-3\nIf-Range: \(validator)\n") == expected)
  }

  @Test("A range is cut through all the steps, and gates stay where they were")
  func rangeAcrossSteps() throws {
    let gate = server.gate("g")
    server.on(
      "/b", Script(steps: [.text("abc"), gate.step, .fill(count: 3, byte: 120), .text("def")]).withRanges())
    gate.open()
    let client = try RawClient(server)
    client.get("/b", headers: "Range: bytes=2-6\n")
    #expect(client.answer().body == "cxxxd")
    #expect(gate.reached == 1)
  }

  @Test("`httpDate` writes seconds since 1970 as an HTTP date")
  func dates() {
    #expect(httpDate(784_111_777) == Self.date)
    #expect(httpDate(0) == "Thu, 01 Jan 1970 00:00:00 GMT")
  }
}
