import TestServer
import Testing

@testable import NuthatchTransport

@Suite("Proxies") struct ProxyTests {
  private func proxy(_ url: String, _ environment: [String: String]) throws -> String? {
    ProxyRules { environment[$0] }.proxy(for: try WebURL(url))
  }

  @Test("proxies come from the environment, by scheme, with exceptions")
  func rules() throws {
    let both = ["http_proxy": "http://p:1", "HTTPS_PROXY": "http://s:2"]
    #expect(try proxy("http://a.example/", both) == "http://p:1")
    #expect(try proxy("https://a.example/", both) == "http://s:2")
    #expect(try proxy("http://a.example/", [:]) == nil)
    // For a CGI program HTTP_PROXY is the "Proxy:" field of its client.
    #expect(try proxy("http://a.example/", ["HTTP_PROXY": "http://p:1"]) == nil)
    #expect(try proxy("http://a.example/", ["all_proxy": "socks5://q:3"]) == "socks5://q:3")
    #expect(
      try proxy("https://a.example/", ["ALL_PROXY": "socks5://q:3", "https_proxy": ""]) == "socks5://q:3")

    func excepted(_ host: String, _ list: String) throws -> Bool {
      try proxy("http://\(host)/", ["http_proxy": "http://p:1", "no_proxy": list]) == nil
    }
    for (host, list, isExcepted) in [
      ("a.example", "a.example", true), ("A.Example", "a.EXAMPLE", true), ("b.a.example", "a.example", true),
      ("ba.example", "a.example", false), ("b.a.example", ".a.example", true),
      ("a.example", ".a.example", true), ("a.example.", "a.example", true),
      ("a.example", "x, a.example.", true),
      ("a.example", "*", true), ("a.example", "x y  a.example", true), ("a.example", "", false),
      ("10.1.2.3", "10.0.0.0/8", true), ("11.1.2.3", "10.0.0.0/8", false), ("10.1.2.3", "10.1.2.3", true),
      ("10.1.2.3", "3", false), ("127.1", "127.0.0.1", true), ("[::1]", "::1", true),
      ("[::1]", "[::1]", true),
      ("[fd00::1]", "fd00::/8", true), ("[fe00::1]", "fd00::/8", false), ("10.1.2.3", "10.0.0.0/99", false),
      ("10.1.2.3", "10.0.0.0/x", false),
    ] {
      #expect(try excepted(host, list) == isExcepted, "\(host) in \(list)")
    }
  }

  @Test("a proxy gets the request in full, and libcurl reads no proxy from the environment by itself")
  func plain() throws {
    let proxy = try TestServer.start()
    proxy.on("/a", .ok("by proxy"))
    let wire = try Wire(environment: [
      "http_proxy": "http://127.0.0.1:\(proxy.port)", "no_proxy": "b.example",
    ])
    let record = try wire.get("http://a.example/a")
    #expect(record.text == "by proxy")
    #expect(proxy.requests.map(\.target) == ["http://a.example/a"])
    #expect(record.timings.connection.isProxied)
    #expect(record.timings.connection.addressClass == nil)

    wire.server.on("/a", .ok("direct"))
    #expect(try wire.get("/a") { $0.proxy = .none }.text == "direct")
    #expect(try wire.get("/a") { $0.proxy = .explicit("http://127.0.0.1:\(proxy.port)") }.text == "by proxy")
  }

  @Test("the strictest guard ignores proxies of the environment")
  func strict() throws {
    let rules = TransportEnvironment { $0 == "http_proxy" ? "http://proxy.example:3128" : nil }
    var request = TransferRequest(url: try WebURL("http://a.example/a"))
    #expect(TransferRoute(request, rules).proxy == "http://proxy.example:3128")
    request.addressGuard = .public
    #expect(TransferRoute(request, rules).proxy == nil)
    let proxy = try TestServer.start()
    let wire = try Wire(environment: ["http_proxy": "http://127.0.0.1:\(proxy.port)"])
    let record = try wire.get("/a") { $0.addressGuard = .public }
    #expect(record.fault?.kind == .denied)
    #expect(proxy.acceptedCount == 0)
    proxy.on("/a", .ok("asked for"))
    let asked = try wire.get("http://a.example/a") {
      $0.addressGuard = .public
      $0.proxy = .explicit("http://127.0.0.1:\(proxy.port)")
    }
    #expect(asked.text == "asked for")
  }

  @Test("a transfer that only connects asks a proxy for a tunnel where it uses one")
  func connecting() throws {
    let tunnel = try TunnelProxy.start()
    defer { tunnel.stop() }
    let proxy = try TestServer.start()
    let wire = try Wire(environment: [
      "https_proxy": "http://127.0.0.1:\(tunnel.port)", "http_proxy": "http://127.0.0.1:\(proxy.port)",
    ])
    func connect(_ scheme: String, _ port: UInt16) throws -> TransportFault? {
      try wire.get("\(scheme)://127.0.0.1:\(port)/a") { $0.connectsOnly = true }.fault
    }
    #expect(try connect("https", wire.server.port) == nil)
    #expect(tunnel.targets == ["127.0.0.1:\(wire.server.port)"])
    #expect(wire.server.acceptedCount == 1 && wire.server.malformedCount == 0)
    #expect(try connect("http", wire.server.port) == nil)
    #expect(proxy.acceptedCount == 1 && proxy.requests.isEmpty && wire.server.acceptedCount == 1)
    wire.server.goDown()
    #expect(try connect("https", wire.server.port) != nil)
  }
}
