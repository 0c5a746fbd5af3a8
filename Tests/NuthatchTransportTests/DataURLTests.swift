import Testing

@testable import NuthatchTransport

@Suite("data: URLs") struct DataURLTests {
  @Test("a data: URL is decoded from percent escapes and base64")
  func decoded() throws {
    for (text, type, plain) in [
      ("data:,hello", "text/plain;charset=US-ASCII", "hello"),
      ("DATA:text/html,a%20b%2Cc,d", "text/html", "a b,c,d"),
      ("data:;charset=utf-8,x", "text/plain;charset=utf-8", "x"),
      ("data:text/plain;base64,aGVsbG8=", "text/plain", "hello"),
      ("data:text/plain;BASE64,aGVsbG8", "text/plain", "hello"),
      ("data:;base64,aGVsbG8%3D", "text/plain;charset=US-ASCII", "hello"),
      ("data:,a#fragment", "text/plain;charset=US-ASCII", "a"), ("data:,", "text/plain;charset=US-ASCII", ""),
      ("data:a/b;base64,", "a/b", ""),
    ] {
      let url = try DataURL(text, maxBytes: 100)
      #expect(url.mediaType == type, "\(text)")
      #expect(String(decoding: url.bytes, as: UTF8.self) == plain, "\(text)")
    }
    #expect(try DataURL("data:;base64,-_8", maxBytes: 9).bytes == [0xfb, 0xff])
  }

  @Test("a damaged data: URL is refused")
  func refused() {
    for text in [
      "data:", "data:text/plain", "data", "http://a/", "data:,%", "data:,%4", "data:,%zz", "data:;base64,a",
      "data:;base64,aGVsbG8==", "data:;base64,aGVsbG9=", "data:;base64,aG!s", "data:;base64,a=Gk",
      "data:,a\nb", "data:;base64,====", "data:;base64,aGV sbG8=",
    ] {
      #expect(throws: TransportFault.self, "\(text)") { try DataURL(text, maxBytes: 100) }
    }
  }

  @Test(
    "a data: URL with a damaged escape is refused with the position of the %",
    arguments: ["%zz", "%az", "%a", "%"])
  func escapePosition(escape: String) {
    let fault = #expect(throws: TransportFault.self) { try DataURL("data:,a\(escape)", maxBytes: 100) }
    #expect(fault?.message == "the data: URL has a % without two hexadecimal digits at byte 7")
  }

  @Test("a data: URL with more bytes than the limit is refused")
  func limit() throws {
    #expect(try DataURL("data:,12345", maxBytes: 5).bytes.count == 5)
    for text in ["data:,123456", "data:;base64,MTIzNDU2", "data:,\(String(repeating: "%41", count: 1000))"] {
      let fault = #expect(throws: TransportFault.self) { try DataURL(text, maxBytes: 5) }
      #expect(fault?.kind == .tooLarge)
    }
  }
}
