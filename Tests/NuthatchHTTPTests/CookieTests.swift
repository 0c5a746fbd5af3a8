import Testing

@testable import NuthatchHTTP

@Suite("Cookies") struct CookieTests {
  private static let now: Int64 = 1_700_000_000

  private func jar(_ lines: [String], from url: String = "https://www.example.org/a/b?q=/x/") throws
    -> CookieJar
  {
    var jar = CookieJar()
    _ = jar.take(lines, from: try WebURL(url), now: Self.now)
    return jar
  }

  private func sent(_ jar: CookieJar, to url: String, after seconds: Int64 = 0) throws -> String? {
    jar.header(for: try WebURL(url), now: Self.now + seconds)
  }

  @Test("cookies go back to the host that set them, and only below their path")
  func places() throws {
    let jar = try jar(["a=1", "b=2; Path=/", "c = 3 ;path=/a/b/c", "d=x=y; Path=no"])
    #expect(try sent(jar, to: "https://www.example.org/a/x") == "a=1; d=x=y; b=2")
    #expect(try sent(jar, to: "https://www.example.org/a/b/c/d") == "c=3; a=1; d=x=y; b=2")
    #expect(try sent(jar, to: "https://www.example.org/ab") == "b=2")
    #expect(try sent(jar, to: "https://example.org/a/x") == nil)
    #expect(try sent(jar, to: "https://deep.www.example.org/a/x") == nil)
    #expect(try sent(jar, to: "http://www.example.org:8080/a") == "a=1; d=x=y; b=2")
  }

  @Test("cookies of a domain go to all its hosts, and only a host of the domain may set them")
  func domains() throws {
    let wide = try jar(["a=1; Domain=.Example.ORG; Path=/"])
    for host in ["example.org", "www.example.org", "x.y.example.org"] {
      #expect(try sent(wide, to: "https://\(host)/") == "a=1")
    }
    #expect(try sent(wide, to: "https://anexample.org/") == nil)
    for foreign in ["org", "other.org", "deep.www.example.org", "ww.example.org", "example.org."] {
      #expect(try jar(["a=1; Domain=\(foreign)"]).cookies.isEmpty)
    }
    #expect(try jar(["a=1; Domain=0.0.1"], from: "http://127.0.0.1/").cookies.isEmpty)
    let address = try jar(["a=1; Domain=127.0.0.1"], from: "http://127.0.0.1/")
    #expect(try sent(address, to: "http://127.0.0.1/") == "a=1")
    #expect(try sent(address, to: "http://1.127.0.0.1/") == nil)
  }

  @Test("cookies end at their time, and a new value replaces the old one in its place")
  func ends() throws {
    var jar = try jar([
      "a=1; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "b=2; Expires=Wed, 15-Nov-23 00:00:00 GMT",
      "c=3",
    ])
    let url = "https://www.example.org/a/"
    #expect(try sent(jar, to: url) == "a=1; b=2; c=3")
    #expect(try sent(jar, to: url, after: 10) == "b=2; c=3")
    #expect(try sent(jar, to: url, after: 1 << 32) == "c=3")
    let address = try WebURL(url)
    let isChanged = jar.take(["a=4", "b=; Max-Age=0"], from: address, now: Self.now)
    #expect(isChanged)
    #expect(try sent(jar, to: url) == "a=4; c=3")
    let nothing = ["a=4", "no cookie", "=x", "z=1; Max-Age=-1", "evil=1\u{1}2"]
    let isStillTheSame = !jar.take(
      nothing + ["\(String(repeating: "x", count: 5000))=1"], from: address, now: Self.now)
    #expect(isStillTheSame)
  }

