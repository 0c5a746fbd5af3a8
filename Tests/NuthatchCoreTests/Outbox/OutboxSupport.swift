import Dispatch
import Glibc
import Synchronization
import TestServer
import Testing

@testable import NuthatchCore

/// A directory, and a place where a server may or may not be.
final class OutboxBench {
  let folder: String
  let source = PretendedNetwork()
  let clock = MovedClock()
  /// Down at first.
  let server: TestServer
  private(set) var cache: Cache?
  private var change: (inout TestOptions) -> Void = { _ in }

  init(_ change: @escaping (inout TestOptions) -> Void = { _ in }) throws {
    Freezer.longestTurn.store(60_000_000_000, ordering: .relaxed)
    folder = try Bench.makeFolder()
    self.change = change
    server = try TestServer.start()
    server.goDown()
    try open()
  }

  deinit {
    close()
    server.stop()
    removeTree(folder)
  }

  func open(_ more: (inout TestOptions) -> Void = { _ in }) throws {
    var options = TestOptions()
    options.outboxRules.base = 20_000_000
    options.reachabilitySource = source
    options.outboxClock = clock.clock
    change(&options)
    more(&options)
    cache = try Cache(path: folder, options: options)
  }

  func close() {
    cache?.close()
    cache = nil
  }

  func url(_ path: String) -> String { server.url(path) }

  func request(
    _ path: String, _ body: String = "seeds", _ change: (inout Request) -> Void = { _ in }
  ) -> Request {
    var request = Request(url(path))
    request.method = "POST"
    request.body = Array(body.utf8)
    request.freezable = true
    change(&request)
    return request
  }

  /// Submits a request that is frozen, and its number.
  func freeze(
    _ path: String, _ body: String = "seeds", _ change: (inout Request) -> Void = { _ in }
  ) throws -> UInt64 {
    let ticket = try #require(cache).submit(request(path, body, change))
    let event = try #require(try ticket.final(within: 20_000))
    #expect(event.kind == .frozen && event.isFinal)
    #expect(event.error?.code == .frozen)
    return try #require(event.error?.outboxID, "\(String(describing: event.error))")
  }

  func list() throws -> [Outbox.Item] { try #require(cache).outbox.list() }

  /// Waits until the outbox is as it should be.
  func wait(_ until: ([Outbox.Item]) -> Bool) throws {
    for _ in 0..<6000 {
      if until(try list()) { return }
      usleep(10_000)
    }
    let flying = cache?.shared.outbox.sender.inFlight.withLock { $0 }
    Issue.record("the outbox, of which \(flying ?? 0) are being sent: \(try list())")
  }

  /// Waits until the outbox has done all that it does by itself now: it sends nothing, and an attempt would have begun
  /// after four ways between its serial queue and the loop.
  func settle() throws {
    let shared = try #require(cache).shared
    let deadline = ContinuousClock.now + .seconds(60)
    var ways = 0
    while ways < 12 {
      let isBack = DispatchSemaphore(value: 0)
      let loop = shared.runtime.loop
      shared.outbox.serialQueue.submit { if !loop.post({ isBack.signal() }) { isBack.signal() } }
      try #require(isBack.wait(timeout: .now() + 60) == .success)
      let sending = shared.outbox.sender.inFlight.withLock { $0 }
      ways = sending > 0 ? 0 : ways + 1
      try #require(ContinuousClock.now < deadline, "\(sending) are still being sent")
    }
  }

  func waitUntilEnded(_ id: UInt64) throws -> Outbox.Outcome {
    try wait { $0.first { $0.id == id }.map { $0.state == .done || $0.state == .dead } ?? true }
    return try #require(try cache?.outbox.outcome(id))
  }
}

/// A network that changes when a test says so.
final class PretendedNetwork: ReachabilitySource {
  private let listeners = Collected<@Sendable () -> Void>()

  func start(_ changed: @escaping @Sendable () -> Void) { listeners.add(changed) }
  func stop() { listeners.add({}) }
  func change() { listeners.values.last?() }
}

/// Clocks that a test moves.
final class MovedClock: Sendable {
  private let moved = Collected<(wall: Int64, running: Int64, boot: UInt64)>()

  /// From now on the wall clock is so many nanoseconds off, the other one so many; or the machine was started anew.
  func move(wall: Int64 = 0, running: Int64 = 0, boot: UInt64 = 7) { moved.add((wall, running, boot)) }

  var clock: OutboxClock {
    let system = OutboxClock.system(.system)
    return OutboxClock {
      let now = system.now()
      let move = self.moved.values.last ?? (0, 0, 7)
      return DurableTime(wall: now.wall + move.wall, running: now.running + move.running, boot: move.boot)
    }
  }
}
