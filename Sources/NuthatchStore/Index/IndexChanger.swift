import Glibc
import Synchronization

/// Changes the index under a lock that excludes all other processes and threads. Before each change it makes sure that the
/// index is the one in the directory and is intact; if not, it opens or rebuilds it.
///
/// Take the directory's lock for this after an appender's lock, before the lock of the current index.
final class IndexChanger: Sendable {
  let current: CurrentIndex
  private let directory: StoreDirectory
  private let locks: DirectoryLocks
  private let retired: RetiredRecords
  private let rebuild: IndexRebuild
  private let broken: BrokenMappings
  // The highest sequence number that this process was given.
  private let lastSequence = Atomic<UInt64>(0)

  init(
    _ current: CurrentIndex, _ directory: StoreDirectory, _ locks: DirectoryLocks, _ openPacks: OpenPacks,
    _ retired: RetiredRecords, _ checker: PayloadChecker
  ) {
    self.current = current
    self.directory = directory
    self.locks = locks
    self.retired = retired
    broken = current.broken
    rebuild = IndexRebuild(
      directory: directory, locks: locks, boot: current.boot, openPacks: openPacks, retired: retired,
      checker: checker, broken: broken)
  }

  private var index: Index? { current.index }

  /// Runs `body` with the index lock held and the current, intact index.
  ///
  /// `body` is called again if the index was marked as replaced meanwhile, because it is damaged, or by a process with another
  /// lock file. The new index may lack the change.
  ///
  /// - Throws: `readOnly`, because every change goes through here; `busy`.
  func changing<Result>(_ body: (Index) throws(StoreFault) -> Result) throws(StoreFault) -> Result {
    try directory.checkWritable()
    guard !directory.isDeleted else { throw StoreDirectory.deleted }
    try beReadyToChange()
    return try locks.changingIndex { (file) throws(StoreFault) -> Result in
      for _ in 0..<4 {
        let (index, losses) = (try indexToChange(file), losses)
        let result = try body(index)
        try check(losses)
        if current.isInUse(index) {
          guard index.isReplaced else { return result }
        } else {
          mendGrown()
          return result
        }
      }
      throw StoreFault(
        .io, "the index was replaced or found to be damaged during each of 4 attempts to change it")
    }
  }

  /// Rebuilds the index from the packs if it was copied from a damaged one, so that records are missing. Such an index is marked
  /// as replaced. If this fails, the next change does the same. Call it with the index lock held.
  private func mendGrown() {
    if let index, index.isReplaced { _ = try? indexToChange(locks.file) }
  }

  /// Returns the sequence number of a new record, or 0 if none can be taken now.
  func takeSequence() -> UInt64 {
    guard !directory.isReading else { return 0 }
    var sequence: UInt64 = 0
    for _ in 0..<4 {
      guard let index = indexForSequence() else { return 0 }
      sequence = index.takeSequence()
      let last = lastSequence.load(ordering: .relaxed)
      guard sequence != 0, sequence <= last, last < 1 << 62, index.nextSequence <= last else { break }
      // The number in the index is damaged, or belongs to an index that has just replaced another one. Skip many numbers, because
      // other processes may have taken some.
      if current.isInUse(index) { index.raise(nextSequence: last + 1 << 32) }
    }
    lastSequence.max(sequence, ordering: .relaxed)
    return sequence
  }

  static let hasNoRoom = StoreFault(
    .io, "the index has no room for this key: too many stored keys have similar hashes")
  static let indexIsFull = StoreFault(.noSpace, "the index can't be written: the disk is full")

