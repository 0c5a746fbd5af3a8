import Glibc
import TestServer
import Testing

@Suite("Faults that the test server makes")
struct FaultTests {
  let server: TestServer

  init() throws { server = try .start() }

  private func played(_ script: Script) throws -> (text: String, wasReset: Bool) {
    server.on("/a", script)
    let client = try RawClient(server)
    client.get("/a")
    return (client.rest(), client.wasReset)
  }

  @Test("A truncated answer announces 10 bytes, sends 4, and ends without a reset")
  func truncated() throws {
    let answer = try played(.truncated(announced: 10, sent: Array("four".utf8)))
    #expect(answer == ("HTTP/1.1 200 OK\nContent-Length: 10\n\nfour", false))
    #expect(server.requests[0].outcome == .answered)
  }

  @Test("A chunked body can end without its last chunk, or go on with a malformed one")
  func cutAndBadChunks() throws {
    #expect(try played(Script(steps: [.chunk(text: "one")])).text.hasSuffix("\n\n3\none\n"))
    let bad = try played(Script(steps: [.chunk(text: "one"), .badChunk(text: "zz\r\n")]))
    #expect(bad.text.hasSuffix("\n\n3\none\nzz\n"))
  }

  @Test("A reset delivers what was before it", arguments: [0, 1, 2, 3])
  func reset(phase: Int) throws {
    let steps: [[Script.Step]] = [
      [.reset], [.headPart(12), .reset], [.head, .reset], [.text("some"), .reset, .text("more!")],
    ]
    let expected = [
      "", "HTTP/1.1 200", "HTTP/1.1 200 OK\nX: y\nContent-Length: 9\n\n",
      "HTTP/1.1 200 OK\nX: y\nContent-Length: 9\n\nsome",
    ]
    let headers: HeaderLines = phase == 0 ? [:] : phase == 3 ? ["X": "y"] : ["X": "y", "Content-Length": "9"]
    let answer = try played(Script(headers: headers, steps: steps[phase]))
    #expect(answer.text == expected[phase])
    #expect(answer.wasReset)
    #expect(server.requests.map(\.outcome) == [.cut])
  }

  @Test("A close in the middle of a body is no reset, and is logged as cut")
  func orderlyCloseInTheMiddle() throws {
    let answer = try played(Script(headers: ["Content-Length": "9"], steps: [.text("some"), .close]))
    #expect(answer == ("HTTP/1.1 200 OK\nContent-Length: 9\n\nsome", false))
    #expect(server.requests.map(\.outcome) == [.cut])
  }

  @Test("`resetConnections(next: 2)` resets the next two connections, and the third is answered")
  func resetAtAccept() throws {
    server.resetConnections(next: 2)
    for _ in 1...2 {
      do {
        let client = try RawClient(server)
        client.get("/status/200")
        #expect(client.rest().isEmpty && client.wasReset)
      } catch {
        #expect(error as? RawClient.Failure == .connect(ECONNRESET))
      }
    }
    let client = try RawClient(server)
    client.get("/status/200")
    #expect(client.answer().head.hasPrefix("HTTP/1.1 200"))
    #expect(server.acceptedCount == 3)
    #expect(server.connectionCount == 1)
  }

  @Test("A host that goes down resets connections and refuses new ones, and comes back on its port")
  func downAndUp() throws {
    let client = try RawClient(server)
    client.get("/status/200")
    #expect(client.answer().head.hasPrefix("HTTP/1.1 200"))
    server.goDown()
    #expect(client.rest().isEmpty && client.wasReset)
    #expect(throws: RawClient.Failure.connect(ECONNREFUSED)) { try RawClient(server) }
    try server.goUp()
    let again = try RawClient(server)
    again.get("/status/200")
    #expect(again.answer().head.hasPrefix("HTTP/1.1 200"))
  }

  @Test("Scripts may answer before the body was sent")
  func earlyAnswer() throws {
    var script = Script.status(413, body: "no")
    script.readsBody = false
    server.on("/a", script)
    let client = try RawClient(server)
    client.send("POST /a HTTP/1.1\nHost: test\nContent-Length: 1000000\n\nonly this")
    #expect(client.answer().body == "no")
    client.close()
    #expect(server.requests[0].body.isEmpty)
  }

  @Test("Bytes that come slowly come whole")
  func drip() throws {
    let steps: [Script.Step] = [
      .dripHead(piece: 7, milliseconds: 1), .drip([65, 66, 67], piece: 2, milliseconds: 1),
      .pause(milliseconds: 1), .drip([68], piece: 1, milliseconds: 0),
    ]
    server.on("/a", Script(steps: steps))
    let client = try RawClient(server)
    client.get("/a")
    #expect(client.answer() == ("HTTP/1.1 200 OK\nContent-Length: 4\n\n", "ABCD"))
  }
}
