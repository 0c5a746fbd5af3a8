/// How many requests run at once over a link, adapted to what is measured: additive growth, multiplicative
/// shrinking.
///
/// Answers are judged by their host's own baseline (`HostLatency`) and collected in windows. A window ends
/// with its 16th answer, not before 100 ms; or with the first answer after 2 s. Each host that answered in it
/// has one vote, the one that most of its answers support, so that one slow host, however busy, decides
/// nothing about the others:
///
/// - more than half of the hosts strained: the size is multiplied by 0.7, by 0.5 when a time-out was among
///   it. What began before that counts no more, so that one jam shrinks it once.
/// - more than half of them calm, twice in a row, while work waited for nothing but a place: the size grows
///   by an eighth of the start size, at least 1.
/// - anything between leaves it alone.
///
/// A host's first answer counts as calm. Time-outs count for hosts that have answered before; what never
/// answered is the circuit's business. The size stays between floor and ceiling.
struct AutomaticSize {
  struct Range: Equatable, Sendable {
    var start: Int
    var floor: Int
    var ceiling: Int
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

  /// `most` bounds the ceiling: what there are descriptors for.
  init(_ range: Range, most: Int) {
    let ceiling = max(1, min(range.ceiling, most))
    self.range = Range(
      start: min(range.start, ceiling), floor: min(range.floor, ceiling), ceiling: ceiling)
    size = self.range.start
  }

  /// Work waits for nothing but a place.
  mutating func noteBacklog() { sawBacklog = true }

  /// An answer of `host` to a request that began at `start`.
  mutating func noteAnswer(
    host: UInt32, _ judgement: HostLatency.Judgement, began start: Int64, at now: Int64
  ) {
    guard start >= shrunkAt else { return }
    votes[host, default: Votes()].all += 1
    switch judgement {
    case .calm, .unknown: votes[host, default: Votes()].calm += 1
    case .strained: votes[host, default: Votes()].strained += 1
    case .between: break
    }
    count(at: now)
  }

  /// A host that had answered before fell silent.
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

  private mutating func endWindow(at now: Int64) {
    let strained = votes.values.count { $0.strained * 2 > $0.all }
    let calm = votes.values.count { $0.calm * 2 > $0.all }
    if strained * 2 > votes.count {
      size = max(range.floor, min(size - 1, size * (sawTimeOut ? 5 : 7) / 10))
      shrunkAt = now
      calmWindows = 0
    } else if calm * 2 > votes.count {
      calmWindows += 1
      if calmWindows >= 2, sawBacklog { size = min(range.ceiling, size + max(1, range.start / 8)) }
    } else {
      calmWindows = 0
    }
    votes.removeAll(keepingCapacity: true)
    answers = 0
    windowStart = nil
    sawTimeOut = false
    sawBacklog = false
  }
}
