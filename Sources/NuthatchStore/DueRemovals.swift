import Synchronization

/// Removals that couldn't be done when they were asked for, because another process held the lock of the index, or the disk
/// was full. They are tried again before an answer is kept. Until they are done this process finds nothing of what they take out,
/// and keeps no answer of their groups.
final class DueRemovals: @unchecked Sendable {
  /// What goes.
  struct Removal: Hashable, Sendable {
    let groups: [RecordGroup]
    let keys: [RecordKey]

    fileprivate var counters: [Int] { (groups + keys.compactMap(\.group)).map(\.counter) }
    /// The lower halves of the hashes of whole groups.
    fileprivate var lows: [UInt64] {
      groups.flatMap { group in (0..<RecordGroup.places).map { group.low(at: $0) } }
    }
  }

  /// Removes what else goes with what was there.
  typealias Following = @Sendable (Store, [RemovedRecord]) throws(StoreFault) -> Void

  private struct State {
    // The number tells one from the same removal that was asked for later.
    var removals: [Removal: (number: Int, follow: Following)] = [:]
    var last = 0
    // How many removals take what.
    var hashes: [KeyHash: Int] = [:]
    var lows: [UInt64: Int] = [:]
    var counters: [Int: Int] = [:]

    mutating func count(_ removal: Removal, _ step: Int) {
      for key in removal.keys { hashes.count(key.hash, step) }
      for low in removal.lows { lows.count(low, step) }
      for counter in removal.counters { counters.count(counter, step) }
    }
  }

  private let lock = Lock()
  // Guarded by `lock`.
  private var state = State()
  private let count = Atomic(0)

  @inline(__always)
  var areAny: Bool { count.load(ordering: .acquiring) != 0 }

  func add(_ removal: Removal, _ follow: @escaping Following) {
    lock.with {
      state.last += 1
      if state.removals.updateValue((state.last, follow), forKey: removal) == nil { state.count(removal, 1) }
      count.store(state.removals.count, ordering: .releasing)
    }
  }

  var all: [(removal: Removal, number: Int, follow: Following)] {
    lock.with { state.removals.map { ($0.key, $0.value.number, $0.value.follow) } }
  }

  /// Takes out what has been done, unless it was asked for again since.
  func remove(_ removal: Removal, _ number: Int) {
    lock.with {
      guard state.removals[removal]?.number == number else { return }
      state.removals[removal] = nil
      state.count(removal, -1)
      count.store(state.removals.count, ordering: .releasing)
    }
  }

  func has(_ removal: Removal) -> Bool { lock.with { state.removals[removal] != nil } }

  func removeAll() {
    lock.with {
      state = State()
      count.store(0, ordering: .releasing)
    }
  }

  /// Whether a record of this hash goes.
  func take(_ hash: KeyHash) -> Bool {
    areAny && lock.with { state.hashes[hash] != nil || state.lows[hash.low] != nil }
  }

  /// Whether an answer that was asked for at this moment goes.
  func take(_ moment: Moment) -> Bool {
    takeAny(of: Int(moment.first.counter), moment.second.map { Int($0.counter) })
  }

  /// Whether answers of one of these groups go, or of another one that has the same counter.
  func take(_ first: RecordGroup, _ second: RecordGroup?) -> Bool {
    takeAny(of: first.counter, second?.counter)
  }

  private func takeAny(of first: Int, _ second: Int?) -> Bool {
    areAny
      && lock.with { state.counters[first] != nil || second.map { state.counters[$0] != nil } ?? false }
  }
}

extension Dictionary where Value == Int {
  /// Counts up or down; nothing is kept of a count of 0.
  fileprivate mutating func count(_ key: Key, _ step: Int) {
    let new = self[key, default: 0] + step
    self[key] = new == 0 ? nil : new
  }
}

extension Store {
  /// Does what `remove` does, but waits no longer than who keeps a record. What can't be done now is noted: it is tried again
  /// before an answer is kept, and until it is done this process finds nothing of what it takes out.
  ///
  /// - Parameter follow: removes what else goes with what was there.
  /// - Returns: why it couldn't be done now; nil when it is done.
  public func removeOrNote(
    _ groups: [RecordGroup], _ keys: [RecordKey],
    _ follow: @escaping @Sendable (Store, [RemovedRecord]) throws(StoreFault) -> Void = { _, _ in }
  ) -> StoreFault? {
    let removal = DueRemovals.Removal(groups: groups, keys: keys)
    do throws(StoreFault) {
      try check()
      // First: nobody finds it from here on, nor keeps what was asked for before.
      shared.due.add(removal, follow)
      try doWhatIsDue()
      return nil
    } catch {
      // Another removal may be the one that failed.
      return isUsable && !shared.due.has(removal) ? nil : error
    }
  }

  /// Whether removals are still to be done.
  public var hasDueRemovals: Bool { isUsable && shared.due.areAny }

  /// Does the removals that are still to be done.
  ///
  /// - Throws: why one of them can't be done.
  public func doWhatIsDue() throws(StoreFault) {
    guard hasDueRemovals else { return }
    try shared.checkWritable()
    var fault: StoreFault?
    Patience.lasting(Patience.writing) {
      // One whose pack can't be written to keeps no other one waiting.
      for (removal, number, follow) in shared.due.all where fault?.kind != .busy {
        do throws(StoreFault) {
          try follow(self, try shared.drop(removal.groups, removal.keys))
          shared.due.remove(removal, number)
        } catch {
          fault = error
        }
      }
    }
    if let fault { throw fault }
  }
}
