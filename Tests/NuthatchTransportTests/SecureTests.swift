import FakeNames
import TestServer
import Testing

@testable import NuthatchTransport

@Suite("TLS and HTTP/2", .enabled(if: SecureServer.isThere, "nghttpd and openssl are needed"))
struct SecureTests {
  private static let large = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }
  private let files: [String: [UInt8]] = ["small": Array("hello".utf8), "large": SecureTests.large]

  private func wire(_ server: SecureServer, variable: String = "CURL_CA_BUNDLE") throws -> Wire {
    try Wire(environment: [variable: server.certificate])
  }

  @Test("many requests share one HTTP/2 connection, and the answers say so")
  func multiplexed() throws {
    let server = try SecureServer(files)
    let wire = try wire(server)
    let recorders = try (0..<30).map { try wire.start(server.url($0 % 3 == 0 ? "/large" : "/small")) }
    let records = try recorders.map { try $0.result() }
    for (number, record) in records.enumerated() {
      #expect(record.fault == nil)
      #expect(record.timings.connection.version == .http2)
      #expect(number % 3 == 0 ? record.body == SecureTests.large : record.text == "hello")
      #expect(!record.timings.isCloseDelimited)
    }
    #expect(records.count { !$0.timings.connection.isReused } == 1)
    #expect(records.contains { $0.timings.tls > 0 })
  }

  @Test("requests with a body work beside others with a server that speaks HTTP/2")
  func bodies() throws {
    let server = try SecureServer(files, options: ["--echo-upload"])
    let wire = try wire(server)
    let recorders = try (0..<20).map { number in
      try wire.start(server.url("/small")) {
        $0.method = number % 2 == 0 ? "POST" : "GET"
        if number % 4 == 0 { $0.body = Array("number \(number)".utf8) }
      }
    }
    for (number, recorder) in recorders.enumerated() {
      let record = try recorder.result()
      #expect(record.fault == nil)
      #expect(record.timings.connection.version == .http2)
      if number % 4 == 0 { #expect(record.text == "number \(number)") }
    }
  }

  @Test("40 requests succeed with a server that allows two HTTP/2 streams at a time")
  func fewStreams() throws {
    let server = try SecureServer(files, options: ["-m", "2"])
    let wire = try wire(server)
    let recorders = try (0..<40).map { _ in try wire.start(server.url("/small")) }
    for recorder in recorders { #expect(try recorder.result().text == "hello") }
  }

  @Test("the other HTTP/2 streams go on when some are cancelled")
  func cancelled() throws {
    let server = try SecureServer(files)
    let wire = try wire(server)
    var kept: [Recorder] = []
    for number in 0..<30 {
      let recorder = Recorder()
      let id = try wire.start(server.url("/large"), sink: recorder)
      if number % 2 == 0 { kept.append(recorder) } else { wire.transport.cancel(id) }
    }
    for recorder in kept { #expect(try recorder.result().body == SecureTests.large) }
  }

  @Test("a certificate that isn't trusted, or is for another name, is a `tls` fault")
  func untrusted() throws {
    let server = try SecureServer(files)
    #expect(try Wire().fault(server.url("/small")).kind == .tls)
    fake_name_set("secure.fake.test", "127.0.0.1")
    fake_name_set("other.fake.test", "127.0.0.1")
    for variable in ["CURL_CA_BUNDLE", "SSL_CERT_FILE"] {
      let wire = try wire(server, variable: variable)
      #expect(try wire.get(server.url("/small", host: "secure.fake.test")).text == "hello")
      #expect(try wire.fault(server.url("/small", host: "other.fake.test")).kind == .tls)
      #expect(try wire.get(server.url("/small", host: "localhost")).text == "hello")
    }
  }

  @Test("HTTP/2 transfers end with a fault when the server stops")
  func gone() throws {
    let server = try SecureServer(["huge": [UInt8](repeating: 1, count: 60_000_000)])
    let wire = try wire(server)
    // The loop waits for the end of the server, so that the transfers can't finish before.
    let first = Recorder(keepsBody: false) { server.stop() }
    let recorders = [first] + (0..<3).map { _ in Recorder(keepsBody: false) }
    for recorder in recorders { try wire.start(server.url("/huge"), sink: recorder) }
    for recorder in recorders {
      let record = try recorder.result()
      if let fault = record.fault {
        #expect([.reset, .http, .truncated, .tls, .refused].contains(fault.kind))
      }
    }
    #expect(recorders.contains { $0.current.fault != nil })
  }

  @Test("each HTTP/2 stream is judged by its own guard, and the others go on")
  func judged() throws {
    let server = try SecureServer(files)
    let wire = try wire(server)
    _ = try wire.get(server.url("/small"))
    let others = try (0..<10).map { _ in try wire.start(server.url("/large")) }
    let strict = try wire.fault(server.url("/small")) { $0.addressGuard = .public }
    #expect(strict.kind == .denied)
    for other in others { #expect(try other.result().body == SecureTests.large) }
  }

  @Test("TLS goes through a proxy's tunnel")
  func tunnelled() throws {
    let server = try SecureServer(files)
    let proxy = try TunnelProxy.start()
    defer { proxy.stop() }
    let wire = try wire(server)
    let explicit = ProxyChoice.explicit("http://nut:hatch@127.0.0.1:\(proxy.port)")
    let record = try wire.get(server.url("/small")) { $0.proxy = explicit }
    #expect(record.text == "hello")
    #expect(record.timings.connection.version == .http2)
    #expect(record.timings.connection.isProxied)
    #expect(record.timings.connection.addressClass == .loopback)
    #expect(proxy.targets == ["127.0.0.1:\(server.port)"])
    #expect(proxy.credentials == ["Basic bnV0OmhhdGNo"])
    // The name is the proxy's to look up, and is judged by what is found here.
    fake_name_set("secure.fake.test", "127.0.0.1")
    let name = server.url("/small", host: "secure.fake.test")
    // Looked up without the proxy and remembered: behind one, a lookup that takes longer than a second is done without.
    #expect(try wire.get(name).text == "hello")
    let named = try wire.get(name) { $0.proxy = explicit }
    #expect(named.text == "hello")
    #expect(named.timings.connection.reach == .hidden)
    #expect(proxy.targets.last == "secure.fake.test:\(server.port)")
    let strict = try wire.fault(name) {
      $0.proxy = explicit
      $0.addressGuard = .public
    }
    #expect(strict.kind == .denied && strict.message.contains("127.0.0.1"))
    #expect(proxy.targets.count == 2)
  }
}
