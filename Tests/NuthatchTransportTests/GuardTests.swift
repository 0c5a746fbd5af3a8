import FakeNames
import TestServer
import Testing

@testable import NuthatchTransport

@Suite("The address guard") struct GuardTests {
  /// Loopback as it may be spelled in a URL. All of them are refused, or none is a URL at all.
  static let spellings = [
    "127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "127.0.1", "0x7f000001", "0x7F.0x0.0x0.0x1",
    "017700000001", "0177.0.1", "127.000.000.001", "0x7f.0.1", "127.0x1", "[::1]", "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:0001]", "0.0.0.0", "0", "0x0", "[::]",
    "localhost", "LOCALHOST", "localhost.", "a.localhost", "127.0.0.1.", "loop.fake.test", "loop.fake.test.",
    "127\u{3002}0\u{3002}0\u{3002}1", "127\u{FF0E}0\u{FF0E}0\u{FF0E}1", "\u{FF11}27.0.0.1",
    "\u{2460}27.0.0.1", "%6c%6fcalhost", "127%2e0%2e0%2e1", "lo\u{00AD}calhost", "\u{24DB}ocalhost",
    "ｌｏｃａｌｈｏｓｔ", "loop\u{3002}fake\u{3002}test", "[::127.0.0.1]", "[64:ff9b::127.0.0.1]",
    "[2002:7f00:1::]", "[::ffff:0:127.0.0.1]",
  ]

  @Test("the strictest guard refuses this machine in every spelling", arguments: spellings)
  func spelling(_ host: String) throws {
    let wire = try Wire(ipv6: true)
    fake_name_set("loop.fake.test", "127.0.0.1")
    fake_name_set("loop.fake.test.", "127.0.0.1")
    guard let url = try? WebURL("http://\(host):\(wire.server.port)/") else { return }
    let fault = try wire.fault(url.address) { $0.addressGuard = .public }
    // A name that isn't found reaches nothing either.
    #expect(fault.kind == .denied || fault.kind == .dns, "\(host) as \(url): \(fault)")
    #expect(wire.server.acceptedCount == 0, "\(host)")
  }

  @Test("the guard judges a transfer that only connects; it sends nothing and uses no kept connection")
  func connecting() throws {
    let wire = try Wire()
    for scheme in ["http", "https"] {
      let place = "\(scheme)://127.0.0.1:\(wire.server.port)/a"
      let denied = try wire.fault(place) {
        $0.connectsOnly = true
        $0.addressGuard = .public
      }
      #expect(denied.kind == .denied && wire.server.acceptedCount == 0)
    }
    // Not even over a connection that was kept.
    wire.server.on("/a", .ok("x"))
    #expect(try wire.get("/a").text == "x")
    for (number, scheme) in ["http", "https"].enumerated() {
      let record = try wire.get("\(scheme)://127.0.0.1:\(wire.server.port)/a") { $0.connectsOnly = true }
      #expect(record.fault == nil && record.head == nil && record.endings == 1)
      #expect(wire.server.acceptedCount == number + 2)
    }
    #expect(wire.server.count() == 1 && wire.server.malformedCount == 0)
    #expect(try wire.get("/a").text == "x")
    wire.server.goDown()
    let refused = try wire.fault("http://127.0.0.1:\(wire.server.port)/a") { $0.connectsOnly = true }
    #expect(refused.kind == .refused)
  }

  @Test("at least 30 spellings of this machine are URLs")
  func count() {
    #expect(GuardTests.spellings.count { (try? WebURL("http://\($0)/")) != nil } >= 30)
  }

  @Test("the guard's error names the address and its class")
  func words() throws {
    let wire = try Wire()
    let fault = try wire.fault("http://127.1:\(wire.server.port)/") { $0.addressGuard = .public }
    #expect(fault.message.contains("127.0.0.1 is a loopback address"))
    let metadata = try wire.fault("http://169.254.169.254/")
    #expect(metadata.kind == .denied)
    #expect(metadata.message.contains("link-local"))
  }

  @Test("the default guard lets private addresses pass and reports their class")
  func guarded() throws {
    let wire = try Wire(ipv6: true)
    wire.server.on("/a", .ok("x"))
    let record = try wire.get("/a")
    #expect(record.fault == nil)
    #expect(record.timings.connection.addressClass == .loopback)
    #expect(record.timings.connection.address?.description == "127.0.0.1")
    #expect(!record.timings.connection.isReused)
    #expect(!record.timings.connection.reach.countsAsPublic)
    let again = try wire.get("/a").timings.connection
    #expect(again.isReused)
    #expect(again.addressClass == .loopback)
    let six = try wire.get(wire.server.url("/a", host: "[::1]")).timings.connection
    #expect(six.address?.description == "::1")
    #expect(six.addressClass == .loopback)
  }

  @Test("the default guard refuses private addresses behind a redirect from a public origin")
  func redirected() throws {
    let wire = try Wire()
    wire.server.on("/a", .ok("x"))
    #expect(try wire.fault("/a") { $0.isRedirectedByPublic = true }.kind == .denied)
    #expect(try wire.get("/a") { ($0.isRedirectedByPublic, $0.addressGuard) = (true, .any) }.fault == nil)
    #expect(wire.server.count("/a") == 1)
  }

  @Test("the guard judges a kept connection anew")
  func reused() throws {
    let wire = try Wire()
    wire.server.on("/a", .ok("x"))
    for isSent in [true, false] {
      #expect(try wire.get("/a") { $0.addressGuard = .any }.fault == nil)
      let fault = try wire.fault("/a") {
        $0.addressGuard = isSent ? .guarded : .public
        $0.isRedirectedByPublic = isSent
      }
      #expect(fault.kind == .denied)
      #expect(fault.message.contains("127.0.0.1"))
    }
    #expect(wire.server.count("/a") == 2)
  }

  @Test("libcurl tries a name's next address after the guard has refused one")
  func nextAddress() throws {
    let wire = try Wire()
    wire.server.on("/a", .ok("x"))
    fake_name_set("mixed.fake.test", "169.254.169.254 fe80::1 127.0.0.1")
    let record = try wire.get(wire.server.url("/a", host: "mixed.fake.test"))
    #expect(record.fault == nil)
    #expect(record.timings.connection.address?.description == "127.0.0.1")
  }

  @Test("the guard judges each address of a name that changes its address")
  func rebinding() throws {
    let wire = try Wire()
    wire.server.on("/a", .ok("x"))
    // Earlier addresses of the name don't count: each one is judged when its socket is opened.
    fake_name_set("rebind.fake.test", "192.0.2.1;127.0.0.1;127.0.0.1")
    for _ in 0..<3 {
      let fault = try wire.fault(wire.server.url("/a", host: "rebind.fake.test")) {
        $0.addressGuard = .public
      }
      #expect(fault.kind == .denied)
    }
    #expect(wire.server.acceptedCount == 0)
  }
}
