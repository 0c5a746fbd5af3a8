import NuthatchTransport

@testable import NuthatchCore

let second: Int64 = 1_000_000_000
let millisecond: Int64 = 1_000_000

/// Random numbers that can be had again (SplitMix64).
struct Seeded: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

extension FetchQueue {
  /// How many requests may run at once, loopback not counted unless the number was fixed.
  var size: Int { linkPlaces.size }
  var linkPlaces: PlacePool { places.link }
  var loopbackPlaces: PlacePool { places.loopback }
  var lookingUp: Int { lending.lookingUp }
  /// Entries that wait or run.
  var activity: Int { hosts.all.reduce(0) { $0 + $1.entryCount } }
}

/// A queue without time: the clock stands still until a test moves it.
final class QueueBench {
  final class Work: QueuedWork {
    let name: String
    unowned let bench: QueueBench
    var onBegin: ((QueueEntry) -> Void)?
    var onRefused: (() -> Void)?
    private(set) var begins = 0
    private(set) var retryAfter: Int64?
    private(set) var refusal: HostRefusal?

    init(_ name: String, _ bench: QueueBench) {
      self.name = name
      self.bench = bench
    }

    func begin(_ entry: QueueEntry) {
      begins += 1
      bench.begun.append(name)
      bench.running.append(entry)
      bench.onBegin?(entry)
      onBegin?(entry)
    }

    func putOff(_ entry: QueueEntry) {
      bench.putOff.append(name)
      bench.finish(entry, .abandoned)
    }

    func refused(_ entry: QueueEntry, _ refusal: HostRefusal) {
      self.refusal = refusal
      if case .circuitOpen(let retryAfter) = refusal { self.retryAfter = retryAfter }
      bench.refused.append(name)
      onRefused?()
    }
  }

  var now: Int64 = 1000 * second
  /// Names in the order of their starts.
  var begun: [String] = []
  var refused: [String] = []
  var putOff: [String] = []
  var running: [QueueEntry] = []
  var wakes: [Int64] = []
  var onBegin: ((QueueEntry) -> Void)?
  var works: [Work] = []
  private(set) var queue: FetchQueue!

  init(_ settings: QueueSettings = QueueSettings(), link: LinkKind = .wired) {
    queue = FetchQueue(settings, link: link, wake: { [unowned self] in self.wakes.append($0) })
  }

  static func origin(_ host: String) -> Origin {
    guard let url = try? WebURL(host.contains("://") ? host : "http://\(host)/") else {
      preconditionFailure("a test's own host: \(host)")
    }
    return url.origin
  }

  @discardableResult
  func submit(
    _ name: String, to host: String = "a.example", priority: Int = 0, patience: Int64 = 0,
    isBatched: Bool = false, mayBePutOff: Bool = false, notBefore: Int64? = nil
  ) -> QueueEntry {
    let work = Work(name, self)
    works.append(work)
    return queue.submit(
      work, to: QueueBench.origin(host), priority: priority, patience: patience,
      isBatched: isBatched, mayBePutOff: mayBePutOff, notBefore: notBefore, now: now)
  }

  func finish(
    _ entry: QueueEntry, _ outcome: ExchangeOutcome = .done, _ fault: TransportFault? = nil,
    retryAt: Int64? = nil
  ) {
    running.removeAll { $0 === entry }
    queue.finished(entry, outcome, fault, retryAt: retryAt, now: now)
  }

  /// Ends the one that has run for longest.
  func finishFirst(_ outcome: ExchangeOutcome = .done) {
    if let entry = running.first { finish(entry, outcome) }
  }

  func finishAll() {
    while !running.isEmpty { finishFirst() }
  }

  /// Lets time pass, and wakes the queue whenever it wanted to be woken meanwhile.
  func pass(_ time: Int64) {
    let end = now + time
    while let next = wakes.min(), next <= end {
      wakes.removeAll { $0 <= next }
      now = max(now, next)
      queue.tick(now: now)
    }
    now = end
  }

  /// What has begun since the last call.
  func takeBegun() -> [String] {
    defer { begun = [] }
    return begun
  }

  func names(_ entries: [QueueEntry]) -> [String] {
    entries.compactMap { ($0.work as? Work)?.name }
  }
}

extension QueueSettings {
  /// Places are never lent, unless that is what a test is about.
  static func fixed(_ size: Int, perHost: Int = 6, lendAfter: Int64 = 1_000_000 * second) -> QueueSettings {
    var settings = QueueSettings()
    settings.concurrency = .fixed(size)
    settings.perHost = perHost
    settings.lendAfter = lendAfter
    return settings
  }
}
