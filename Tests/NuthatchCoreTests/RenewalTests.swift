import NuthatchCore
import TestServer
import Testing

/// Changes of a stored answer by later answers.
@Suite("Stored answers that later answers change") struct RenewalTests {
  let clock = TestClock()
  let bench: Bench

  init() throws {
    let clock = clock
    bench = try Bench { $0.clock = clock.wall }
  }

  /// Stores an answer with a tag, and lets it become stale.
  private func store(_ path: String = "/a", at target: String = "/a") throws {
    bench.server.on(
      target, Script(headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""], steps: [.text("old")]))
    #expect(try bench.get(path).text == "old")
    clock.advance(seconds: 100)
  }

  private func fresh(_ path: String = "/a", _ fields: [(String, String)] = []) throws -> Response {
    try bench.get(path) {
      $0.delivery = .fresh
      $0.headers = fields
    }
  }

  @Test("a 304 with no-store removes the stored answer")
  func noStore() throws {
    try store()
    bench.server.on("/a", Script(status: 304, headers: ["Cache-Control": "no-store", "ETag": "\"1\""]))
    #expect(try fresh().text == "old")
    #expect(try bench.failure("/a") { $0.policy = .offline }.code == .offline)
  }

  @Test("a request with no-store leaves the stored answer unchanged by a 304")
  func requestNoStore() throws {
    try store()
    bench.server.on("/a", Script(status: 304, headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""]))
    #expect(try fresh("/a", [("Cache-Control", "no-store")]).text == "old")
    #expect(try bench.get("/a") { $0.policy = .offline }.age == 100)
  }

  @Test("a 304 with Vary makes the stored answer depend on those fields")
  func vary() throws {
    try store()
    bench.server.on(
      "/a",
      Script(status: 304, headers: ["Cache-Control": "max-age=60", "ETag": "\"1\"", "Vary": "Foo"]))
    #expect(try fresh("/a", [("Foo", "1")]).text == "old")
    bench.server.on(
      "/a", Script(headers: ["Cache-Control": "max-age=60", "Vary": "Foo"], steps: [.text("new")]))
    #expect(try fresh("/a", [("Foo", "1")]).text == "old")
    #expect(try fresh("/a", [("Foo", "2")]).text == "new")
    #expect(try fresh("/a", [("Foo", "1")]).isInCache)
  }

  @Test("a 304 with Vary: * removes the stored answer")
  func varyAny() throws {
    try store()
    bench.server.on("/a", Script(status: 304, headers: ["ETag": "\"1\"", "Vary": "*"]))
    #expect(try fresh().text == "old")
    #expect(try bench.failure("/a") { $0.policy = .offline }.code == .offline)
  }

  @Test("a stored answer behind a redirect is revalidated at its own URL only")
  func redirected() throws {
    bench.server.on("/hop", .redirect(to: "/a"))
    try store("/hop")
    bench.server.clearLog()
    bench.server.on("/a", Script(status: 304, headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""]))
    let again = try fresh("/hop")
    #expect(again.source == .revalidated && again.text == "old" && again.redirects == 1)
    #expect(bench.server.requests("/hop")[0].headers["If-None-Match"] == nil)
    #expect(bench.server.requests("/a")[0].headers["If-None-Match"] == "\"1\"")
    #expect(try bench.get("/hop").isInCache)
    // At another URL the ETag may stand for another body.
    clock.advance(seconds: 100)
    bench.server.on("/hop", .redirect(to: "/b"))
    bench.server.on("/b", .ok("other"))
    #expect(try fresh("/hop").text == "other")
    #expect(bench.server.requests("/b")[0].headers["If-None-Match"] == nil)
  }

  @Test("a HEAD answer with the same ETag renews the stored answer")
  func head() throws {
    try store()
    bench.server.on(
      "/a",
      Script(headers: ["Cache-Control": "max-age=60", "ETag": "\"1\"", "X": "new"], steps: [.text("old")]))
    _ = try bench.get("/a") { $0.method = "HEAD" }
    let renewed = try bench.get("/a")
    #expect(renewed.isInCache && !renewed.isStale && renewed.text == "old" && renewed.header("X") == "new")
    #expect(bench.server.requests.filter { $0.method == "GET" }.count == 1)
  }

  @Test("a HEAD answer with another ETag makes the stored answer stale")
  func headOfAnother() throws {
    bench.server.on(
      "/a", Script(headers: ["Cache-Control": "max-age=600", "ETag": "\"1\""], steps: [.text("old")]))
    _ = try bench.get("/a")
    bench.server.on(
      "/a", Script(headers: ["Cache-Control": "max-age=600", "ETag": "\"2\""], steps: [.text("new")]))
    _ = try bench.get("/a") { $0.method = "HEAD" }
    #expect(try bench.get("/a") { $0.policy = .offline }.text == "old")
    #expect(try fresh().text == "new")
  }

  @Test("repeated header lines are stored in their order, and replaced by those of a 304")
  func repeatedLines() throws {
    bench.server.on(
      "/a",
      Script(
        headers: ["Set-Cookie": "a=1", "Cache-Control": "max-age=60", "Set-Cookie": "b=2", "ETag": "\"1\""],
        steps: [.text("old")]))
    _ = try bench.get("/a")
    func cookies(_ response: Response) -> [String] {
      response.headers.filter { $0.name == "Set-Cookie" }.map(\.value)
    }
    #expect(cookies(try bench.get("/a")) == ["a=1", "b=2"])
    clock.advance(seconds: 100)
    bench.server.on(
      "/a",
      Script(status: 304, headers: ["Cache-Control": "max-age=60", "Set-Cookie": "c=3", "Set-Cookie": "d=4"]))
    #expect(cookies(try fresh()) == ["c=3", "d=4"])
    #expect(cookies(try bench.get("/a")) == ["c=3", "d=4"])
  }

  @Test("a 404 replaces the stored answer under RFC 9111, and removes it under the kit policy")
  func gone() throws {
    for rules in [Policy.rfc9111, .kit] {
      let path = "/\(rules)"
      try store(path, at: path)
      bench.server.on(path, Script(status: 404, headers: ["Cache-Control": "max-age=60"]))
      _ = try bench.get(path) {
        $0.delivery = .fresh
        $0.policy = rules
      }
      let left = try? bench.get(path) { $0.policy = .offline }
      #expect(left?.status == (rules == .kit ? nil : 404))
    }
  }
}

