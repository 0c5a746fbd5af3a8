import NuthatchBase
import NuthatchStore

/// The state of the outbox, made from the records of its log: every request that wasn't dropped or collected. Guarded by the
/// journal's lock.
final class OutboxContents: JournalReader {
  struct Entry {
    enum Standing {
      case waiting
      case done
      /// Put aside, until the request is replayed or dropped.
      case dead
    }

    let id: UInt64
    var request: FrozenRequest
    var standing = Standing.waiting
    /// The last attempts that didn't end the request, oldest first. After a replay, also the one that had ended it.
    var history: [(attempt: AttemptRecord, place: JournalPlace)] = []
    /// The number of older attempts that aren't in `history`.
    var forgotten = 0
    /// The start of an attempt without a recorded end: it is under way, or its process was killed.
    var begun: (stamp: DurableTime, place: JournalPlace)?
    var settlement: (settlement: OutboxSettlement, place: JournalPlace)?
    /// The time of the last replay.
    var replayed: (stamp: DurableTime, place: JournalPlace)?
    let place: JournalPlace

    var attempts: Int { forgotten + history.count + (settlement?.settlement.isOfAttempt == true ? 1 : 0) }

    /// The last attempt since the last replay; nil if there is none.
    var last: AttemptRecord? {
      guard let last = history.last else { return nil }
      return last.place.sequence > (replayed?.place.sequence ?? 0) ? last.attempt : nil
    }

    /// The number of attempts, since the freeze or the last replay, that a server has answered or may have received.
    var counted: Int { last?.counted ?? 0 }

    /// The time since which a server may know of the request by an attempt since the last replay, or since the freeze. An attempt
    /// without a recorded end may have arrived.
    var exposed: DurableTime? {
      if let last { return last.exposed ?? begun?.stamp }
      return replayed == nil ? request.exposed ?? begun?.stamp : begun?.stamp
    }

    /// Whether the request's first attempt may still be under way.
    var isLive: Bool {
      request.isLive && standing == .waiting && history.isEmpty && begun == nil && replayed == nil
    }

    /// The time since which the request waits.
    var since: DurableTime { replayed?.stamp ?? request.frozen }

    /// For a replay, moves the attempt after which the request was put aside into `history`.
    fileprivate mutating func keepSettlement() {
      guard let (settlement, place) = settlement else { return }
      self.settlement = nil
      guard settlement.isOfAttempt else { return }
      let attempt = AttemptRecord(
        ended: settlement.at, code: settlement.status > 0 ? nil : settlement.code, status: settlement.status,
        reason: settlement.reason, counted: counted + 1, exposed: exposed ?? settlement.at, wait: 0,
        isUnreachable: false)
      add(attempt, place)
    }

    fileprivate mutating func add(_ attempt: AttemptRecord, _ place: JournalPlace) {
      begun = nil
      history.append((attempt, place))
      guard history.count > OutboxContents.longestHistory else { return }
      history.removeFirst()
      forgotten += 1
    }

    fileprivate var places: [JournalPlace] {
      [place] + history.map(\.place)
        + [begun?.place, settlement?.place, replayed?.place].compactMap { $0 }
    }

    /// The bytes that the request uses on the disk.
    var bytes: Int64 {
      let records = places.reduce(Int64(0)) { $0 + Int64($1.length) + 32 }
      guard case .file(_, let count, _) = request.body, standing != .done else { return records }
      return records &+ count
    }
  }

  private(set) var entries: [UInt64: Entry] = [:]
  // These properties could be computed from the entries. But there may be ten thousand entries, and every survey reads the
  // properties.
  /// The numbers of all requests, in the order in which they were frozen.
  private var order: [UInt64] = []
  /// The numbers of the waiting requests, by queue, in the order of `order`.
  private var waitingIDs: [String: [UInt64]] = [:]
  /// The bytes of all entries on the disk.
  private(set) var bytes: Int64 = 0
  /// The bytes in the log of the records that are still needed (`JournalReader`).
  private(set) var wantedBytes: Int64 = 0
  /// The requests that have ended, in the order of `order`, with their handlers.
  private(set) var settled: [(id: UInt64, handler: String?)] = []
  /// The most attempts of a request that `history` keeps.
  static let longestHistory = 32

