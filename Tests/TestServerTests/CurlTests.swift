import TestServer
import Testing

@Suite("Requests of curl to the test server", .enabled(if: Curl.isPresent))
struct CurlTests {
  let server: TestServer

  init() throws { server = try .start() }

  @Test(
    "A built-in path makes curl end with the exit status of its fault, or with 0",
    arguments: [
      ("/status/200", 0), ("/truncated", 18), ("/cut-chunks", 18), ("/bad-chunk", 56), ("/reset", 56),
      ("/reset?after=head", 56), ("/reset?after=body", 56), ("/not-http", 1), ("/redirect-loop", 47),
      ("/redirect/3", 0), ("/early-hints", 0), ("/until-close/9", 0), ("/chunked", 0),
      ("/huge-headers/9000", 0),
      ("/slow-headers?ms=1", 0), ("/slow-body?ms=1", 0), ("/gzip/70000", 0), ("/delay/1", 0),
    ])
  func builtinPath(path: String, code: Int32) throws {
    let outcome = try Curl.run("--location", "--max-redirs", "5", "--compressed", server.url(path))
    #expect(outcome.code == code)
  }

  @Test("A gzip body and a valid gzip bomb are decoded whole by curl")
  func gzip() throws {
    #expect(
      try Curl.run("--compressed", server.url("/gzip/70000")).output == [UInt8](repeating: 120, count: 70_000)
    )
    server.on(
      "/bomb",
      Script(headers: ["Content-Encoding": "gzip"], steps: [.bytes(Gzip.bomb(zeros: 3000, isValid: true))]))
    let bomb = try Curl.run("--compressed", server.url("/bomb"))
    #expect(bomb.code == 0)
    #expect(bomb.output.count == 12 * 258 + 1 && bomb.output.allSatisfy { $0 == 0 })
  }

  @Test("Uploads of curl with a length and in chunks are read whole")
  func uploads() throws {
    server.on("/put") { .ok("\($0.method) \($0.body.count)") }
    let put = try Curl.run("--request", "PUT", "--data-binary", "12345", server.url("/put"))
    #expect(put.text == "PUT 5")
    let chunked = try Curl.run(
      "--header", "Transfer-Encoding: chunked", "--header", "Expect: 100-continue", "--data-binary", "12345",
      server.url("/put"))
    #expect(chunked.text == "POST 5")
  }

  @Test("A request that curl sends through the server as a proxy gets the answer of its path")
  func asProxy() throws {
    server.on("/a", .ok("by proxy"))
    let outcome = try Curl.run("--noproxy", "", "--proxy", server.url(""), "http://example.test/a")
    #expect(outcome.text == "by proxy")
    #expect(server.requests[0].target == "http://example.test/a")
  }

  @Test("A path /basic-auth accepts its user and password, and answers 401 without them")
  func basicAuth() throws {
    #expect(try Curl.run("--user", "me:it", server.url("/basic-auth/me/it")).text == "welcome\n")
    #expect(
      try Curl.run("--write-out", "%{http_code}", server.url("/basic-auth/me/it")).text.hasSuffix("401"))
  }

  @Test("A server that is started with IPv6 answers on ::1 and on 127.0.0.1")
  func ipv6() throws {
    let both = try TestServer.start(ipv6: true)
    both.on("/a", .ok("six"))
    #expect(try Curl.run("--globoff", both.url("/a", host: "[::1]")).text == "six")
    #expect(try Curl.run(both.url("/a")).text == "six")
  }

  @Test("The control interface: put a script, wait at its gate, read the log")
  func control() throws {
    func call(_ name: String, _ json: String) throws -> String {
      try Curl.run("--data", json, server.url("/_control/\(name)")).text
    }
    #expect(
      try call("on", #"{"path": "/a", "script": {"steps": [{"wait": "g"}, {"bytes": "hi"}]}}"#)
        == #"{"done":true}"#)
    let client = try RawClient(server)
    client.get("/a")
    #expect(try call("wait", #"{"for": "gate", "gate": "g"}"#) == #"{"reached":true}"#)
    #expect(try call("gate", #"{"gate": "g"}"#) == #"{"done":true}"#)
    #expect(client.answer().body == "hi")
    #expect(try call("wait", #"{"path": "/a", "for": "answers"}"#) == #"{"reached":true}"#)
    #expect(try call("wait", #"{"path": "/a", "count": 2, "seconds": 0.01}"#) == #"{"reached":false}"#)
    #expect(try Curl.run(server.url("/_control/log?path=/a")).text.contains(#""outcome":"answered""#))
    let counts = try Curl.run(server.url("/_control/counts")).text
    #expect(counts.contains(#""accepted":1,"byPath":{"/a":1},"connections":1,"#))
    #expect(try call("on", "{").contains("error"))
    #expect(try call("on", #"{"path": "/a"}"#).contains("error"))
    #expect(try call("nonsense", "{}").contains("error"))
    #expect(try call("reset", "{}") == #"{"done":true}"#)
    #expect(server.count() == 0)
  }
}
