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
@Suite("An outbox whose lock another process holds") struct HeldOutboxTests {
  let bench: OutboxBench
  let frozen: UInt64

  init() throws {
    bench = try OutboxBench()
    frozen = try bench.freeze("/down") { $0.freezing?.queue = "down" }
    // Its first attempt has been written down.
    try bench.wait { $0.first.map { $0.state == .waiting && !$0.history.isEmpty } ?? false }
  }

  private func seconds(_ body: () throws -> Void) throws -> Double {
    let begin = nhs_monotonic_ns()
    try body()
    return Double(nhs_monotonic_ns() - begin) / 1e9
  }

  @Test("a held outbox is listed without a wait")
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
    // Thirty calls that wait would take two minutes.
    #expect(taken < 40)
    _ = consume held
  }

  @Test("a freezable request to a reachable server is sent within its deadline while the outbox is held")
  func sending() throws {
    bench.server.on("/a", .ok("thanks"))
    try bench.server.goUp()
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

  @Test("eight requests that can't be frozen in a held outbox are `busy` within 8 s in all")
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

  @Test("dropping a request of a held outbox is `busy` after 5 s")
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