  var inOrder: [Entry] { order.compactMap { entries[$0] } }

  /// The first waiting request of each queue.
  var heads: [Entry] { waitingIDs.values.compactMap(\.first).sorted().compactMap { entries[$0] } }

  /// The waiting requests of a queue, in the order in which they were frozen.
  func waiting(in queue: String) -> some Sequence<Entry> {
    (waitingIDs[queue] ?? []).lazy.compactMap { self.entries[$0] }
  }

  /// Returns the first request with a greater number. Later requests have greater numbers.
  func first(after id: UInt64) -> Entry? {
    let place = order.place { $0 <= id }
    return place < order.count ? entries[order[place]] : nil
  }

  var count: Int { entries.count }

  // MARK: Reading the log

  var wanted: [JournalPlace] {
    entries.values.flatMap(\.places).sorted { $0.sequence < $1.sequence }
  }

  var bodies: Set<String> {
    Set(
      entries.values.compactMap { entry in
        if case .file(let name, _, _) = entry.request.body, entry.standing != .done { return name }
        return nil
      })
  }

  func begin() {
    entries = [:]
    order = []
    waitingIDs = [:]
    settled = []
    (bytes, wantedBytes) = (0, 0)
  }

  func take(_ payload: UnsafeRawBufferPointer, at place: JournalPlace) {
    // Records of another version (0.1: kind 7), and records of a damaged request, are skipped.
    guard let record = try? OutboxRecord(payload, withBody: false) else { return }
    switch record {
    case .frozen(let request):
      put(Entry(id: place.sequence, request: request, place: place))
    case .begun(let id, let stamp):
      change(id) { $0.begun = (stamp, place) }
    case .ended(let id, let attempt):
      change(id) { $0.add(attempt, place) }
    case .settled(let id, let settlement):
      change(id) { entry in
        entry.begun = nil
        entry.settlement = (settlement, place)
        entry.standing = settlement.isDone ? .done : .dead
      }
    case .gone(let id):
      remove(id)
    case .replayed(let id, let stamp):
      change(id) { entry in
        guard entry.standing != .done else { return }
        entry.standing = .waiting
        entry.keepSettlement()
        entry.replayed = (stamp, place)
      }
    }
  }

  private func change(_ id: UInt64, _ body: (inout Entry) -> Void) {
    guard var entry = entries[id] else { return }
    let last = entry.standing
    count(entry, -1)
    body(&entry)
    count(entry, 1)
    entries[id] = entry
    guard entry.standing != last else { return }
    leave(entry, last)
    join(entry)
  }

  private func put(_ entry: Entry) {
    // A number occurs twice only in a manipulated log.
    remove(entry.id)
    entries[entry.id] = entry
    order.insert(entry.id, at: order.place { $0 < entry.id })
    count(entry, 1)
    join(entry)
  }

  private func remove(_ id: UInt64) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    order.remove(at: order.place { $0 < id })
    count(entry, -1)
    leave(entry, entry.standing)
  }

  private func count(_ entry: Entry, _ sign: Int64) {
    bytes &+= sign &* entry.bytes
    wantedBytes &+= sign &* entry.places.reduce(0) { $0 + JournalRecord.end(0, $1.length) }
  }

  private func join(_ entry: Entry) {
    let id = entry.id
    if entry.standing == .waiting {
      let place = waitingIDs[entry.request.queue]?.place { $0 < id } ?? 0
      waitingIDs[entry.request.queue, default: []].insert(id, at: place)
    } else {
      settled.insert((id, entry.request.handler), at: settled.place { $0.id < id })
    }
  }

  private func leave(_ entry: Entry, _ standing: Entry.Standing) {
    let (id, queue) = (entry.id, entry.request.queue)
    if standing == .waiting {
      if let place = waitingIDs[queue]?.place({ $0 < id }) { waitingIDs[queue]?.remove(at: place) }
      if waitingIDs[queue]?.isEmpty == true { waitingIDs[queue] = nil }
    } else {
      settled.remove(at: settled.place { $0.id < id })
    }
  }
}