@Suite("Answers that the cache makes") struct MadeUpAnswerTests {
  private static let cut = Script.raw([.close])

  @Test("under RFC 9111 an answer that must be revalidated is a 504 if the server can't be asked")
  func mustRevalidate() throws {
    for (rules, control) in [
      (Policy.rfc9111, "max-age=0, must-revalidate"), (.rfc9111, "no-cache"),
      (.kit, "max-age=0, must-revalidate"),
    ] {
      let bench = try Bench { $0.policy = rules }
      bench.server.on("/a", Script(headers: ["Cache-Control": .init(control)], steps: [.text("x")]))
      _ = try bench.get("/a")
      bench.server.on("/a", Self.cut)
      guard rules == .rfc9111 else {
        #expect(try bench.failure("/a").code == .reset)
        continue
      }
      let answer = try bench.get("/a")
      #expect(answer.status == 504 && !answer.isInCache && answer.text.hasPrefix("reset: "))
      #expect(
        try bench.failure("/never-stored") { _ in bench.server.on("/never-stored", Self.cut) }.code == .reset)
    }
  }

  @Test("under RFC 9111 an only-if-cached request without a stored answer gets a 504")
  func onlyIfCached() throws {
    let bench = try Bench()
    let wish = [("Cache-Control", "only-if-cached")]
    let answer = try bench.get("/a") {
      $0.headers = wish
      $0.policy = .rfc9111
    }
    #expect(answer.status == 504 && answer.text.hasPrefix("offline: "))
    #expect(try bench.failure("/a") { $0.headers = wish }.code == .offline)
    #expect(bench.server.count() == 0)
  }
}

@Suite("Interim answers") struct InterimTests {
  @Test("interim answers are shown with the answer, and not stored")
  func shown() throws {
    let bench = try Bench()
    bench.server.on(
      "/a",
      Script(
        headers: ["Cache-Control": "max-age=60"],
        steps: [.interim(102, [:]), .interim(103, ["Link": "</a.css>", "Link": "</b.css>"]), .text("x")]))
    let first = try bench.get("/a")
    #expect(first.interim.map(\.status) == [102, 103])
    #expect(first.interim[1].headers.map(\.value) == ["</a.css>", "</b.css>"])
    #expect(first.header("Link") == nil)
    #expect(try bench.get("/a").interim.isEmpty)
  }
}
