import Glibc
import Synchronization

/// Changes the index, as the only one of all processes at a time, and sees to it that it is the right one: in the directory, whole
/// and up to date.
///
/// The directory's lock for this is taken after an appender's, before the lock of the current index.
final class IndexChanger: Sendable {
  let current: CurrentIndex
  private let directory: StoreDirectory
  private let locks: DirectoryLocks
  private let retired: RetiredRecords
  private let rebuild: IndexRebuild
  private let broken: BrokenMappings
  // The highest sequence that this process was given.
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

  /// Does something as the only one who changes the index, which is the one in the directory, whole and up to date.
  ///
  /// `body` is called again when somebody with another lock has put another index in its place meanwhile: what it did
  /// may have been too late to be taken over.
  ///
  /// - Throws: `readOnly`, since every change goes through here; `busy`.
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
      throw StoreFault(.io, "the index is replaced again and again")
    }
  }

  /// An index that has grown out of a damaged one names less than there is, and says that it is replaced. To be called while
  /// the index lock is held. Not essential: the next one who changes it does the same.
  private func mendGrown() {
    if let index, index.isReplaced { _ = try? indexToChange(locks.file) }
  }

  /// The sequence of a new record. 0 when none can be had now.
  func takeSequence() -> UInt64 {
    guard !directory.isReading else { return 0 }
    var sequence: UInt64 = 0
    for _ in 0..<4 {
      guard let index = indexForSequence() else { return 0 }
      sequence = index.takeSequence()
      let last = lastSequence.load(ordering: .relaxed)
      guard sequence != 0, sequence <= last, last < 1 << 62, index.nextSequence <= last else { break }
      // Damage, or somebody else has just found another index. Others may have had some more, so that it goes on far beyond.
      if current.isInUse(index) { index.raise(nextSequence: last + 1 << 32) }
    }
    lastSequence.max(sequence, ordering: .relaxed)
    return sequence
  }

  static let hasNoRoom = StoreFault(.io, "the index has no room for keys like these")
  static let indexIsFull = StoreFault(.noSpace, "the disk is full: the index can't be written")

  /// To be called while the index lock is held.
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
      // On a bad place of the disk, or not ours: as good as none.
      guard error.number == EIO || error.number == EACCES else {
        throw StoreFault(error, "opening the index")
      }
      found = nil
    }
    // After that: an index that others made with another lock must not be changed by this one.
    guard !directory.findDeletion(of: file) else { throw StoreDirectory.deleted }
    // One that has this name and says that it was replaced is damaged, or its successor was never made.
    if let found, !file.isNew, !found.isReplaced, !found.isOfDamagedNumbers,
      found.nextSequence >= file.firstSequence
    {
      guard found.finishPending() else { throw Self.indexIsFull }
      file.index = found.identity
      guard !found.isBroken else { throw broken.failure(of: found) }
      current.use(found)
      finishRetiring(found)
      return found
    }
    // Those who have a lock that was deleted must not go on with an index that others change too.
    found?.markReplaced()
    let limit = old?.limit ?? Limits.kept(directory) ?? Limits.standard
    let made = try rebuild.fromPacks(insteadOf: old)
    made.set(limit: limit)
    for earlier in [found, old] { if let earlier { made.goOnCounting(after: earlier) } }
    // Nothing is left that says which numbers packs were given, and others may still hold packs that were dropped since.
    if file.isNew, !directory.isNew, found == nil, old == nil { made.skipPackNumbers() }
    file.lastPack = made.nextPack &- 1
    current.use(made)
    file.isNew = false
    return made
  }

  /// How often something broke that who changes the index relies on.
  struct Losses: Equatable {
    var indexes: Int
    var words: Int
  }

  var losses: Losses { Losses(indexes: broken.timesLost, words: locks.file.timesMended) }

  /// Throws when a change of the index may not have reached the file. It is as if this process had been killed in the middle of
  /// it: who changes the index next finishes what was written down.
  func check(_ before: Losses) throws(StoreFault) {
    if hasLost(since: before) { throw broken.failure(of: index) }
  }

  /// Whether something broke since then that who changes the index relies on.
  func hasLost(since before: Losses) -> Bool {
    locks.file.isBroken || index?.isBroken ?? false || losses != before
  }

  /// Sees to it that what broke is mapped anew before the index is changed.
  ///
  /// - Throws: for who only keeps a record, where that failed a moment ago: making an index anew takes long.
  func beReadyToChange() throws(StoreFault) {
    guard broken.areNew else { return }
    if Patience.isOfWriter, broken.isResting { throw broken.failure(of: index, isNew: false) }
    current.followBroken()
  }

  /// The index for who wants a number of it: made anew when it broke and can't be opened. Waits as a writer does, if at all.
  func indexForSequence() -> Index? {
    if let index = current.forReading() { return index }
    return try? Patience.lasting(Patience.writing) { () throws(StoreFault) in try changing { $0 } }
  }

  /// Retires what was replaced or removed, by this one or by one who was killed meanwhile. To be called by the index's changer:
  /// who looks through the packs must not find it again.
  func finishRetiring(_ index: Index) {
    guard let (location, hash) = index.retiring else { return }
    let isNamed = index.find(hash)?.slot.location == location
    guard !index.isBroken else { return }
    if !isNamed { retired.add(location, hash) }
    if retired.settle() { index.forgetRetiring() }
  }

  /// Inserts, into a larger index when there is no room, which then is the index. To be called by the index's changer.
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

  /// Puts a pack into the table, which grows when it is full.
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
    guard let place else { throw StoreFault(.io, "the table of packs has no room") }
    placed(place)
    return index
  }

  /// What to say where the index, or what the lock says, couldn't be read or written.
  var failure: StoreFault { broken.failure(of: index) }

  func isOversized(_ index: Index) -> Bool { rebuild.isOversized(index) }

  /// Goes over to a larger index. Nil when there can't be room for what finds none. To be called by the index's changer.
  func grown(_ old: Index, packs: Int? = nil) throws(StoreFault) -> Index? {
    guard let made = try rebuild.grown(old, packs: packs) else { return nil }
    current.use(made.index)
    // The next one who changes the index makes it anew from the packs.
    if made.isToBeReplaced { made.index.markReplaced() }
    return made.index
  }

  /// Goes over to an index without a record. To be called by the index's changer.
  func clear(_ old: Index) throws(StoreFault) { current.use(try rebuild.cleared(old)) }
}