  /// Returns the index in the directory, intact and without a pending change. Rebuilds it from the packs if necessary. Call it
  /// with the index lock held.
  private func indexToChange(_ file: LockFile) throws(StoreFault) -> Index {
    let old = index
    if file.mend(), let old, !old.isReplaced, file.index == old.identity, !old.isBroken {
      guard old.finishPending() else { throw Self.indexIsFull }
      finishRetiring(old)
      return old
    }
    guard file.mend() else { throw broken.failure(of: nil) }
    let found: Index?
    do throws(SystemFault) { found = try Index.open(directory, boot: current.boot) } catch {
      // The disk has a bad block, or the file belongs to another user: make a new index.
      guard error.number == EIO || error.number == EACCES else {
        throw StoreFault(error, "can't open the index")
      }
      found = nil
    }
    // Check this after opening: don't change an index that other processes made with another lock file.
    guard !directory.findDeletion(of: file) else { throw StoreDirectory.deleted }
    // If an index has this name and is marked as replaced, it is damaged, or the new index was never finished.
    if let found, !file.isNew, !found.isReplaced, !found.hasDamagedNumbers,
      found.nextSequence >= file.firstSequence
    {
      guard found.finishPending() else { throw Self.indexIsFull }
      file.index = found.identity
      guard !found.isBroken else { throw broken.failure(of: found) }
      current.use(found)
      finishRetiring(found)
      return found
    }
    // Processes that hold a deleted lock file must not continue with an index that other processes change, too.
    found?.markReplaced()
    let limit = old?.limit ?? Limits.kept(directory) ?? Limits.standard
    let made = try rebuild.fromPacks(insteadOf: old)
    made.set(limit: limit)
    for earlier in [found, old] { if let earlier { made.continueAllNumbers(after: earlier) } }
    // The highest pack number is unknown, and other processes may still have dropped packs mapped.
    if file.isNew, !directory.isNew, found == nil, old == nil { made.skipPackNumbers() }
    file.lastPack = made.nextPack &- 1
    current.use(made)
    file.isNew = false
    return made
  }

  /// How often mappings failed that a change of the index relies on.
  struct Losses: Equatable {
    var indexes: Int
    var words: Int
  }

  var losses: Losses { Losses(indexes: broken.timesLost, words: locks.file.timesMended) }

  /// Throws if a change of the index may not have reached the file. The next change then completes it from the pending area, as
  /// after a kill.
  func check(_ before: Losses) throws(StoreFault) {
    if hasLost(since: before) { throw broken.failure(of: index) }
  }

  /// Returns whether a mapping failed since then that a change of the index relies on.
  func hasLost(since before: Losses) -> Bool {
    locks.file.isBroken || index?.isBroken ?? false || losses != before
  }

  /// Maps failed files again before the index is changed.
  ///
  /// - Throws: in a commit, if this failed a moment ago, because rebuilding an index takes long.
  func beReadyToChange() throws(StoreFault) {
    guard broken.areNew else { return }
    if WaitLimit.isOfCommit, broken.isResting { throw broken.failure(of: index, isNew: false) }
    current.followBroken()
  }

  /// Returns the index for taking a number. Rebuilds it if its mapping failed and it can't be reopened. Waits as long as a
  /// commit.
  func indexForSequence() -> Index? {
    if let index = current.forReading() { return index }
    return try? WaitLimit.applying(WaitLimit.commit) { () throws(StoreFault) in try changing { $0 } }
  }

  /// Retires the record that this process, or one that was killed, has replaced or removed. Otherwise a scan of the packs would
  /// find it again. Call it with the index lock held.
  func finishRetiring(_ index: Index) {
    guard let (location, hash) = index.retiring else { return }
    let isNamed = index.find(hash)?.slot.location == location
    guard !index.isBroken else { return }
    if !isNamed { retired.add(location, hash) }
    if retired.retryFailed() { index.forgetRetiring() }
  }

  /// Inserts a record. If there is no room, switches to a larger index first and sets `index` to it. Call it with the index
  /// lock held.
  func insertOrGrow(
    _ index: inout Index, _ header: RecordHeader, _ location: Location,
    used: (place: Int, bytes: Int)? = nil, only: Location? = nil
  ) throws(StoreFault) -> Index.Change {
    for _ in 0..<8 {
      let change = index.insert(header.hash, header.kind, location, used: used, only: only)
      if case .done = change { return change }
      guard let larger = try grown(index) else { break }
      index = larger
    }
    return .full
  }

