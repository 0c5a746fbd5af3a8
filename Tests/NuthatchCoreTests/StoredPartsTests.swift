import NuthatchCore
import TestServer
import Testing

/// Answers from the cache to requests for a part, or with a condition.
@Suite("Parts of stored answers") struct StoredPartsTests {
  let clock = TestClock()
  let bench: Bench

  init() throws {
    let clock = clock
    bench = try Bench { $0.clock = clock.wall }
    bench.server.on(
      "/a",
      Script(
        headers: ["Cache-Control": "max-age=60", "ETag": "\"1\"", "Content-Type": "text/plain"],
        steps: [.text("0123456789")], answersConditions: true, answersRanges: true))
    _ = try bench.get("/a")
  }

  private func get(_ fields: [(String, String)]) throws -> Response {
    try bench.get("/a") { $0.headers = fields }
  }

  @Test(
    "a range of a stored answer comes from the cache as a 206",
    arguments: [
      ("bytes=2-4", "234", "bytes 2-4/10"), ("bytes=8-", "89", "bytes 8-9/10"),
      ("bytes=-3", "789", "bytes 7-9/10"), ("bytes=5-999", "56789", "bytes 5-9/10"),
      ("bytes=-99", "0123456789", "bytes 0-9/10"), ("BYTES=0-0", "0", "bytes 0-0/10"),
    ])
  func ranges(asked: String, text: String, range: String) throws {
    let part = try get([("Range", asked)])
    #expect(part.status == 206 && part.isInCache && part.text == text)
    #expect(part.header("Content-Range") == range)
    #expect(part.header("Content-Length") == String(text.utf8.count))
    #expect(part.header("Content-Type") == "text/plain" && part.header("Age") == "0")
    #expect(bench.server.count("/a") == 1)
    #expect(try bench.get("/a").text == "0123456789")
  }

  @Test(
    "a range behind the end of a stored answer is a 416",
    arguments: ["bytes=10-", "bytes=99-100", "bytes=-0"])
  func unsatisfiable(asked: String) throws {
    let answer = try get([("Range", asked)])
    #expect(answer.status == 416 && answer.bodySize == 0)
    #expect(answer.header("Content-Range") == "bytes */10")
    #expect(bench.server.count("/a") == 1)
  }

  @Test("a range with If-Range is a 206 only if the strong ETag matches, else the whole answer")
  func ifRange() throws {
    #expect(try get([("Range", "bytes=2-4"), ("If-Range", "\"1\"")]).text == "234")
    let whole = try get([("Range", "bytes=2-4"), ("If-Range", "\"2\"")])
    #expect(whole.status == 200 && whole.text == "0123456789" && whole.isInCache)
    #expect(try get([("Range", "bytes=2-4"), ("If-Range", "W/\"1\"")]).status == 200)
    #expect(bench.server.count("/a") == 1)
  }

  @Test("ranges that the cache can't make come from the server and don't replace the stored answer")
  func others() throws {
    for asked in ["bytes=0-1,3-4", "lines=1-2", "bytes=4-2"] { _ = try get([("Range", asked)]) }
    #expect(bench.server.count("/a") == 4)
    clock.advance(seconds: 100)
    let part = try get([("Range", "bytes=2-4")])
    #expect(part.status == 206 && !part.isInCache)
    #expect(bench.server.count("/a") == 5)
    #expect(bench.server.requests("/a")[4].headers["If-None-Match"] == nil)
    #expect(try bench.get("/a") { $0.policy = .offline }.text == "0123456789")
  }

  @Test("a range is delivered stale where the whole answer would be")
  func stale() throws {
    clock.advance(seconds: 100)
    let first = try bench.get("/a") {
      $0.headers = [("Range", "bytes=2-4")]
      $0.delivery = .first
    }
    #expect(first.status == 206 && first.text == "234" && first.isInCache && first.isStale)
    // Behind the answer the server is asked for the same part, and that isn't stored.
    #expect(bench.server.waitForRequests(2, path: "/a"))
    #expect(bench.server.requests("/a")[1].headers["Range"] == "bytes=2-4")
    for script in [Script.raw([.close]), Script(status: 503, steps: [.text("down")])] {
      bench.server.on("/a", script)
      let part = try bench.get("/a") {
        $0.headers = [("Range", "bytes=-3")]
        $0.delivery = .fresh
      }
      #expect(part.status == 206 && part.text == "789" && part.isInCache && part.isStale)
    }
    bench.server.on(
      "/strict",
      Script(headers: ["Cache-Control": "max-age=9, must-revalidate"], steps: [.text("0123456789")]))
    _ = try bench.get("/strict")
    clock.advance(seconds: 100)
    bench.server.on("/strict", Script.raw([.close]))
    let refused = try bench.failure("/strict") {
      $0.headers = [("Range", "bytes=-3")]
      $0.delivery = .fresh
    }
    #expect(refused.code == .reset)
  }

  @Test("a request whose condition matches a stored answer gets a 304 from the cache")
  func notModified() throws {
    for fields in [
      [("If-None-Match", "\"0\", \"1\"")], [("If-None-Match", "W/\"1\"")], [("If-None-Match", "*")],
      [("If-None-Match", "\"1\""), ("If-Modified-Since", "nonsense")],
      [("If-None-Match", "\"1\""), ("Range", "bytes=0-1")],
    ] {
      let answer = try get(fields)
      #expect(answer.status == 304 && answer.bodySize == 0 && answer.isInCache)
      #expect(answer.header("ETag") == "\"1\"" && answer.header("Content-Type") == nil)
    }
    let other = try get([("If-None-Match", "\"2\"")])
    #expect(other.status == 200 && other.isInCache && other.text == "0123456789")
    #expect(bench.server.count("/a") == 1)
  }

  @Test("If-Match goes to the server, and a caller's If-None-Match isn't mixed with the cache's")
  func passedOn() throws {
    _ = try get([("If-Match", "\"1\"")])
    #expect(bench.server.requests("/a")[1].headers["If-Match"] == "\"1\"")
    // A stale answer's own condition isn't mixed with the caller's.
    clock.advance(seconds: 100)
    #expect(try get([("If-None-Match", "\"1\"")]).status == 304)
    #expect(bench.server.requests("/a")[2].headers.values(of: "If-None-Match") == ["\"1\""])
  }
}