  @Test("secure cookies are accepted from and sent to https only")
  func secure() throws {
    let jar = try jar(["a=1; Secure", "__Host-b=2; Secure; Path=/", "__Secure-c=3; Secure"])
    #expect(try sent(jar, to: "https://www.example.org/a/") == "a=1; __Secure-c=3; __Host-b=2")
    #expect(try sent(jar, to: "http://www.example.org/a/") == nil)
    #expect(try self.jar(["a=1; Secure"], from: "http://example.org/").cookies.isEmpty)
    #expect(
      try self.jar(["__Secure-a=1", "__Host-b=1; Secure", "__Host-c=1; Secure; Path=/; Domain=example.org"])
        .cookies.isEmpty)
  }

  @Test(
    "dates of cookies have any form",
    arguments: [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
      "6 nov 94 8:49:37", "08:49:37 november/06/1994 whatever",
    ])
  func dates(_ text: String) { #expect(CookieDate.seconds(text) == 784_111_777) }

  @Test(
    "a text without a whole or valid date is no cookie's date",
    arguments: [
      "", "soon", "Sun, 06 Nov 1994", "32 Nov 1994 08:49:37", "06 Nov 1594 08:49:37", "06 Nov 1994 24:00:00",
      "31 Nov 1994 08:49:37", "29 Feb 2023 08:49:37",
    ])
  func noDates(_ text: String) { #expect(CookieDate.seconds(text) == nil) }

  @Test("dates of cookies count leap years right")
  func leapDays() {
    #expect(CookieDate.seconds("29 Feb 2024 00:00:00") == 1_709_164_800)
    #expect(CookieDate.seconds("1 Mar 2000 00:00:00") == 951_868_800)
    #expect(CookieDate.seconds("1 Jan 1970 00:00:01") == 1)
  }

  @Test("the number of cookies is bounded, and the oldest of a domain goes first")
  func bounds() throws {
    var jar = CookieJar()
    for number in 0..<100 {
      _ = jar.take(["c\(number)=1"], from: try WebURL("http://a.example/"), now: Self.now)
    }
    #expect(jar.cookies.count == CookieJar.mostOfOneDomain)
    #expect(jar.cookies.first?.name == "c50")
    for number in 0..<400 {
      _ = jar.take(["x=1"], from: try WebURL("http://h\(number).example/"), now: Self.now)
    }
    #expect(jar.cookies.count == CookieJar.most)
  }

  @Test("cookies are kept in a file unchanged, in curl's format")
  func file() throws {
    let jar = try jar(["a=1; Max-Age=10", "b=; Domain=example.org; Path=/", "c=3; Secure"])
    #expect(CookieJar(file: jar.file) == jar)
    // Characters that end a line in Unicode, but not in a file.
    let odd = try self.jar(["a=x\u{2028}y", "b=x\u{85}y"])
    #expect(CookieJar(file: odd.file) == odd && odd.cookies.count == 2)
    #expect(CookieJar(file: jar.file.replacing("\n", with: "\r\n")) == jar)
    let curl = """
      # Netscape HTTP Cookie File
      #HttpOnly_.example.org\tTRUE\t/\tFALSE\t0\tsession\tx y
      example.org\tFALSE\t/p\tTRUE\t1800000000\tb\t
      broken\tline
      """
    let read = CookieJar(file: curl)
    #expect(read.cookies.map(\.name) == ["session", "b"])
    #expect(
      read.cookies[0].domain == "example.org" && !read.cookies[0].isHostOnly && read.cookies[0].expires == nil
    )
    #expect(
      read.cookies[1].isHostOnly && read.cookies[1].isSecure && read.cookies[1].expires == 1_800_000_000)
  }

  @Test("a Cookie header has 64 KiB at most")
  func sentLength() throws {
    var jar = CookieJar()
    let url = try WebURL("http://a.example/")
    let lines = (0..<40).map { "c\($0)=" + String(repeating: "x", count: 4000) }
    _ = jar.take(lines, from: url, now: 0)
    let header = try #require(jar.header(for: url, now: 0))
    #expect(header.utf8.count <= 65_536 && header.hasPrefix("c0=") && header.contains("; c15="))
  }
}

@Suite("Netrc files") struct NetrcTests {
  private func entry(_ host: String, _ text: String) -> String? {
    NetrcFile.entry(for: host, in: Array(text.utf8)).map {
      "\(String(decoding: $0.user, as: UTF8.self)):\(String(decoding: $0.password, as: UTF8.self))"
    }
  }

  private static let file = """
    # machine a.example login comment password x
    machine a.example login ann password "p w\\"\\\\x"
    machine b.example
      password second
      login bob
      account none
    macdef init
    machine c.example login macro password m

    machine c.example login cid
    machine D.example password alone
    default login any password one
    machine late.example login late password l
    """

  @Test("a netrc has users by host, in any order, with quotes, comments and macros")
  func entries() {
    #expect(entry("a.example", Self.file) == "ann:p w\"\\x")
    #expect(entry("A.EXAMPLE", Self.file) == "ann:p w\"\\x")
    #expect(entry("b.example", Self.file) == "bob:second")
    #expect(entry("c.example", Self.file) == "cid:")
    #expect(entry("other.example", Self.file) == "any:one")
    // Entries behind the default count for no host.
    #expect(entry("late.example", Self.file) == "any:one")
    #expect(entry("other.example", "machine a.example login ann password x") == nil)
    for odd in ["", "machine", "machine a.example login", "machine \"a.example", "macdef", "default"] {
      #expect(entry("a.example", odd) == nil)
    }
  }
}