// MARK: - Opening

extension IndexChanger {
  /// Joins those who use the directory; the first of them begins a session, and `tidy` puts things in order.
  ///
  /// - Parameter atOnce: throws `busy` when that would take long.
  func begin(
    limit: Int?, atOnce: Bool, tidy: (Index) throws(StoreFault) -> Void
  ) throws(StoreFault) {
    guard !directory.isReading else { return try beginReading(atOnce: atOnce) }
    if joins(limit: limit) { return }
    if atOnce { throw locks.busy(.index) }
    // Somebody may have been stopped before it said that it uses the directory: what is there can be used all the same.
    if !(try locks.areFree(within: Patience.writing)), joins(limit: limit, isFirst: true) { return }
    try locks.changingIndex { (file) throws(StoreFault) in
      let isAlone = try locks.enter()
      // In a new session everything is checked again.
      if isAlone, file.hasLosses { file.hasLosses = false }
      let (index, losses) = (try indexToChange(file), losses)
      let kept = Limits.kept(directory)
      if let limit, limit != kept {
        try doing("keeping the limit") { () throws(SystemFault) in try Limits(disk: limit).keep(directory) }
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

  /// Joins others who use the directory, if nothing has to be changed for it: without the index's lock, which a process that
  /// was stopped may hold.
  ///
  /// - Parameter isFirst: whether there need be no others.
  private func joins(limit: Int?, isFirst: Bool = false) -> Bool {
    // Whatever is wrong is found again by the way that changes the index.
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

  /// Reads a directory that can't be written: by its index, which others may change meanwhile, or by one that is made in memory
  /// from the packs, after a restart of the machine for instance.
  private func beginReading(atOnce: Bool) throws(StoreFault) {
    if let found = current.soundIndex { return current.use(found) }
    if atOnce { throw locks.busy(.index) }
    let made = try rebuild.fromPacks(insteadOf: nil)
    made.set(limit: Limits.kept(directory) ?? Limits.standard)
    current.use(made)
  }
}
