import Testing

@testable import NuthatchHTTP

@Suite("URLs") struct WebURLTests {
  @Test(
    "URLs are normalised",
    arguments: [
      ("http://example.org", "http://example.org/"),
      ("HTTP://EXAMPLE.org:80/A", "http://example.org/A"),
      ("https://example.org:443/?q=1#part", "https://example.org/?q=1"),
      ("https://example.org:444/", "https://example.org:444/"),
      ("http://example.org:/x", "http://example.org/x"),
      ("http://example.org/a b", "http://example.org/a%20b"),
      ("http://example.org/ü?ü", "http://example.org/%C3%BC?%C3%BC"),
      ("http://example.org/%7e%7E%zz%", "http://example.org/%7e%7E%zz%"),
      ("http://example.org/a/./b/../c", "http://example.org/a/c"),
      ("http://example.org/../../x", "http://example.org/x"),
      ("http://example.org/a/%2e%2E/b/.", "http://example.org/b/"),
      ("http://example.org/a/..", "http://example.org/"),
      ("http://example.org//a//b", "http://example.org//a//b"),
      ("http://example.org?b=2&a=1&b=3", "http://example.org/?b=2&a=1&b=3"),
      ("http://example.org/?q=../x", "http://example.org/?q=../x"),
      ("http://example.org/a,b;c=(d)'e'*", "http://example.org/a,b;c=(d)'e'*"),
      ("http://example.org/\"<>\\^`{|}", "http://example.org/%22%3C%3E%5C%5E%60%7B%7C%7D"),
      ("http://EXAMPLE.org./", "http://example.org./"),
      ("http://under_score.example/", "http://under_score.example/"),
      ("http://[::1]:8080/", "http://[::1]:8080/"),
      ("http://[2001:DB8:0:0::1]/", "http://[2001:db8::1]/"),
      ("http://münchen.example/", "http://xn--mnchen-3ya.example/"),
      ("http://user:pa:ss@example.org/", "http://example.org/"),
      ("http://a@b@example.org/", "http://example.org/"),
    ])
  func normalised(text: String, address: String) throws {
    #expect(try WebURL(text).address == address)
  }

  @Test(
    "an invalid URL is refused with the position of the error",
    arguments: [
      ("", 0), ("example.org/a", 0), ("ftp://example.org/", 0), ("file:///etc/passwd", 0), (" http://x/", 0),
      ("http:/example.org", 4), ("http://", 7), ("http:///a", 7), ("http://?q", 7), ("http://user@/", 12),
      ("http://exa mple.org/", 10), ("http://example.org:0/", 19), ("http://example.org:65536/", 19),
      ("http://example.org:8o/", 19), ("http://[::1", 7), ("http://[::g]/", 10),
      ("http://[fe80::1%eth0]/", 15),
      ("http://[]/", 7), ("http://[::1]x/", 12), ("http://ex%61mple.org/", 9),
      ("http://example.org\\@evil/", 18),
      ("http://example.org/\r\nHost: evil", 19), ("http://example.org/\0", 19),
      ("http://example.org/#\n", 20),
      ("http://example.org/\u{7f}", 19), ("http://exa\tmple.org/", 10),
    ])
  func refused(text: String, position: Int) {
    let fault = #expect(throws: URLFault.self) { try WebURL(text) }
    #expect(fault?.position == position, "\(fault?.reason ?? "") in \(text.debugDescription)")
  }

  @Test("a URL that is normal already is parsed like any other", arguments: 0..<20)
  func layout(seed: Int) {
    var random = SplitMix(UInt64(seed))
    let pieces = [
      "http://", "https://", "HTTP://", "http:/", "a", "b.example", "A", "-", "_", "xn--", "[::1]", "u:p@",
      "@", ":",
      ":80", ":443", ":8080", ":080", ":65536", ":0", "/", "//", "/.", "/..", "/./", "/%2e", "/%41", ".",
      "..", "%", "?",
      "?q=/../", "#", "#f", " ", "\\", "\"", "ü", "\r", "\0", "\u{7f}", "/path/to/1.jpg", "~", "{",
      "host.example",
    ]
    var normal = 0
    for _ in 0..<150 {
      let hasHead = Int.random(in: 0..<4, using: &random) > 0
      var text = hasHead ? ["http://", "https://"].randomElement(using: &random)! + "host.example" : ""
      for _ in 0..<Int.random(in: 0..<6, using: &random) { text += pieces.randomElement(using: &random)! }
      let quick = Result { () throws(URLFault) in try WebURL(text) }
      let slow = Result { () throws(URLFault) in try WebURL(bytes: Array(text.utf8)) }
      #expect(quick == slow, "\(text.debugDescription)")
      if let url = try? quick.get() {
        #expect(url.host == (try? slow.get())?.host && url.target == (try? slow.get())?.target)
        if url.address == text { normal += 1 }
      }
    }
    #expect(normal > 2)
  }

