import TestServer
import Testing

@testable import NuthatchCore
@testable import NuthatchStore
@testable import NuthatchTransport

#if canImport(Glibc)
  import Glibc
#endif

/// A schedule that expectations may change.
private final class Probed {
  private var schedule = ProbeSchedule(OutboxRules())

  func adopt(waiting: [Origin: Int64], known: Set<Origin>, at now: Int64) {
    schedule.adopt(waiting: waiting, known: known, at: now)
  }

  func takeDue(at now: Int64) -> [Origin] { schedule.takeDue(at: now) }
  var nextTime: Int64? { schedule.nextTime }
  func noteEnd(of origin: Origin, isReachable: Bool) -> Bool {
    schedule.noteEnd(of: origin, isReachable: isReachable)
  }
  func noteCancel(of origin: Origin) { schedule.noteCancel(of: origin) }
}

/// When servers are probed; the clock stands still until a test moves it.
@Suite("Schedule of the outbox's probes") struct ProbeScheduleTests {
  private static let hour = 3600 * second
  private static let place = QueueBench.origin("a.example")

  /// How long after its return a server is noticed that was away for so long. A probe of a server that is away ends after `patience`.
  private func noticed(after absence: Int64, patience: Int64) -> Int64? {
    let schedule = Probed()
    var now = 1000 * second
    let back = now + absence
    schedule.adopt(waiting: [Self.place: 0], known: [Self.place], at: now)
    while let next = schedule.nextTime, now < back + Self.hour {
      now = max(now, next)
      for origin in schedule.takeDue(at: now) {
        let isReachable = now >= back
        if !isReachable { now += patience }
        if schedule.noteEnd(of: origin, isReachable: isReachable) { return now - back }
      }
    }
    return nil
  }

  @Test("probes notice a server's return within 4 s after ten minutes, and within 25 s after a day")
  func absences() throws {
    for patience in [0, second / 2, 3 * second] {
      for absence in [1, 2, 60, 150, 299, 599, 600] {
        let wait = try #require(noticed(after: Int64(absence) * second, patience: patience))
        #expect(wait >= 0 && wait < 4 * second, "\(absence) s: \(wait)")
      }
      for absence in [700, 3600, 7200, 43_200, 86_400] {
        let wait = try #require(noticed(after: Int64(absence) * second, patience: patience))
        #expect(wait >= 0 && wait < 25 * second, "\(absence) s: \(wait)")
      }
    }
    // What is away for longer is found by attempts, of which there is one in five minutes.
    #expect(noticed(after: 48 * Self.hour, patience: 0) == nil)
  }

  @Test("probes run one at a time for each server, and sixteen at a time in all")
  func bounds() {
    let schedule = Probed()
    let origins = (0..<100).map { QueueBench.origin("h\($0).example") }
    let waiting = Dictionary(uniqueKeysWithValues: origins.map { ($0, Int64(0)) })
    schedule.adopt(waiting: waiting, known: Set(origins), at: 0)
    #expect(schedule.takeDue(at: 0).isEmpty && schedule.nextTime == 3 * second)
    var probed: [Origin: Int] = [:]
    var now = 3 * second
    for _ in 0..<14 {
      let due = schedule.takeDue(at: now)
      #expect(due.count == ProbeSchedule.most && Set(due).count == due.count)
      #expect(schedule.takeDue(at: now).isEmpty && schedule.nextTime == nil)
      for origin in due {
        probed[origin, default: 0] += 1
        #expect(!schedule.noteEnd(of: origin, isReachable: false))
      }
      now += 3 * second
    }
    // Each in its turn.
    #expect(probed.count == 100 && probed.values.allSatisfy { (2...3).contains($0) })
  }

  @Test("a server isn't probed when no request waits for it or one is being sent")
  func ends() {
    let schedule = Probed()
    schedule.adopt(waiting: [Self.place: 0], known: [Self.place], at: 0)
    schedule.adopt(waiting: [:], known: [Self.place], at: 1)
    #expect(schedule.nextTime == nil && schedule.takeDue(at: 100 * second).isEmpty)
    schedule.adopt(waiting: [Self.place: 0], known: [Self.place], at: 2)
    #expect(schedule.nextTime == 3 * second)
    schedule.adopt(waiting: [:], known: [], at: 3)
    schedule.adopt(waiting: [Self.place: 0], known: [Self.place], at: 10 * second)
    #expect(schedule.nextTime == 13 * second)
  }

