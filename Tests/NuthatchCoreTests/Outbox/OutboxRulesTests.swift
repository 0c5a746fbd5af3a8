import Testing

@testable import NuthatchCore
@testable import NuthatchStore

private let oneSecond: Int64 = 1_000_000_000
private let hour = 3600 * oneSecond
private let day = 24 * hour

@Suite("Rules of the outbox") struct OutboxRulesTests {
  let rules = OutboxRules()

  // MARK: judge

  @Test("each status decides whether a frozen request is done, retried, paused or put aside")
  func answers() {
    for status in 100..<700 {
      let verdict = rules.judge(.answer(status: status, retryAfter: nil), attempt: 1, random: 0)
      let wanted: OutboxRules.Verdict =
        switch status {
        case 200...299: .done
        case 401, 403: .pause
        case 408, 425, 429, 500...599: .again(wait: oneSecond / 2)
        default: .putAside("HTTP \(status)")
        }
      #expect(verdict == wanted, "HTTP \(status)")
    }
  }

  @Test("each error code decides whether a frozen request is retried or put aside")
  func failures() {
    // What may be otherwise the next time; everything else stays as it is.
    let passing: Set<ErrorCode> = [
      .timeout, .dns, .refused, .reset, .tls, .http, .truncated, .offline, .circuitOpen, .noSpace, .io,
      .outOfMemory, .internal,
    ]
    for code in ErrorCode.allCases {
      let verdict = rules.judge(.failure(code, status: nil, retryAfter: nil), attempt: 1, random: 0)
      #expect(
        verdict == (passing.contains(code) ? .again(wait: oneSecond / 2) : .putAside(code.word)), "\(code)")
    }
    // An answer that came and can't be read: its status tells what the server has made of the request.
    for (status, wanted) in [
      (200, .putAside("http")), (404, .putAside("HTTP 404")), (503, .again(wait: oneSecond / 2)),
      (403, .pause),
    ] as [(Int, OutboxRules.Verdict)] {
      let verdict = rules.judge(.failure(.http, status: status, retryAfter: nil), attempt: 1, random: 0)
      #expect(verdict == wanted, "\(status)")
    }
  }

  @Test(
    "the outbox's wait doubles up to five minutes, with jitter, and follows Retry-After up to a day",
    arguments: [
      (1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (6, 32), (7, 64), (8, 128), (9, 256), (10, 300), (11, 300),
      (64, 300), (1_000_000, 300), (0, 1), (-5, 1),
    ] as [(Int, Int64)])
  func waits(_ attempt: Int, _ seconds: Int64) throws {
    func wait(_ random: UInt64, _ retryAfter: Int64? = nil) -> Int64? {
      let result = OutboxRules.Result.answer(status: 503, retryAfter: retryAfter)
      guard case .again(let wait) = rules.judge(result, attempt: attempt, random: random) else { return nil }
      return wait
    }
    let bound = seconds * oneSecond
    #expect(wait(0) == bound / 2)
    let (middle, most) = (try #require(wait(.max / 2)), try #require(wait(.max)))
    #expect(abs(middle - bound * 3 / 4) <= 1 && most < bound && most > bound - 10)
    // A server that asks for more gets it, up to a day; less than the own wait counts for nothing.
    #expect(wait(0, 600 * oneSecond) == 600 * oneSecond)
    #expect(wait(0, 3 * day) == day)
    #expect(wait(0, 0) == bound / 2 && wait(0, -7) == bound / 2 && wait(0, 1) == bound / 2)
  }

  @Test("error codes tell what can't have reached a server, and what a changed network may mend")
  func reached() {
    let unsent: Set<ErrorCode> = [.dns, .refused, .tls, .circuitOpen, .denied, .badURL, .badHeader, .offline]
    let unreachable: Set<ErrorCode> = [.dns, .refused, .tls, .circuitOpen, .timeout, .reset]
    for code in ErrorCode.allCases {
      #expect(code.isUnsent == unsent.contains(code), "\(code)")
      #expect(code.isUnreachable == unreachable.contains(code), "\(code)")
      let plain = OutboxRules.Result.failure(code, status: nil, retryAfter: nil)
      #expect(plain.headlessFailure == code, "\(code)")
      // An answer that broke off has been given by a server.
      let answered = OutboxRules.Result.failure(code, status: 200, retryAfter: nil)
      #expect(answered.headlessFailure == nil, "\(code)")
    }
    for status in [200, 401, 503] {
      #expect(OutboxRules.Result.answer(status: status, retryAfter: nil).headlessFailure == nil)
    }
  }

  // MARK: hindrance

  /// A request in the outbox, some time after it was frozen.
  private struct Case {
    var method = "POST"
    var attempts = 25
    var longest: Int64? = 7 * day
    var keyLifetime: Int64? = day
    /// Since when it may have been known to its server; nil: not at all.
    var exposed: Int64?
    var counted = 0
    /// Whether an attempt's record stands in the log.
    var hasTried = false
    var begun: Int64?
    var replayed: Int64?
    var now: Int64
    var wanted: String?

    var entry: OutboxContents.Entry {
      var request = FrozenRequest(
        passedURL: "http://x/", address: "http://x/", method: method, headers: [], queue: "q",
        guardGrade: .guarded, silence: nil, maxBytes: 1, attempts: attempts, longest: longest,
        keyLifetime: keyLifetime, frozen: at(0), exposed: nil, body: .inline([]))
      if !hasTried { request.exposed = exposed.map { at($0) } }
      var entry = OutboxContents.Entry(id: 1, request: request, place: place(1))
      if hasTried {
        entry.history = [
          (
            AttemptRecord(
              ended: at(0), code: nil, status: 503, reason: "", counted: counted,
              exposed: exposed.map { at($0) }, wait: 0, isUnreachable: false), place(2)
          )
        ]
      }
      entry.begun = begun.map { (at($0), place(4)) }
      entry.replayed = replayed.map { (at($0), place(3)) }
      return entry
    }
  }

  @Test("a frozen request is put aside for its attempts, its age or its expired key, and nothing else")
  func hindrances() {
    let late = "the server may have received it, and its Idempotency-Key has expired after 86400 s"
    let cases: [Case] = [
      Case(now: 0),
      // Age.
      Case(now: 7 * day), Case(now: 7 * day + 1, wanted: "too old: it has waited for 604800 s"),
      Case(longest: nil, now: 1000 * day),
      Case(longest: 5 * oneSecond, now: 6 * oneSecond, wanted: "too old: it has waited for 5 s"),
      Case(longest: 0, now: 1, wanted: "too old: it has waited for 0 s"),
      // A replay begins anew, also where it is the second.
      Case(replayed: 7 * day, now: 14 * day),
      Case(replayed: 7 * day, now: 14 * day + 1, wanted: "too old: it has waited for 604800 s"),
      // Attempts.
      Case(counted: 24, hasTried: true, now: 0),
      Case(counted: 25, hasTried: true, now: 0, wanted: "too many attempts: 25"),
      Case(attempts: 0, counted: 0, hasTried: true, now: 0),
      Case(attempts: 0, counted: 1, hasTried: true, now: 0, wanted: "too many attempts: 1"),
      Case(counted: 25, hasTried: true, replayed: 1, now: 0),
      // The key.
      Case(exposed: 0, now: day), Case(exposed: 0, now: day + 1, wanted: late),
      Case(exposed: 0, hasTried: true, now: day + 1, wanted: late),
      Case(method: "PATCH", exposed: 0, now: day + 1, wanted: late),
      Case(method: "PUT", exposed: 0, now: 2 * day), Case(method: "DELETE", exposed: 0, now: 2 * day),
      Case(keyLifetime: nil, exposed: 0, now: 2 * day),
      Case(exposed: nil, now: 6 * day),
      // An attempt without a recorded end may have arrived.
      Case(begun: 0, now: day), Case(begun: 0, now: day + 1, wanted: late),
      Case(exposed: 0, begun: 5 * hour, now: day + 1, wanted: late),
      Case(exposed: nil, hasTried: true, begun: 2 * hour, now: day + hour),
      Case(exposed: nil, hasTried: true, begun: 2 * hour, now: day + 3 * hour, wanted: late),
      // A replay sends it again, even if the server has forgotten the key.
      Case(exposed: 0, replayed: day, now: day + 1),
      Case(exposed: 0, begun: day + 1, replayed: day, now: 2 * day + 2, wanted: late),
    ]
    for (number, one) in cases.enumerated() {
      #expect(OutboxRules.hindrance(one.entry, at(one.now)) == one.wanted, "case \(number)")
    }
  }

  // MARK: delay

  @Test("a frozen request waits for the rest of its delay, also after changes of the clock")
  func delays() {
    func entry(_ wait: Int64?, ended: DurableTime, replayed: Bool = false) -> OutboxContents.Entry {
      var entry = Case(now: 0).entry
      entry.history = [
        (
          AttemptRecord(
            ended: ended, code: nil, status: 503, reason: "", counted: 1, exposed: nil, wait: wait,
            isUnreachable: false), place(2)
        )
      ]
      entry.replayed = replayed ? (at(0), place(3)) : nil
      return entry
    }
    #expect(OutboxRules.delay(Case(now: 0).entry, at(0), seen: nil) == 0)
    #expect(OutboxRules.delay(entry(nil, ended: at(0)), at(day), seen: nil) == nil)
    #expect(OutboxRules.delay(entry(nil, ended: at(0), replayed: true), at(0), seen: nil) == 0)
    #expect(OutboxRules.delay(entry(hour, ended: at(0), replayed: true), at(0), seen: nil) == 0)
    for (passed, left) in [(0, hour), (1, hour - 1), (hour - 1, 1), (hour, 0), (day, 0)] as [(Int64, Int64)] {
      #expect(OutboxRules.delay(entry(hour, ended: at(0)), at(passed), seen: nil) == left)
    }
    // While the machine runs, the wall clock doesn't count.
    for wall in [-20 * 365 * day, 20 * 365 * day] {
      #expect(OutboxRules.delay(entry(hour, ended: at(0)), at(10, wall: wall), seen: nil) == hour - 10)
    }
    // After a restart the wall clock does, where it went on; and where it went back, the time since this process looked.
    let restarted = at(5, wall: 20 * oneSecond, boot: 8)
    #expect(OutboxRules.delay(entry(hour, ended: at(0)), restarted, seen: nil) == hour - 20 * oneSecond)
    let back = at(5, wall: -day, boot: 8)
    #expect(OutboxRules.delay(entry(hour, ended: at(0)), back, seen: nil) == hour)
    let seen = at(5, wall: -day, boot: 8)
    let later = at(5 + 30 * oneSecond, wall: -day + 30 * oneSecond, boot: 8)
    #expect(OutboxRules.delay(entry(hour, ended: at(0)), later, seen: seen) == hour - 30 * oneSecond)
    // In the same run of the machine it makes no difference when this process looked.
    #expect(OutboxRules.delay(entry(hour, ended: at(0)), at(10), seen: at(-hour)) == hour - 10)
  }

  @Test("the age of a DurableTime is right after restarts and changes of the clock")
  func ages() {
    #expect(at(0).age(at: at(7)) == 7 && at(7).age(at: at(0)) == 0)
    #expect(at(0, wall: 0).age(at: at(7, wall: -day)) == 7)
    #expect(at(0, wall: 0).age(at: at(7, wall: 9, boot: 8)) == 9)
    #expect(at(0, wall: day).age(at: at(7, wall: 0, boot: 8)) == 0)
    // It is unknown which start of the machine that was.
    #expect(at(0, wall: 0, boot: 0).age(at: at(7, wall: 9, boot: 0)) == 9)
    let far = DurableTime(wall: .min, running: .min, boot: 7)
    #expect(far.age(at: DurableTime(wall: .max, running: .max, boot: 7)) == .max)
    #expect(far.age(at: DurableTime(wall: .max, running: .max, boot: 8)) == .max)
  }
}

private func at(_ running: Int64, wall: Int64? = nil, boot: UInt64 = 7) -> DurableTime {
  DurableTime(wall: wall ?? running, running: running, boot: boot)
}

private func place(_ sequence: UInt64) -> JournalPlace {
  JournalPlace(offset: 0, length: 1, sequence: sequence)
}
