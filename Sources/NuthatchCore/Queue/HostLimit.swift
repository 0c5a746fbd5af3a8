/// How many requests at once a host bears, found by measurement, where the program lets the limit grow.
///
/// - It begins with the usual limit. When as many good answers as that have come as quickly as usual, and more requests wait, one
///   more is tried; then twice as many, and so on to `most`.
/// - The host's first 429, 503 or reset halves it. After that it grows by one with as many good answers as it allows at once, to
///   the last limit that the host has borne.
/// - A minute after the last such answer one more is tried: a probe. When the host bears that, the next probe comes a minute
///   later. When it doesn't, the limit goes back.
struct HostLimit {
  static let most = 32
  private static let minute: Int64 = 60_000_000_000

  private(set) var value: Int
  /// The largest that the host has borne.
  private var borne: Int
  private var isUsual = true
  private var hadTrouble = false
  /// When the host last had too much to do, or was probed.
  private var probedAt: Int64 = .min
  /// When the limit changed, and when it last became less. Requests that began before say nothing about it.
  private var changedAt: Int64 = .min
  private var cutAt: Int64 = .min
  /// What it was before.
  private var previous: Int
  private var good = 0

  init(_ usual: Int) { (value, borne, previous) = (usual, usual, usual) }

  /// What it was when a request began.
  func value(at start: Int64) -> Int { start >= changedAt ? value : previous }

  /// A good answer to a request that began at `start`. `isCalm`: it came as quickly as usual. `isWanted`: more wait.
  mutating func noteGood(isCalm: Bool, isWanted: Bool, began start: Int64, at now: Int64) {
    guard start >= changedAt, isCalm, isWanted, value < Self.most else { return }
    good += 1
    guard good >= value else { return }
    borne = max(borne, value)
    let isProbe = hadTrouble && value >= borne
    if isProbe {
      guard now &- probedAt >= Self.minute else { return }
      probedAt = now
    }
    change(to: hadTrouble || isUsual ? value + 1 : 2 * value, at: now)
    isUsual = false
  }

  /// 429, 503 or a reset, to a request that began at `start`.
  mutating func noteTrouble(began start: Int64, at now: Int64) {
    guard start >= cutAt else { return }
    let tried = value(at: start)
    let isProbe = hadTrouble && tried > borne
    if !isProbe { borne = min(borne, max(1, tried - 1)) }
    change(to: isProbe ? borne : tried / 2, at: now)
    (hadTrouble, probedAt, cutAt) = (true, now, now)
  }

  private mutating func change(to limit: Int, at now: Int64) {
    previous = value
    value = min(max(limit, 1), Self.most)
    changedAt = now
    good = 0
  }
}
