import Glibc
import NuthatchStore
import TestServer
import Testing

@testable import NuthatchCore

/// Records, as versions up to 7dd1df2 wrote them, of requests whose program was asked for a name and password.
@Suite("Outbox records of earlier versions", .serialized) struct OldRecordTests {
  /// The payloads of a log, in hexadecimal digits, and the origin of their request.
  struct Log: CustomTestStringConvertible {
    let testDescription: String
    let origin: String
    let payloads: [String]

    /// - Parameter origin: takes the place of the old one.
    func payloads(for origin: String) -> [[UInt8]] {
      payloads.map { digits in
        var bytes = stride(from: 0, to: digits.utf8.count, by: 2).compactMap { place in
          UInt8(digits.dropFirst(place).prefix(2), radix: 16)
        }
        for path in ["", "/a"] { replace(self.origin + path, by: origin + path, in: &bytes) }
        return bytes
      }
    }

    private func replace(_ old: String, by new: String, in bytes: inout [UInt8]) {
      func text(_ text: String) -> [UInt8] {
        var encoder = RecordEncoder()
        encoder.put(text)
        return encoder.bytes
      }
      bytes.replace(text(old), with: text(new))
    }
  }

  private static let mayBeAsked = Log(
    testDescription: "its program would have been asked", origin: "http://127.0.0.1:38939",
    payloads: [
      "01011001c93f920f9181eb18e9d44b1cc423000007000000000000000018000000687474703a2f2f3132372e302e302e31"
        + "3a33383933392f6118000000687474703a2f2f3132372e302e302e313a33383933392f6104000000504f535403000000"
        + "0f0000004964656d706f74656e63792d4b6579030000002237220a000000557365722d4167656e740e0000006e757468"
        + "617463682f302e312e3006000000416363657074030000002a2f2a00000000000016000000687474703a2f2f3132372e"
        + "302e302e313a333839333900000000000000ac23fc06000000000000040000000019000000ffffffffffffffffffffff"
        + "ffffffffff0005000000736565647316000000687474703a2f2f3132372e302e302e313a333839333900"
    ])

  private static let answered = Log(
    testDescription: "its program has answered", origin: "http://127.0.0.1:38451",
    payloads: [
      "01011001f8a00d0e9181eb180436c71ac4230000070000000000000001b235d50d9181eb18beca8e1ac423000007000000"
        + "0000000018000000687474703a2f2f3132372e302e302e313a33383435312f6118000000687474703a2f2f3132372e30"
        + "2e302e313a33383435312f6104000000504f5354030000000f0000004964656d706f74656e63792d4b65790300000022"
        + "37220a000000557365722d4167656e740e0000006e757468617463682f302e312e3006000000416363657074030000"
        + "002a2f2a00000000000016000000687474703a2f2f3132372e302e302e313a333834353100000000000000ac23fc0600"
        + "0000000000040000000019000000ffffffffffffffffffffffffffffffff000500000073656564731600000068747470"
        + "3a2f2f3132372e302e302e313a333834353101"
    ])

  private static let killed = Log(
    testDescription: "a kill came after its program had answered", origin: "http://127.0.0.1:41981",
    payloads: [
      "010114013174260c9181eb18d908e018c42300000700000000000000013174260c9181eb18d908e018c423000007000000"
        + "0000000018000000687474703a2f2f3132372e302e302e313a34313938312f6118000000687474703a2f2f3132372e30"
        + "2e302e313a34313938312f6104000000504f5354030000000f0000004964656d706f74656e63792d4b65790300000022"
        + "37220a000000557365722d4167656e740e0000006e757468617463682f302e312e3006000000416363657074030000"
        + "002a2f2a00000000000016000000687474703a2f2f3132372e302e302e313a343139383100000000000000ac23fc0600"
        + "0000000000040000000019000000ffffffffffffffffffffffffffffffff000500000073656564731600000068747470"
        + "3a2f2f3132372e302e302e313a343139383100",
      "01070100000000000000030000000f0000004964656d706f74656e63792d4b6579030000002237220a000000557365722d"
        + "4167656e740e0000006e757468617463682f302e312e3006000000416363657074030000002a2f2a0000000001",
    ])

  private static let challenged = Log(
    testDescription: "a kill came after its program had answered a challenge",
    origin: "http://127.0.0.1:46621",
    payloads: [
      "0101040185e77f0d9181eb18af7c391ac423000007000000000000000185e77f0d9181eb18af7c391ac423000007000000"
        + "0000000018000000687474703a2f2f3132372e302e302e313a34363632312f6118000000687474703a2f2f3132372e30"
        + "2e302e313a34363632312f6104000000504f5354030000000f0000004964656d706f74656e63792d4b65790300000022"
        + "37220a000000557365722d4167656e740e0000006e757468617463682f302e312e3006000000416363657074030000"
        + "002a2f2a00000000000016000000687474703a2f2f3132372e302e302e313a343636323100000000000000ac23fc0600"
        + "0000000000040000000019000000ffffffffffffffffffffffffffffffff00050000007365656473",
      "01070100000000000000040000000f0000004964656d706f74656e63792d4b65790300000022372206000000582d537465"
        + "7001000000320a000000557365722d4167656e740e0000006e757468617463682f302e312e3006000000416363657074"
        + "030000002a2f2a0000000000",
    ])

  private let bench: OutboxBench

  init() throws {
    bench = try OutboxBench()
    bench.close()
    try bench.server.goUp()
  }

  private func open(_ log: Log) throws {
    let journal = Journal(bench.folder, OutboxContents())
    for payload in log.payloads(for: bench.url("")) {
      _ = try journal.changing(makes: true) { (journal) throws(StoreFault) in try journal.append(payload) }
    }
    try bench.open()
  }

  @Test(
    "a record of an earlier version waits until name and password are provided",
    arguments: [mayBeAsked, answered, killed])
  func waitsForSecret(_ log: Log) throws {
    let basic = "Basic YW5uOmh1c2g="
    bench.server.on("/a") {
      $0.headers["Authorization"] == basic
        ? .ok("in") : .status(401).with("WWW-Authenticate", "Basic realm=\"x\"")
    }
    try open(log)
    let origin = bench.url("")
    guard case .secretWanted(let wanted) = try bench.cache?.nextNotice(within: 20_000) else {
      Issue.record("nobody was asked")
      return
    }
    #expect(wanted == origin)
    try bench.settle()
    let item = try #require(try bench.list().first)
    #expect(item.state == .waiting && item.code == .secretNeedsProvider)
    #expect(item.reason == "this process has no secret of the provider: \(origin)")
    #expect(bench.server.count("/a") == 0)
    try bench.cache?.outbox.provide(origin, "ann:hush")
    #expect(try bench.waitUntilEnded(item.id).body == Array("in".utf8))
    let sent = bench.server.requests("/a")
    #expect(sent.last?.headers["Authorization"] == basic)
    #expect(sent.last?.headers["Idempotency-Key"] == "\"7\"" && sent.last?.body == Array("seeds".utf8))
  }

  @Test("a record of an earlier version whose challenge was answered is sent as before")
  func sendsAsBefore() throws {
    bench.server.on("/a", .ok("in"))
    try open(Self.challenged)
    let id = try #require(try bench.list().first?.id)
    #expect(try bench.waitUntilEnded(id).isDone)
    #expect(bench.server.requests("/a").map { $0.headers["X-Step"] } == [nil])
  }
}
