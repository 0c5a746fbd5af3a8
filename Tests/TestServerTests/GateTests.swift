import TestServer
import Testing

@Suite("Gates of the test server, and clients that hang up")
struct GateTests {
  let server: TestServer
  let gate: Gate

  init() throws {
    server = try .start()
    gate = server.gate("g")
  }

  @Test(
    "A gate holds the rest of an answer back, before, within and behind its head, and within its body",
    arguments: [0, 1, 2, 3])
  func place(_ place: Int) throws {
    let wait = gate.step
    let steps: [[Script.Step]] = [
      [wait, .text("body")], [.headPart(20), wait, .text("body")], [.head, wait, .text("body")],
      [.text("bo"), wait, .text("dy")],
    ]
    let whole = "HTTP/1.1 200 OK\nContent-Length: 4\n\nbody"
    let early = [
      "", "HTTP/1.1 200 OK\nCon", "HTTP/1.1 200 OK\nContent-Length: 4\n\n", String(whole.dropLast(2)),
    ]
    server.on("/a", Script(steps: steps[place]))
    let client = try RawClient(server)
    client.get("/a", headers: "Connection: keep-alive\n")
    // CR and LF count as two.
    let sizes = [0, 20, 38, 40]
    #expect(client.bytes(sizes[place]) == early[place])
    #expect(gate.waitUntilReached())
    #expect(server.requests[0].outcome == .pending)
    #expect(server.underWay == 1)
    gate.open()
    #expect(client.bytes(42 - sizes[place]) == whole.dropFirst(early[place].count))
    #expect(server.requests[0].outcome == .answered)
    #expect(server.underWay == 0)
  }

  @Test("`admit` lets one waiting answer go at a time")
  func admitsOneByOne() throws {
    server.on("/a", Script.ok("x").after(gate.step))
    let clients = try (1...3).map { _ in try RawClient(server) }
    clients.forEach { $0.get("/a") }
    #expect(gate.waitUntilReached(3))
    #expect(gate.waiting == 3)
    for answered in 1...3 {
      gate.admit()
      #expect(server.waitForAnswers(answered, path: "/a"))
      #expect(server.requests.count { $0.outcome == .answered } == answered)
    }
    #expect(gate.reached == 3)
    #expect(clients.map { $0.answer().body } == ["x", "x", "x"])
  }

  @Test("A client that hangs up while the answer waits is noticed")
  func disconnect() throws {
    server.on(
      "/a", Script(headers: ["Content-Length": "9"], steps: [.text("some"), gate.step, .text("more!")]))
    let client = try RawClient(server)
    client.get("/a")
    #expect(gate.waitUntilReached())
    client.close()
    #expect(server.waitForDisconnect(path: "/a"))
    #expect(server.requests[0].outcome == .clientLeft)
    #expect(server.waitUntilIdle())
    #expect(server.waitUntilDisconnected())
    #expect(gate.waiting == 0)
  }

  @Test("The server notices that a client hangs up while a large body is sent")
  func disconnectWhileSending() throws {
    server.on("/a", Script(steps: [.fill(count: 200_000_000, byte: 1)]))
    let client = try RawClient(server)
    client.get("/a")
    _ = client.bytes(1000)
    client.close()
    #expect(server.waitForDisconnect(path: "/a"))
  }

  @Test("Waiting for a gate or for requests returns false when its time is over")
  func timeIsOver() {
    #expect(!gate.waitUntilReached(seconds: 0.01))
    #expect(!server.waitForRequests(1, seconds: 0.01))
  }

  @Test("A reset of the server lets waiting answers go, and sets its counts to zero")
  func resetOpensGates() throws {
    server.on("/a", Script.ok("x").after(gate.step))
    let client = try RawClient(server)
    client.get("/a")
    #expect(gate.waitUntilReached())
    server.reset()
    #expect(client.answer().body == "x")
    #expect(server.count() == 0)
    #expect(gate.reached == 0)
  }

  @Test("A server that is stopped closes connections whose answers wait at a gate")
  func stopEndsWaiting() throws {
    server.on("/a", Script.ok("x").after(gate.step))
    let client = try RawClient(server)
    client.get("/a")
    #expect(gate.waitUntilReached())
    server.stop()
    #expect(server.openConnections == 0)
    _ = client.rest()
  }
}