  /// Adds a pack to the table. If the table is full, it grows.
  func register(
    _ index: Index, _ header: PackHeader, _ state: PackEntry.State, used: Int,
    _ placed: (Int) -> Void = { _ in }
  ) throws(StoreFault) -> Index {
    var index = index
    var place = index.add(header, state, used: used)
    if place == nil {
      guard let larger = try grown(index, packs: index.packCapacity * 4) else { throw Self.hasNoRoom }
      index = larger
      place = index.add(header, state, used: used)
    }
    guard let place else { throw StoreFault(.io, "the index has no room for another pack") }
    placed(place)
    return index
  }

  /// The error for an index or lock file that couldn't be read or written.
  var failure: StoreFault { broken.failure(of: index) }

  func isOversized(_ index: Index) -> Bool { rebuild.isOversized(index) }

  /// Switches to a larger index. Returns nil if growing can't make room for the key. Call it with the index lock held.
  func grown(_ old: Index, packs: Int? = nil) throws(StoreFault) -> Index? {
    guard let made = try rebuild.grown(old, packs: packs) else { return nil }
    current.use(made.index)
    // The next change rebuilds it from the packs.
    if made.isToBeReplaced { made.index.markReplaced() }
    return made.index
  }

  /// Switches to an empty index. Call it with the index lock held.
  func clear(_ old: Index) throws(StoreFault) { current.use(try rebuild.cleared(old)) }
}

// MARK: - Opening

extension IndexChanger {
  /// Registers this process as a user of the directory. The first one begins a session and calls `tidy`.
  ///
  /// - Parameter atOnce: throws `busy` if that would take long.
  func begin(
    limit: Int?, atOnce: Bool, tidy: (Index) throws(StoreFault) -> Void
  ) throws(StoreFault) {
    guard !directory.isReading else { return try beginReading(atOnce: atOnce) }
    if joins(limit: limit) { return }
    if atOnce { throw locks.busy(.index) }
    // The process that holds the index lock may be stopped. If nothing needs to be changed, the index can be used all the same.
    if !(try locks.areFree(within: WaitLimit.commit)), joins(limit: limit, isFirst: true) { return }
    try locks.changingIndex { (file) throws(StoreFault) in
      let isAlone = try locks.enter()
      // In a new session everything is verified again.
      if isAlone, file.hasLosses { file.hasLosses = false }
      let (index, losses) = (try indexToChange(file), losses)
      let kept = Limits.kept(directory)
      if let limit, limit != kept {
        try explaining("can't write the file limits") { () throws(SystemFault) in
          try Limits(disk: limit).keep(directory)
        }
      }
      index.set(limit: limit ?? kept ?? Limits.standard)
      if isAlone {
        index.beginSession()
        if file.canPost { file.posted.mend() }
        try tidy(index)
        mendGrown()
      }
      try check(losses)
    }
  }

  /// Registers this process without the index lock, which a stopped process may hold, if nothing needs to be changed.
  ///
  /// - Parameter isFirst: whether this process may be the first user.
  private func joins(limit: Int?, isFirst: Bool = false) -> Bool {
    // If anything is wrong, return false: `begin` then checks it again with the index lock held, and repairs it.
    guard !locks.file.isDeleted, (try? locks.join(isFirst: isFirst)) == true else { return false }
    let kept = Limits.kept(directory)
    guard limit == nil || limit == kept, let found = current.soundIndex,
      found.limit == kept ?? Limits.standard
    else {
      locks.leave()
      return false
    }
    current.use(found)
    return true
  }

  /// Opens a directory that can only be read. Uses its index, which other processes may change meanwhile. If there is no usable
  /// index, for example after a reboot, makes one in memory from the packs.
  private func beginReading(atOnce: Bool) throws(StoreFault) {
    if let found = current.soundIndex { return current.use(found) }
    if atOnce { throw locks.busy(.index) }
    let made = try rebuild.fromPacks(insteadOf: nil)
    made.set(limit: Limits.kept(directory) ?? Limits.standard)
    current.use(made)
  }
}
