import NuthatchBase
import Synchronization

/// Removals that couldn't be done when they were asked for, because another process held the lock of the index, or the disk
/// was full. They are tried again before an answer is kept, by any process (`PostedRemovals`). Until they are done nobody finds
/// what they take out, or keeps an answer of their groups.
final class DueRemovals: Sendable {
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

  private struct State {
    // The number tells one from the same removal that was asked for later.
    var removals: [Removal: (number: Int, tokens: Set<UInt64>, isPosted: Bool)] = [:]
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

  private let state = Locked(State())
  private let count = Atomic(0)
  // Where those of all processes are.
  private let address = Atomic<UInt>(0)

  /// Those of all processes.
  var posted: PostedRemovals? {
    UnsafeMutableRawPointer(bitPattern: address.load(ordering: .acquiring)).map { PostedRemovals(at: $0) }
  }

  /// This file says what is due, from now on.
  func follow(_ file: LockFile) {
    address.store(file.posted.address, ordering: .releasing)
    state.withLock { state in state.removals = state.removals.mapValues { ($0.number, [], false) } }
    for (removal, _) in all where file.canPost { post(removal) }
  }

  /// Whether there are any of this process.
  @inline(__always)
  var areOwn: Bool { count.load(ordering: .acquiring) != 0 }

  @inline(__always)
  var areAny: Bool { areOwn || posted?.areAny ?? false }

  func add(_ removal: Removal) {
    state.withLock { state in
      state.last += 1
      if state.removals[removal] == nil { state.count(removal, 1) }
      state.removals[removal, default: (0, [], false)].number = state.last
      count.store(state.removals.count, ordering: .releasing)
    }
  }

  /// Posts it for other processes.
  func post(_ removal: Removal) {
    let tokens = (removal.groups + removal.keys.compactMap(\.group)).compactMap { posted?.post($0) }
    state.withLock { state in
      state.removals[removal]?.tokens.formUnion(tokens)
      state.removals[removal]?.isPosted = tokens.count == removal.groups.count + removal.keys.count
    }
  }

  /// Whether there are any that no other process would do.
  var areUnposted: Bool { areOwn && state.withLock { $0.removals.values.contains { !$0.isPosted } } }

  var all: [(removal: Removal, number: Int)] {
    state.withLock { $0.removals.map { ($0.key, $0.value.number) } }
  }

  /// What others have posted.
  var ofOthers: [PostedRemovals.Post] {
    guard let posted, posted.areAny else { return [] }
    let own = state.withLock { $0.removals.values.reduce(into: Set<UInt64>()) { $0.formUnion($1.tokens) } }
    return posted.all.filter { !own.contains($0.token) }
  }

  /// Takes out what has been done, unless it was asked for again since.
  func remove(_ removal: Removal, _ number: Int) {
    let tokens = state.withLock { (state) -> Set<UInt64> in
      guard let known = state.removals[removal], known.number == number else { return [] }
      state.removals[removal] = nil
      state.count(removal, -1)
      count.store(state.removals.count, ordering: .releasing)
      return known.tokens
    }
    guard !tokens.isEmpty, let posted else { return }
    for post in posted.all where tokens.contains(post.token) { posted.takeBack(post) }
  }

  func has(_ removal: Removal) -> Bool { state.withLock { $0.removals[removal] != nil } }

  /// Takes out those that were there when something began that has done them all.
  func remove(_ earlier: [PostedRemovals.Post]) {
    state.withLock { state in
      state = State()
      count.store(0, ordering: .releasing)
    }
    for post in earlier { posted?.takeBack(post) }
  }

  /// Whether a record of this hash goes.
  func take(_ hash: KeyHash) -> Bool {
    guard areAny else { return false }
    return state.withLock { $0.hashes[hash] != nil || $0.lows[hash.low] != nil }
      || posted?.contains { $0.contains(hash) } ?? false
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
    guard areAny else { return false }
    return state.withLock { state in
      state.counters[first] != nil || second.map { state.counters[$0] != nil } ?? false
    }
      || posted?.contains { $0.counter == first || $0.counter == second } ?? false
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
  /// Removes what else goes with records of groups that were removed.
  public typealias Following = @Sendable (Store, [RecordGroup], [RemovedRecord]) throws(StoreFault) -> Void

  /// Does what `remove` does, and what follows it, but waits no longer than who keeps a record. What can't be done now is
  /// noted, for all processes: it is tried again before an answer is kept, and until it is done nobody finds what it takes out.
  ///
  /// - Returns: why it couldn't be done now; nil when it is done.
  public func removeOrNote(_ groups: [RecordGroup], _ keys: [RecordKey]) -> StoreFault? {
    let removal = DueRemovals.Removal(groups: groups, keys: keys)
    do throws(StoreFault) {
      try check()
      disk.lookForDeletion()
      // First: nobody finds it from here on, nor keeps what was asked for before.
      disk.due.add(removal)
      try doWhatIsDue()
      return nil
    } catch {
      // Another removal may be the one that failed.
      guard !isUsable || disk.due.has(removal) else { return nil }
      // What a bad disk refuses would be tried by everybody again and again.
      if isUsable, error.kind != .io, disk.locks.file.canPost { disk.due.post(removal) }
      return error
    }
  }

  /// Whether removals of this process are still to be done.
  public var hasDueRemovals: Bool { isUsable && disk.due.areOwn }

  /// Whether they would be forgotten if this process ended: others don't know of all of them.
  public var losesRemovals: Bool { isUsable && disk.due.areUnposted }

  /// Does the removals that are still to be done.
  ///
  /// - Parameter ofOthers: whether also those that other processes have posted.
  /// - Throws: why one of them can't be done.
  public func doWhatIsDue(ofOthers: Bool = true) throws(StoreFault) {
    guard isUsable, ofOthers ? disk.due.areAny : disk.due.areOwn else { return }
    try disk.directory.checkWritable()
    let due = disk.due
    var fault: StoreFault?
    Patience.lasting(Patience.writing) {
      // One whose pack can't be written to keeps no other one waiting.
      for (removal, number) in due.all where fault?.kind != .busy {
        do throws(StoreFault) {
          try drop(removal.groups, removal.keys)
          due.remove(removal, number)
        } catch {
          fault = error
        }
      }
      for post in ofOthers ? due.ofOthers : [] where fault?.kind != .busy {
        do throws(StoreFault) {
          try drop([post.group], [])
          due.posted?.takeBack(post)
        } catch {
          fault = error
        }
      }
    }
    if let fault { throw fault }
  }

  private func drop(_ groups: [RecordGroup], _ keys: [RecordKey]) throws(StoreFault) {
    let removed = try door.using { (records) throws(StoreFault) in try records.remove(groups, keys) }
    if !groups.isEmpty { try disk.following(self, groups, removed) }
  }
}
