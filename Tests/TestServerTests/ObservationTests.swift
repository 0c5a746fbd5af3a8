import Glibc
import TestServer
import Testing

@Suite("Counts, log and lifetime of the test server")
struct ObservationTests {
  let server: TestServer

  init() throws { server = try .start() }

  @Test("200 connections at once: all are held, counted and answered")
  func manyConnections() throws {
    let gate = server.gate("g")
    server.on("/a", Script.ok("x").after(gate.step))
    let clients = try (1...200).map { _ in try RawClient(server) }
    clients.forEach { $0.get("/a") }
    #expect(gate.waitUntilReached(200))
    #expect(server.waitForRequests(200, path: "/a"))
    #expect(server.underWay == 200 && server.highWater() == 200 && server.connectionCount == 200)
    gate.open()
    #expect(clients.allSatisfy { $0.answer().body == "x" })
    #expect(server.underWay == 0)
  }

  @Test("The high-water mark is exact for a client that keeps a limit, over many connections")
  func highWaterIsNeverTooHigh() throws {
    server.on("/a", .ok("x"))
    for _ in 1...300 {
      let client = try RawClient(server)
      client.get("/a")
      #expect(client.answer().body == "x")
    }
    #expect(server.highWater() == 1)
    #expect(server.connectionCount == 300)
  }

  @Test("Clients that hung up don't count as under way, even before the server has noticed")
  func highWaterWithoutTheGone() throws {
    let gate = server.gate("g")
    server.on("/a", Script.ok("x").after(gate.step))
    for count in 1...20 {
      let client = try RawClient(server)
      client.get("/a")
      #expect(gate.waitUntilReached(count))
      client.close()
    }
    #expect(server.highWater() == 1)
  }

  @Test("The high-water mark is counted for each host and for all hosts together")
  func highWaterByHost() throws {
    let gate = server.gate("g")
    server.on("/a", Script.ok("x").after(gate.step))
    let hosts = ["one", "one", "two"]
    let clients = try hosts.map { host in
      let client = try RawClient(server)
      client.send("GET /a HTTP/1.1\nHost: \(host)\n\n")
      return client
    }
    #expect(gate.waitUntilReached(3))
    gate.open()
    #expect(clients.allSatisfy { $0.answer().body == "x" })
    #expect(server.highWater() == 3)
    #expect(server.highWater(host: "one") == 2)
    #expect(server.highWater(host: "two") == 1)
    #expect(server.highWater(host: "three") == 0)
  }

  @Test("Connections without a request are accepted but not counted as carrying one")
  func acceptedConnections() throws {
    #expect(server.acceptedCount == 0)
    let clients = try (1...5).map { _ in try RawClient(server) }
    #expect(server.acceptedCount == 5)
    #expect(server.connectionCount == 0)
    clients[3].get("/status/204")
    #expect(clients[3].answer().head.hasPrefix("HTTP/1.1 204"))
    #expect(server.connectionCount == 1 && server.requests[0].connection == 1)
  }

  @Test("Clearing the log resets counts and keeps scripts; a reset removes the scripts, too")
  func clearing() throws {
    server.on("/a", .ok("mine"))
    let client = try RawClient(server)
    client.get("/a")
    #expect(client.answer().body == "mine")
    server.clearLog()
    #expect(server.count() == 0 && server.connectionCount == 0 && server.highWater() == 0)
    client.get("/a")
    #expect(client.answer().body == "mine")
    #expect(server.requests.map(\.number) == [1])
    server.reset()
    client.get("/a")
    #expect(client.answer().head.hasPrefix("HTTP/1.1 404"))
  }

  @Test("A stopped server refuses, has no connection, and its port is free")
  func stopping() throws {
    let clients = try (1...20).map { _ in try RawClient(server) }
    clients[0].get("/status/200")
    #expect(clients[0].answer().head.hasPrefix("HTTP/1.1 200"))
    server.stop()
    server.stop()
    #expect(server.openConnections == 0)
    #expect(throws: RawClient.Failure.connect(ECONNREFUSED)) { try RawClient(server) }
    #expect(clients.allSatisfy { $0.rest().isEmpty })
  }

  @Test("Fifty servers in a row start, answer, and stop when they are released")
  func comeAndGo() throws {
    for round in 1...50 {
      let server = try TestServer.start(ipv6: round % 2 == 0)
      let client = try RawClient(server)
      client.get("/status/204")
      #expect(client.answer().head.hasPrefix("HTTP/1.1 204"))
    }
  }

  @Test("No server gets the port of an earlier one")
  func portsOnce() throws {
    var ports: Set<UInt16> = []
    for _ in 1...400 { #expect(ports.insert(try TestServer.start().port).inserted) }
  }
}
