import NuthatchBase
import Synchronization

/// Removals that couldn't be done when they were requested, because another process held the index lock or the disk was full.
/// Any process tries them again before it stores an answer (`PostedRemovals`). Until they are done, no process finds the
/// affected records or stores an answer of these groups.
final class DueRemovals: Sendable {
  /// One removal.
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
    // The number distinguishes a removal from the same removal requested later.
    var removals: [Removal: (number: Int, tokens: Set<UInt64>, isPosted: Bool)] = [:]
    var last = 0
    // The number of removals that affect each hash, group place and counter.
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
  // The address of the removals that all processes see.
  private let address = Atomic<UInt>(0)

  /// The removals that all processes see.
  var posted: PostedRemovals? {
    UnsafeMutableRawPointer(bitPattern: address.load(ordering: .acquiring)).map { PostedRemovals(at: $0) }
  }

  /// Uses the posts of this lock file from now on, and posts the pending removals there.
  func follow(_ file: LockFile) {
    address.store(file.posted.address, ordering: .releasing)
    state.withLock { state in state.removals = state.removals.mapValues { ($0.number, [], false) } }
    for (removal, _) in all where file.canPost { post(removal) }
  }

  /// Whether this process has pending removals.
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

  /// Posts a removal for other processes.
  func post(_ removal: Removal) {
    let tokens = (removal.groups + removal.keys.compactMap(\.group)).compactMap { posted?.post($0) }
    state.withLock { state in
      state.removals[removal]?.tokens.formUnion(tokens)
      state.removals[removal]?.isPosted = tokens.count == removal.groups.count + removal.keys.count
    }
  }

  /// Whether there are removals that aren't posted, so that no other process would do them.
  var areUnposted: Bool { areOwn && state.withLock { $0.removals.values.contains { !$0.isPosted } } }

  var all: [(removal: Removal, number: Int)] {
    state.withLock { $0.removals.map { ($0.key, $0.value.number) } }
  }

  /// The removals posted by other processes.
  var ofOthers: [PostedRemovals.Post] {
    guard let posted, posted.areAny else { return [] }
    let own = state.withLock { $0.removals.values.reduce(into: Set<UInt64>()) { $0.formUnion($1.tokens) } }
    return posted.all.filter { !own.contains($0.token) }
  }

  /// Deletes a removal that was done, unless it was requested again since.
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

  /// Deletes all removals, and these posts, after a `clear`.
  func remove(_ earlier: [PostedRemovals.Post]) {
    state.withLock { state in
      state = State()
      count.store(0, ordering: .releasing)
    }
    for post in earlier { posted?.takeBack(post) }
  }

  /// Returns whether a pending removal affects a record of this hash.
  func take(_ hash: KeyHash) -> Bool {
    guard areAny else { return false }
    return state.withLock { $0.hashes[hash] != nil || $0.lows[hash.low] != nil }
      || posted?.contains { $0.contains(hash) } ?? false
  }

  /// Returns whether a pending removal affects an answer whose request was made at this moment.
  func take(_ moment: Moment) -> Bool {
    takeAny(of: Int(moment.first.counter), moment.second.map { Int($0.counter) })
  }

  /// Returns whether a pending removal affects one of these groups, or another group with the same counter.
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
  /// Counts up or down; removes a count of 0.
  fileprivate mutating func count(_ key: Key, _ step: Int) {
    let new = self[key, default: 0] + step
    self[key] = new == 0 ? nil : new
  }
}

extension Store {
  /// Called after the records of groups were removed. It removes the records that depend on them.
  public typealias Following = @Sendable (Store, [RecordGroup], [RemovedRecord]) throws(StoreFault) -> Void

  /// Does what `remove` does, and calls the follower, but waits only as long as a commit. If it can't be done now, it is noted
  /// for all processes: they try it again before they store an answer, and until then the affected records are misses.
  ///
  /// - Returns: why it couldn't be done now; nil if it is done.
  public func removeOrNote(_ groups: [RecordGroup], _ keys: [RecordKey]) -> StoreFault? {
    let removal = DueRemovals.Removal(groups: groups, keys: keys)
    do throws(StoreFault) {
      try check()
      disk.lookForDeletion()
      // Note the removal first: from here on the records are misses, and no earlier answer is stored.
      disk.due.add(removal)
      try doWhatIsDue()
      return nil
    } catch {
      // The error may be that of another pending removal.
      guard !isUsable || disk.due.has(removal) else { return nil }
      // Don't post it if the disk fails: all processes would try it again and again.
      if isUsable, error.kind != .io, disk.locks.file.canPost { disk.due.post(removal) }
      return error
    }
  }

  /// Whether this process has pending removals.
  public var hasDueRemovals: Bool { isUsable && disk.due.areOwn }

  /// Whether pending removals would be forgotten if this process ended, because not all of them are posted.
  public var losesRemovals: Bool { isUsable && disk.due.areUnposted }

  /// Does the pending removals.
  ///
  /// - Parameter ofOthers: whether to do also those that other processes have posted.
  /// - Throws: the error of one that can't be done.
  public func doWhatIsDue(ofOthers: Bool = true) throws(StoreFault) {
    guard isUsable, ofOthers ? disk.due.areAny : disk.due.areOwn else { return }
    try disk.directory.checkWritable()
    let due = disk.due
    var fault: StoreFault?
    WaitLimit.applying(WaitLimit.commit) {
      // A removal whose pack can't be written doesn't delay the others.
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
