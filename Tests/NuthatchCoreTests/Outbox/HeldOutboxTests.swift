import CSystem
import Glibc
import TestServer
import Testing

@testable import NuthatchCore

/// Byte 0 of the outbox's lock, held by another opening of its file, as a process that was stopped holds it.
private struct HeldOutbox: ~Copyable {
  private let fd: Int32

  init(_ bench: OutboxBench) throws {
    fd = open(bench.folder + "/outbox/lock", O_RDWR)
    // The outbox itself may have it at this moment.
    try #require(fd >= 0 && nhs_lock_byte(fd, 0, CChar(UInt8(ascii: "w")), 1) == 0)
  }

  deinit { close(fd) }
}

/// No bound is near to what a call takes that waits: that is 5 s, or more where waits add up.
@Suite("While another process changes the outbox, and does nothing") struct HeldOutboxTests {
  let bench: OutboxBench
  let frozen: UInt64

  init() throws {
    bench = try OutboxBench()
    frozen = try bench.freeze("/down") { $0.freezing?.queue = "down" }
    // Nothing is being written down of it.
    try bench.wait { $0.first.map { $0.state == .waiting && !$0.history.isEmpty } ?? false }
  }

  private func seconds(_ body: () throws -> Void) throws -> Double {
    let begin = nhs_monotonic_ns()
    try body()
    return Double(nhs_monotonic_ns() - begin) / 1e9
  }

  @Test("what it has is looked at without a wait, by others, too")
  func looking() throws {
    let held = try HeldOutbox(bench)
    let outbox = try #require(bench.cache).outbox
    let taken = try seconds { () throws in
      for _ in 0..<10 {
        #expect(try outbox.list().map(\.id) == [frozen])
        #expect(try outbox.item(frozen)?.id == frozen)
        #expect(try outbox.outcome(frozen) == nil)
      }
    }
    #expect(taken < 4)
    _ = consume held
  }

  @Test("a request to a server that is there is sent within its deadline")
  func sending() throws {
    try bench.server.goUp()
    bench.server.on("/a", .ok("thanks"))
    let held = try HeldOutbox(bench)
    let cache = try #require(bench.cache)
    let tickets = try (0..<8).map { number in
      try cache.submit(
        bench.request("/a") {
          $0.deadline = .milliseconds(10_000)
          $0.freezing?.queue = "\(number)"
        })
    }
    for ticket in tickets { #expect(try ticket.final(within: 60_000)?.response?.text == "thanks") }
    _ = consume held
  }

  @Test("what can't be kept is told within the time of one, with the name of the owner")
  func keeping() throws {
    let held = try HeldOutbox(bench)
    let cache = try #require(bench.cache)
    let taken = try seconds { () throws in
      let tickets = try (0..<8).map { number in
        try cache.submit(bench.request("/a") { $0.freezing?.queue = "\(number)" })
      }
      for ticket in tickets {
        let error = try #require(try ticket.final(within: 60_000)?.error)
        #expect(error.code == .busy && error.message.contains("process \(getpid()) ("))
      }
    }
    #expect(taken < 8)
    _ = consume held
    #expect(try bench.freeze("/a") > frozen)
  }

  @Test("a removal that its caller asked for waits five seconds, and is busy then")
  func dropping() throws {
    let held = try HeldOutbox(bench)
    let outbox = try #require(bench.cache).outbox
    let taken = try seconds { () throws in
      let error = #expect(throws: NuthatchError.self) { try outbox.drop(frozen) }
      #expect(error?.code == .busy)
    }
    #expect(taken >= 4.9)
    _ = consume held
    #expect(try outbox.drop(frozen))
  }
}