  @Test(
    "a server that accepts connections but fails its attempt gets no other until it was away again"
  )
  func deceived() {
    let schedule = Probed()
    var now: Int64 = 0
    func probe(_ isReachable: Bool, waits: Bool = true) -> Bool {
      schedule.adopt(waiting: waits ? [Self.place: now] : [:], known: [Self.place], at: now)
      now += 3 * second
      return schedule.takeDue(at: now) == [Self.place]
        && schedule.noteEnd(of: Self.place, isReachable: isReachable)
    }
    #expect(probe(true))
    // The attempt is being made, and fails.
    schedule.adopt(waiting: [:], known: [Self.place], at: now)
    for _ in 0..<5 { #expect(!probe(true)) }
    // A probe that is cancelled says nothing.
    now += 3 * second
    #expect(schedule.takeDue(at: now) == [Self.place])
    schedule.noteCancel(of: Self.place)
    #expect(!probe(true))
    #expect(!probe(false))
    #expect(probe(true))
    #expect(!probe(true))
  }

  @Test("a server's absence counts from the first attempt that found it away, even a forgotten one")
  func absence() {
    func at(_ seconds: Int64) -> DurableTime {
      DurableTime(wall: seconds * second, running: seconds * second, boot: 7)
    }
    func place(_ sequence: UInt64) -> JournalPlace {
      JournalPlace(offset: 128, length: 1, sequence: sequence)
    }
    func attempt(_ seconds: Int64, _ isUnreachable: Bool, _ sequence: UInt64) -> (AttemptRecord, JournalPlace)
    {
      let attempt = AttemptRecord(
        ended: at(seconds), code: nil, status: 0, reason: "", counted: 0, exposed: nil, wait: 0,
        isUnreachable: isUnreachable)
      return (attempt, place(sequence))
    }
    let request = FrozenRequest(
      passedURL: "http://x/", address: "http://x/", method: "POST", headers: [], queue: "q",
      guardGrade: .guarded, silence: nil, maxBytes: 1, attempts: 25, longest: nil, keyLifetime: nil,
      frozen: at(0), exposed: nil, body: .inline([]))
    var entry = OutboxContents.Entry(id: 1, request: request, place: place(1))
    #expect(OutboxRules.absence(entry, at(100)) == 0)
    entry.history = [attempt(10, true, 2), attempt(20, true, 3)]
    #expect(OutboxRules.absence(entry, at(100)) == 90 * second)
    entry.history += [attempt(30, false, 4), attempt(40, true, 5), attempt(50, true, 6)]
    #expect(OutboxRules.absence(entry, at(100)) == 60 * second)
    entry.replayed = (at(45), place(5))
    #expect(OutboxRules.absence(entry, at(100)) == 50 * second)
    entry.replayed = nil
    entry.forgotten = 30
    #expect(OutboxRules.absence(entry, at(100)) == 60 * second)
    entry.history = [attempt(60, true, 7)]
    #expect(OutboxRules.absence(entry, at(100)) == 100 * second)
  }
}

/// Outboxes whose attempts are an hour apart, so that only a probe can bring one sooner.
@Suite("Probes of unreachable servers", .serialized) struct ProbeTests {
  let bench: OutboxBench

  init() throws {
    bench = try OutboxBench {
      $0.outboxRules.base = 3600 * second
      $0.outboxRules.longest = 3600 * second
      $0.outboxRules.probeInterval = 20 * millisecond
      $0.outboxRules.longProbeInterval = 20 * millisecond
    }
  }

  /// Returns whether the server sees no connection for 25 probe intervals.
  private func probingEnds() -> Bool {
    for _ in 0..<100 {
      let accepted = bench.server.acceptedCount
      // Nothing announces that no probe comes.
      usleep(500_000)
      if bench.server.acceptedCount == accepted { return true }
    }
    return false
  }

  /// Waits until the server has accepted so many more connections.
  private func waitForConnections(_ count: Int) {
    let before = bench.server.acceptedCount
    for _ in 0..<6000 where bench.server.acceptedCount < before + count { usleep(10_000) }
    #expect(bench.server.acceptedCount >= before + count)
  }

  @Test(
    "a probe finds a server that is back, so that the request is sent without a network change",
    arguments: [0, 7200])
  func back(away: Int64) throws {
    let id = try bench.freeze("/a")
    try bench.wait { $0.first?.attempts == 1 }
    try bench.settle()
    bench.clock.move(running: away * second)
    bench.server.on("/a", .ok("thanks"))
    try bench.server.goUp()
    #expect(try bench.waitUntilEnded(id).isDone)
    #expect(bench.server.count("/a") == 1)
    // Probes don't count as attempts.
    #expect(try bench.list().first?.attempts == 2)
    // Nothing waits any more, so nothing is probed.
    #expect(probingEnds())
  }

  @Test("a server that accepts and resets connections gets one attempt and no more")
  func deceived() throws {
    _ = try bench.freeze("/a")
    try bench.wait { $0.first?.attempts == 1 }
    bench.server.on("/a", Script(steps: [.reset], sendsHead: false))
    try bench.server.goUp()
    try bench.wait { $0.first?.attempts == 2 }
    waitForConnections(10)
    #expect(bench.server.count("/a") == 1)
    #expect(try bench.list().first?.attempts == 2)
  }

  @Test("probes leave a server alone that has sent Retry-After, even to another request")
  func retryAfter() throws {
    _ = try bench.freeze("/a")
    try bench.wait { $0.first?.attempts == 1 }
    bench.server.on("/a", Script(steps: [.reset], sendsHead: false))
    bench.server.on("/busy", .status(503, headers: ["Retry-After": "250"]))
    try bench.server.goUp()
    waitForConnections(3)
    let cache = try #require(bench.cache)
    var request = Request(bench.url("/busy"))
    request.retries = 0
    #expect(try cache.submit(request).result().status == 503)
    // The outbox hears of the pause when it looks again.
    cache.shared.outbox.look()
    #expect(probingEnds())
  }
}
