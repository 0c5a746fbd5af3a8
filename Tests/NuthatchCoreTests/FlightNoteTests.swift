import Synchronization
import TestServer
import Testing

@testable import NuthatchCore

#if canImport(Glibc)
  import Glibc
#endif

/// A disk that doesn't answer until a test lets it.
private final class HungDisk: Sendable {
  private let isHung = Atomic(true)
  let waiting = Atomic(0)

  func wait() {
    waiting.add(1, ordering: .relaxed)
    while isHung.load(ordering: .acquiring) { usleep(1000) }
  }

  func goOn() { isHung.store(false, ordering: .releasing) }
}

@Suite("Notes on fetches, on a disk that doesn't answer") struct FlightNoteTests {
  private let disk: HungDisk
  private let bench: Bench

  init() throws {
    let disk = HungDisk()
    self.disk = disk
    bench = try Bench { $0.beforeNotes = { disk.wait() } }
  }

  private func place(_ path: String) throws -> Int64 {
    let plan = try RequestPlan(Request(bench.server.url(path)), Options(), TermsCache())
    return FetchLocks.place(of: plan.name.key.hash.low)
  }

  /// Ends by the loop's timer alone.
  private func expectLoopRuns() throws {
    bench.server.on("/never", Script.ok("x").after(.wait("never")))
    var request = Request(bench.server.url("/never"))
    request.deadline = .milliseconds(1)
    request.policy = .reload
    #expect(try bench.cache.submit(request).final(within: 60_000)?.error?.code == .timeout)
  }

  @Test("a hanging disk doesn't delay a fetch's error, and the note is written before the lock is released")
  func vain() throws {
    defer { disk.goOn() }
    bench.server.on("/a", Script(steps: [.reset], sendsHead: false))
    let (place, others) = (try place("/a"), FetchLocks(directory: bench.folder))
    let ticket = try bench.cache.submit(Request(bench.server.url("/a")))
    #expect(try ticket.final(within: 60_000)?.error?.code == .reset)
    try expectLoopRuns()
    for _ in 0..<60_000 where disk.waiting.load(ordering: .relaxed) == 0 { usleep(1000) }
    #expect(!others.tryTake(place) && !others.storedNothing(place, since: 1, now: .max))
    disk.goOn()
    var isFree = false
    for _ in 0..<60_000 where !isFree {
      isFree = others.tryTake(place)
      if !isFree { usleep(1000) }
    }
    #expect(isFree && others.storedNothing(place, since: 1, now: .max))
    others.release(place)
  }

  @Test("a waiting process fetches by itself if a hanging disk keeps it from reading the owner's heartbeat")
  func silent() throws {
    defer { disk.goOn() }
    bench.server.on("/a", .ok("x"))
    let (place, others) = (try place("/a"), FetchLocks(directory: bench.folder))
    #expect(others.tryTake(place))
    var request = Request(bench.server.url("/a"))
    // The owner may be silent for 3 s at least.
    request.timeout = .milliseconds(3000)
    let ticket = try bench.cache.submit(request)
    for _ in 0..<60_000 where disk.waiting.load(ordering: .relaxed) == 0 { usleep(1000) }
    try expectLoopRuns()
    #expect(bench.server.waitForRequests(1, path: "/a"))
    disk.goOn()
    #expect(try ticket.result().text == "x")
    others.release(place)
  }

  @Test("hanging notes of several caches hold up no other cache")
  func manyCaches() throws {
    defer { disk.goOn() }
    let other = try Bench()
    let runtime = other.cache.shared.runtime
    let benches = try (0..<min(runtime.workers.width, runtime.writers.width)).map { _ in
      try Bench { [disk] in $0.beforeNotes = { disk.wait() } }
    }
    let tickets = try benches.map { bench in
      bench.server.on("/a", Script.ok("x").after(.wait("gate")))
      return try bench.cache.submit(Request(bench.server.url("/a")))
    }
    for _ in 0..<60_000 where disk.waiting.load(ordering: .relaxed) < benches.count { usleep(1000) }
    other.server.on("/b", .ok("other"))
    let answer = try other.cache.submit(Request(other.server.url("/b"))).final(within: 60_000)
    #expect(answer?.response?.text == "other")
    disk.goOn()
    for (bench, ticket) in zip(benches, tickets) {
      bench.server.gate("gate").open()
      #expect(try ticket.result().text == "x")
    }
  }

  @Test("a fetch under way writes one heartbeat at a time")
  func signs() throws {
    defer { disk.goOn() }
    bench.server.on("/a", Script.ok("x").after(.wait("gate")))
    let ticket = try bench.cache.submit(Request(bench.server.url("/a")))
    #expect(bench.server.gate("gate").waitUntilReached(1))
    for _ in 0..<60_000 where disk.waiting.load(ordering: .relaxed) == 0 { usleep(1000) }
    try expectLoopRuns()
    // Heartbeats are due once a second, so a second one would wait as well by now.
    usleep(2_500_000)
    #expect(disk.waiting.load(ordering: .relaxed) == 1)
    disk.goOn()
    bench.server.gate("gate").open()
    #expect(try ticket.result().text == "x")
    let (place, others) = (try place("/a"), FetchLocks(directory: bench.folder))
    // A worker writes it, perhaps after the answer was given.
    for _ in 0..<60_000 where others.lastHeartbeat(place, now: .max) == nil { usleep(1000) }
    #expect(others.lastHeartbeat(place, now: .max) != nil)
  }
}
