import CSystem
import FakeNames
import TestServer
import Testing

@testable import NuthatchTransport

// The process has one set of fake names, and a release frees all lookups that hang: so one test at a time.
@Suite("Name lookups", .serialized) struct NameLookupTests {
  private func stalled(_ count: Int, _ word: String) -> [String] {
    (0..<count).map { number in
      let name = "\(word)\(number).fake.test"
      fake_name_set(name, "stall")
      return name
    }
  }

  private func waitUntil(seconds: Int64 = 30, _ isSo: () -> Bool) -> Bool {
    let end = nhs_monotonic_ns() + seconds * 1_000_000_000
    while !isSo() {
      if nhs_monotonic_ns() > end { return false }
      var word: UInt32 = 0
      nhs_futex_wait(&word, 0, nhs_monotonic_ns() + 1_000_000)
    }
    return true
  }

  @Test("a name that isn't found here in a second goes through the proxy, and isn't looked up again")
  func unknownBehindProxy() throws {
    let proxy = try TestServer.start()
    proxy.on("/a", .ok("by proxy"))
    let wire = try Wire(environment: ["http_proxy": "http://127.0.0.1:\(proxy.port)"])
    for (name, answers) in [("slow-proxied", "stall"), ("unknown-proxied", "")] {
      fake_name_set("\(name).fake.test", answers)
      for _ in 0..<3 { #expect(try wire.get("http://\(name).fake.test/a").text == "by proxy") }
      // None if no thread began with it within the second.
      #expect(fake_name_lookups("\(name).fake.test") <= 1)
    }
    // Before the release, or a lookup that begins only later would wait for ever.
    fake_name_set("slow-proxied.fake.test", "")
    fake_names_release()
    #expect(waitUntil { fake_names_waiting() == 0 })
    // No lookup at all if no guard judges the address, or if the proxy resolves names.
    fake_name_set("any-proxied.fake.test", "169.254.169.254")
    #expect(try wire.get("http://any-proxied.fake.test/a") { $0.addressGuard = .any }.text == "by proxy")
    let socks = ProxyChoice.explicit("socks5h://127.0.0.1:1")
    #expect(try wire.fault("http://any-proxied.fake.test/a") { $0.proxy = socks }.kind != .denied)
    #expect(fake_name_lookups("any-proxied.fake.test") == 0)
    let here = ProxyChoice.explicit("socks5://127.0.0.1:1")
    #expect(try wire.fault("http://any-proxied.fake.test/a") { $0.proxy = here }.kind == .denied)
  }

  @Test("lookups that hang hold up no other name, no cancel and no stop")
  func stuck() throws {
    let wire = try Wire()
    wire.server.on("/a", .ok("x"))
    let names = stalled(60, "stuck")
    var ids: [UInt64] = []
    for name in names { ids.append(try wire.start("http://\(name)/", sink: Recorder())) }
    #expect(waitUntil { fake_names_waiting() == 60 })
    fake_name_set("good.fake.test", "127.0.0.1")
    let begun = nhs_monotonic_ns()
    #expect(try wire.get("/a").fault == nil)
    #expect(try wire.get(wire.server.url("/a", host: "good.fake.test")).fault == nil)
    for id in ids.prefix(30) { wire.transport.cancel(id) }
    #expect(try wire.get(wire.server.url("/a", host: "localhost")).fault == nil)
    wire.transport.stop()
    // The lookups hang until the release below: nothing here has waited for them.
    #expect(fake_names_waiting() == 60)
    #expect(nhs_monotonic_ns() - begun < 20_000_000_000)
    fake_names_release()
    #expect(waitUntil { fake_names_waiting() == 0 })
  }

  @Test("a name is looked up once for all transfers that ask for it, and remembered")
  func shared() throws {
    let wire = try Wire()
    wire.server.on("/a", .ok("x"))
    fake_name_set("shared.fake.test", "stall")
    let recorders = try (0..<50).map { _ in
      try wire.start(wire.server.url("/a", host: "shared.fake.test"))
    }
    #expect(waitUntil { fake_names_waiting() == 1 })
    fake_names_release()
    for recorder in recorders { #expect(try recorder.result().fault?.kind == .dns) }
    #expect(fake_name_lookups("shared.fake.test") == 1)

    fake_name_set("known.fake.test", "127.0.0.1")
    for _ in 0..<5 {
      let record = try wire.get(wire.server.url("/a", host: "known.fake.test"))
      #expect(record.fault == nil)
    }
    #expect(fake_name_lookups("known.fake.test") == 1)
  }

  @Test("hundreds of lookups that hang hold up no other name")
  func hundreds() throws {
    let wire = try Wire()
    wire.server.on("/a", .ok("x"))
    for name in stalled(300, "hundred") { try wire.start("http://\(name)/", sink: Recorder()) }
    fake_name_set("behind.fake.test", "127.0.0.1")
    let record = try wire.get(wire.server.url("/a", host: "behind.fake.test")) { $0.silence = 20_000_000_000 }
    #expect(record.fault == nil)
    #expect(waitUntil { fake_names_waiting() == 300 })
    wire.transport.stop()
    fake_names_release()
    #expect(waitUntil { fake_names_waiting() == 0 })
  }

  @Test("lookups never have more threads than their limit")
  func bounded() throws {
    let wire = try Wire()
    wire.server.on("/a", .ok("x"))
    for name in stalled(600, "many") { try wire.start("http://\(name)/", sink: Recorder()) }
    #expect(waitUntil(seconds: 60) { fake_names_waiting() == NameLookups.threadLimit })
    #expect(try wire.get("/a").fault == nil)
    #expect(fake_names_waiting() == NameLookups.threadLimit)
    wire.transport.stop()
    fake_names_release()
    #expect(waitUntil { fake_names_waiting() == 0 })
  }

  @Test("a lookup that hangs is a timeout after the silence limit, and the error says so")
  func silent() throws {
    let wire = try Wire()
    let names = stalled(1, "silent")
    let fault = try wire.fault("http://\(names[0])/") { $0.silence = 200_000_000 }
    #expect(fault.kind == .timeout)
    #expect(fault.message.contains("the name wasn't resolved within 0.2 s"))
    // A lookup that begins only now must not wait.
    fake_name_set(names[0], "")
    fake_names_release()
  }

  @Test("a lookup that finds nothing is a `dns` fault, and is made anew for the next transfer")
  func unknown() throws {
    let wire = try Wire()
    wire.server.on("/a", .ok("x"))
    fake_name_set("late.fake.test", ";127.0.0.1")
    let fault = try wire.fault(wire.server.url("/a", host: "late.fake.test"))
    #expect(fault.kind == .dns)
    #expect(fault.message.contains("late.fake.test"))
    #expect(try wire.get(wire.server.url("/a", host: "late.fake.test")).fault == nil)
  }

  @Test("addresses and this machine aren't looked up; names behind a proxy only for the guard")
  func needless() throws {
    let rules = TransportEnvironment { $0 == "https_proxy" ? "http://proxy.example:3128" : nil }
    for url in [
      "http://127.1/", "http://0x7f.1/", "http://[::1]/", "http://localhost/", "http://a.localhost./",
      "https://127.1./", "https://localhost./",
    ] {
      #expect(TransferRoute(TransferRequest(url: try WebURL(url)), rules).name == nil, "\(url)")
    }
    var request = TransferRequest(url: try WebURL("https://a.example/"))
    #expect(TransferRoute(request, rules).name == "a.example")
    request.addressGuard = .any
    #expect(TransferRoute(request, rules).name == nil)
    #expect(TransferRoute(TransferRequest(url: try WebURL("http://a.example./")), rules).name == "a.example.")
  }
}
