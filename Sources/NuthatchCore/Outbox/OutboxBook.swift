import NuthatchStore

/// What the outbox's log comes to: every request that it still knows, and where it stands. Guarded by the journal's lock.
final class OutboxBook: JournalReader {
  struct Entry {
    enum Standing {
      case waiting
      case done
      /// Put aside, until somebody replays or drops it.
      case dead
    }

    let id: UInt64
    var request: FrozenRequest
    var standing = Standing.waiting
    /// The last attempts, oldest first.
    var history: [(attempt: OutboxAttempt, place: JournalPlace)] = []
    /// How many ended that aren't in `history` any more.
    var forgotten = 0
    /// Since when an attempt is being made, or was when its process ended.
    var begun: (stamp: Stamp, place: JournalPlace)?
    var settlement: (settlement: OutboxSettlement, place: JournalPlace)?
    /// When somebody last said that it be sent.
    var replayed: (stamp: Stamp, place: JournalPlace)?
    /// What its program has added; `request` has it.
    var added: (addition: OutboxAddition, place: JournalPlace)?
    let place: JournalPlace

    var attempts: Int { forgotten + history.count + (settlement?.settlement.isOfAttempt == true ? 1 : 0) }

    /// The last attempt that counts: not those before a replay.
    var last: OutboxAttempt? {
      guard let last = history.last else { return nil }
      return last.place.sequence > (replayed?.place.sequence ?? 0) ? last.attempt : nil
    }

    /// How often a server has answered, or may have, since it was frozen or replayed.
    var counted: Int { last?.counted ?? 0 }

    /// Since when a server may know of it. An attempt whose end nobody has written down may have arrived.
    var exposed: Stamp? {
      if let last { return last.exposed ?? begun?.stamp }
      return replayed == nil ? request.exposed ?? begun?.stamp : begun?.stamp
    }

    /// Whether its first attempt may still be under way.
    var isLive: Bool {
      request.isLive && standing == .waiting && history.isEmpty && begun == nil && replayed == nil
    }

    /// Since when it waits.
    var since: Stamp { replayed?.stamp ?? request.frozen }

    /// Whose secrets it isn't sent without.
    var needed: [String] {
      guard let asked = request.asked else { return request.providers }
      let isSure = asked.isSure || history.contains { $0.attempt.status == 401 }
      return request.providers.filter { isSure || $0 != asked.provider }
    }

    fileprivate var places: [JournalPlace] {
      ([place] + history.map(\.place)
        + [begun?.place, settlement?.place, replayed?.place, added?.place]
        .compactMap { $0 })
        .sorted { $0.sequence < $1.sequence }
    }

    /// What it takes on the disk.
    var bytes: Int64 {
      let records = places.reduce(Int64(0)) { $0 + Int64($1.length) + 32 }
      guard case .file(_, let count, _) = request.body, standing != .done else { return records }
      return records &+ count
    }
  }

  private(set) var entries: [UInt64: Entry] = [:]
  /// In the order in which they were frozen.
  private var order: [UInt64] = []
  /// How many attempts of a request are remembered one by one.
  static let longestHistory = 32

  var inOrder: [Entry] { order.compactMap { entries[$0] } }

  /// The one of each queue whose turn it is.
  var heads: [Entry] {
    var seen: Set<String> = []
    return inOrder.filter { $0.standing == .waiting && seen.insert($0.request.queue).inserted }
  }

  /// Numbers rise in the order in which requests were frozen.
  func first(after id: UInt64) -> Entry? {
    var (low, high) = (0, order.count)
    while low < high {
      let middle = (low + high) / 2
      if order[middle] <= id { low = middle + 1 } else { high = middle }
    }
    return low < order.count ? entries[order[low]] : nil
  }

  var count: Int { entries.count }
  var bytes: Int64 { entries.values.reduce(0) { $0 &+ $1.bytes } }

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
  }

  func take(_ payload: UnsafeRawBufferPointer, at place: JournalPlace) {
    // What a later version may have written, or what belongs to a record that was damaged, is passed over.
    guard let record = try? OutboxRecord(payload, withBody: false) else { return }
    switch record {
    case .frozen(let request):
      entries[place.sequence] = Entry(id: place.sequence, request: request, place: place)
      order.append(place.sequence)
    case .begun(let id, let stamp):
      entries[id]?.begun = (stamp, place)
    case .ended(let id, let attempt):
      guard var entry = entries[id] else { return }
      entry.begun = nil
      entry.history.append((attempt, place))
      if entry.history.count > Self.longestHistory {
        entry.history.removeFirst()
        entry.forgotten += 1
      }
      entries[id] = entry
    case .settled(let id, let settlement):
      guard var entry = entries[id] else { return }
      entry.begun = nil
      entry.settlement = (settlement, place)
      entry.standing = settlement.isDone ? .done : .dead
      entries[id] = entry
    case .gone(let id):
      entries[id] = nil
      if order.first == id { order.removeFirst() } else { order.removeAll { $0 == id } }
    case .replayed(let id, let stamp):
      guard var entry = entries[id], entry.standing != .done else { return }
      entry.standing = .waiting
      entry.settlement = nil
      entry.replayed = (stamp, place)
      entries[id] = entry
    case .added(let id, let addition):
      entries[id]?.request.take(addition)
      entries[id]?.added = (addition, place)
    }
  }
}