  @Test("a URL longer than 64 KiB is refused")
  func tooLong() {
    #expect(throws: URLFault.self) {
      try WebURL("http://example.org/" + String(repeating: "a", count: 65_536))
    }
    #expect(throws: URLFault.self) { try WebURL("http://" + String(repeating: "a", count: 300)) }
  }

  @Test("a relative URL that is too long when resolved is refused")
  func resolvedLength() throws {
    let base = try WebURL("http://h/" + String(repeating: "a", count: 40_000) + "/")
    let part = Array(String(repeating: "b", count: 30_000).utf8)
    #expect(throws: URLFault.self) { try base.resolving(part) }
    #expect(try base.resolving([UInt8(ascii: "/")] + part).target.utf8.count == 30_001)
  }

  @Test("a URL that is too long is shown shortened and without its password")
  func shownLength() {
    let tail = String(repeating: "a", count: WebURL.longest)
    #expect(WebURL.redacted("http://h/\(tail)").utf8.count < 120)
    #expect(WebURL.redacted("http://user:\(tail)@h/").hasPrefix("http://user:***@h/"))
    // One character to Swift, however long.
    #expect(WebURL.redacted("data:," + String(repeating: "\u{301}", count: 1000)).utf8.count < 200)
  }

  @Test("a URL need not be UTF-8")
  func rawBytes() throws {
    #expect(try WebURL(bytes: Array("http://example.org/".utf8) + [0xfc]).target == "/%FC")
  }

  // The reference resolution examples of RFC 3986, 5.4, as far as they stay with http.
  @Test(
    "a URL resolves references as RFC 3986 does",
    arguments: [
      ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"),
      ("g?y", "/b/c/g?y"),
      ("#s", "/b/c/d;p?q"), ("g#s", "/b/c/g"), ("", "/b/c/d;p?q"), (";x", "/b/c/;x"), (".", "/b/c/"),
      ("./", "/b/c/"),
      ("..", "/b/"), ("../", "/b/"), ("../g", "/b/g"), ("../..", "/"), ("../../g", "/g"),
      ("../../../g", "/g"),
      ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."), (".g", "/b/c/.g"), ("./../g", "/b/g"),
      ("g;x=1/../y", "/b/c/y"),
      ("g?y/../x", "/b/c/g?y/../x"), ("/p:q", "/p:q"),
    ])
  func resolved(reference: String, target: String) throws {
    let base = try WebURL("http://u:p@a/b/c/d;p?q")
    let url = try base.resolving(Array(reference.utf8))
    #expect(url.target == target)
    #expect(url.host == "a")
    #expect(url.userinfo == nil)
  }

  @Test("a URL resolves to other hosts and to http and https only")
  func resolvedElsewhere() throws {
    let base = try WebURL("https://a/b")
    #expect(try base.resolving(Array("//c/d".utf8)).address == "https://c/d")
    #expect(try base.resolving(Array("http://c:8/".utf8)).address == "http://c:8/")
    #expect(throws: URLFault.self) { try base.resolving(Array("ftp://c/".utf8)) }
    #expect(throws: URLFault.self) { try base.resolving(Array("javascript:x".utf8)) }
    #expect(throws: URLFault.self) { try base.resolving(Array("/a\r\nb".utf8)) }
  }

  @Test("a URL never shows its password")
  func redaction() throws {
    let url = try WebURL("http://user:sesame@example.org/a")
    #expect("\(url)" == "http://user:***@example.org/a")
    #expect(url.credentials.map { String(decoding: $0.password, as: UTF8.self) } == "sesame")
    #expect(WebURL.redacted("http://user:ses@me@exa mple/") == "http://user:***@exa mple/")
    #expect(WebURL.redacted("http://example.org/@") == "http://example.org/@")
    #expect(WebURL.redacted("http://example.org:80/@") == "http://example.org:80/@")
    #expect(WebURL.redacted("http://user:ses/ame@example.org/") == "http://***@example.org/")
    #expect(WebURL.redacted("user:sesame@example.org/") == "***@example.org/")
    #expect(WebURL.redacted("no url") == "no url")
  }

  @Test(
    "a shown URL has the user's name, and nothing that may be a password",
    arguments: [
      ("HTTP://ann:sesame@x/", "HTTP://ann:***@x/"), ("  http://ann:sesame@x/", "  http://ann:***@x/"),
      ("http://ann:ses@ame:7@x/", "http://ann:***@x/"), ("http://ann:s%41@x:8/a", "http://ann:***@x:8/a"),
      ("http://sesame@x/", "http://***@x/"), ("http://sesame:@x/", "http://***@x/"),
      ("http://:sesame@x/", "http://***@x/"), ("http://:@x/", "http://***@x/"),
      ("http://ses ame:x@x/", "http://***@x/"), ("http://ann:a?sesame@x/", "http://***@x/"),
      ("http://ann:#sesame@x/", "http://***@x/"), ("http:\\\\ann:sesame@x\\", "***@x\\"),
      ("http:/ann:sesame@x/", "***@x/"), ("//ann:sesame@x/", "***@x/"),
      ("ann:sesame@x/?u=http://y/", "***@x/?u=http://y/"), ("http://http://ann:sesame@x/", "http://***@x/"),
      ("http://\(String(repeating: "t", count: 40)):x@x/", "http://***@x/"),
      ("http://x//ses@x/", "http://***@x/"),
    ])
  func oddRedaction(text: String, shown: String) { #expect(WebURL.redacted(text) == shown) }

  @Test("a URL knows its origin")
  func origins() throws {
    #expect(try WebURL("http://A:80/x").origin == WebURL("http://a/y").origin)
    #expect(try WebURL("http://a/").origin != WebURL("https://a/").origin)
    #expect(try WebURL("http://a/").origin != WebURL("http://a:81/").origin)
  }
}

private struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
