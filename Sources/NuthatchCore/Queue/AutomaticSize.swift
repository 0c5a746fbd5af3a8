/// The number of requests that run at once over a link, adapted by measurement: additive increase, multiplicative decrease.
///
/// Answers are compared with their host's own baseline (`HostLatency`) and collected in windows. A window ends when it has 16
/// answers and is 100 ms old, or with the first answer after 2 s. Each host that answered in it has one vote, by the majority
/// of its answers. So a few late answers, or one slow host, decide nothing:
///
/// - More than half of the hosts are strained: the size is multiplied by 0.7, or by 0.5 if the window had a time-out. Requests
///   that began before that don't count any more, so that one overload shrinks the size only once.
/// - More than half of the hosts are calm, twice in a row, while work waited only for a place: the size grows by an eighth of the
///   start size, at least by 1.
/// - Otherwise the size stays.
///
/// A host's first answer counts as calm. Time-outs count for hosts that have answered before; the circuit deals with a host
/// that never answered. The size stays between floor and ceiling.
///
/// A batch has many URLs, often of many hosts, and each host has its own limit. While requests of a batch wait only for a place:
///
/// - The ceiling is that of batches.
/// - Every calm answer adds a place until the size shrinks for the first time, after that every fourth.
/// - A strained window halves the size. If it had no time-out, and the present size brings clearly more answers a second than
///   half of it did, the size stays.
struct AutomaticSize {
  struct Range: Equatable, Sendable {
    var start: Int
    var floor: Int
    var ceiling: Int
    /// The start size and ceiling while a batch waits.
    var batchStart: Int
    var batchCeiling: Int

    init(start: Int, floor: Int, ceiling: Int, batchStart: Int? = nil, batchCeiling: Int? = nil) {
      (self.start, self.floor, self.ceiling) = (start, floor, ceiling)
      self.batchStart = batchStart ?? start
      self.batchCeiling = batchCeiling ?? ceiling
    }

    /// Returns the range, limited to the number of file descriptors.
    func limited(to most: Int) -> Range {
      let most = max(1, most)
      return Range(
        start: min(start, most), floor: min(floor, most), ceiling: min(ceiling, most),
        batchStart: min(batchStart, most), batchCeiling: min(batchCeiling, most))
    }
  }

  private struct Votes {
    var all = 0
    var calm = 0
    var strained = 0
  }

  private(set) var size: Int
  let range: Range

  private var votes: [UInt32: Votes] = [:]
  private var answers = 0
  private var windowStart: Int64?
  private var sawTimeOut = false
  private var sawBacklog = false
  private var calmWindows = 0
  private var shrunkAt: Int64 = .min

  /// Whether a batch waited for places in the previous window, or waits in this one.
  private var isBatch = false
  private var sawBatch = false
  private var hasShrunk = false
  private var calmSinceStep = 0
  private var answerRates = AnswerRates()

  /// `most` limits all numbers of the range.
  init(_ range: Range, most: Int) {
    self.range = range.limited(to: most)
    size = self.range.start
  }

  /// Notes that work waits only for a place. `isBatch`: requests of a batch do.
  mutating func noteBacklog(isBatch: Bool) {
    sawBacklog = true
    guard isBatch else { return }
    sawBatch = true
    guard !self.isBatch else { return }
    self.isBatch = true
    if !hasShrunk { size = max(size, range.batchStart) }
  }

  /// Notes an answer of `host` to a request that began at `start`.
  mutating func noteAnswer(
    host: UInt32, _ judgement: HostLatency.Judgement, began start: Int64, at now: Int64
  ) {
    guard start >= shrunkAt else { return }
    votes[host, default: Votes()].all += 1
    switch judgement {
    case .calm, .unknown:
      votes[host, default: Votes()].calm += 1
      growForBatch()
    case .strained: votes[host, default: Votes()].strained += 1
    case .between: break
    }
    count(at: now)
  }

  /// Notes a time-out of a host that had answered before.
  mutating func noteTimeOut(host: UInt32, began start: Int64, at now: Int64) {
    guard start >= shrunkAt else { return }
    votes[host, default: Votes()].all += 1
    votes[host, default: Votes()].strained += 1
    sawTimeOut = true
    count(at: now)
  }

  private mutating func count(at now: Int64) {
    answers += 1
    let begin = windowStart ?? now
    windowStart = begin
    let age = now &- begin
    if (answers >= 16 && age >= 100_000_000) || age >= 2_000_000_000 { endWindow(at: now) }
  }

  /// Grows at calm answers, not only at the end of a window: a short batch may end before that.
  private mutating func growForBatch() {
    guard isBatch, sawBatch, size < range.batchCeiling else { return }
    calmSinceStep += 1
    guard calmSinceStep >= (hasShrunk ? 4 : 1) else { return }
    calmSinceStep = 0
    size += 1
  }

  private mutating func endWindow(at now: Int64) {
    let strained = votes.values.count { $0.strained * 2 > $0.all }
    let calm = votes.values.count { $0.calm * 2 > $0.all }
    let isWorthIt = isBatch && answerRates.note(answers, at: size, nanoseconds: now &- (windowStart ?? now))
    if strained * 2 > votes.count {
      calmWindows = 0
      if sawTimeOut || !isWorthIt { shrink(at: now) }
    } else if calm * 2 > votes.count {
      calmWindows += 1
      if calmWindows >= 2, sawBacklog, !isBatch, size < range.ceiling {
        size = min(range.ceiling, size + max(1, range.start / 8))
      }
    } else {
      calmWindows = 0
    }
    votes.removeAll(keepingCapacity: true)
    answers = 0
    windowStart = nil
    sawTimeOut = false
    sawBacklog = false
    isBatch = sawBatch
    sawBatch = false
  }

  private mutating func shrink(at now: Int64) {
    size = max(range.floor, min(size - 1, size * (sawTimeOut || isBatch ? 5 : 7) / 10))
    shrunkAt = now
    hasShrunk = true
  }
}

/// The answers a second at each size. A size is worth it if half of it brings clearly fewer.
private struct AnswerRates {
  /// The index is the logarithm (base 2) of the size.
  private var perSecond = [Double?](repeating: nil, count: 16)

  /// - Returns: whether this size brings clearly more answers a second than half of it. False if half of it was never measured.
  mutating func note(_ answers: Int, at size: Int, nanoseconds: Int64) -> Bool {
    guard nanoseconds > 0, size > 0 else { return false }
    let rate = Double(answers) / Double(nanoseconds) * 1e9
    let place = min(size.bitWidth - 1 - size.leadingZeroBitCount, perSecond.count - 1)
    let known = perSecond[place].map { $0 * 0.7 + rate * 0.3 } ?? rate
    perSecond[place] = known
    guard place > 0, let ofHalf = perSecond[place - 1] else { return false }
    return known > 1.2 * ofHalf
  }
}
