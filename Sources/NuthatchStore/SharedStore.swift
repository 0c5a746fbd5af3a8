import CSystem
import Glibc
import Synchronization

/// What all stores of one directory in one process share.
///
/// Locks are taken in this order: `spills`, `dropping` of the directory's locks, a family's lock, `changingIndex`, the
/// shelf's, the memory tier's.
final class SharedStore: @unchecked Sendable {
  let directory: StoreDirectory
  let system: any SystemCalls
  let locks: DirectoryLocks
  let shelf: MappedPacks
  let boot: KeyHash
  let counts = StoreCounts()
  let memory: MemoryTier
  let spill: Store.Spill
  /// Taken to write a record that is in memory only to a pack, and to remove records, so that none comes back by it.
  let spills = Lock()
  let spillCounts = SpillCounts()
  let checkedFile = CheckedFile()
  /// Whether this process goes through more than it will come back to, so that pages of packs and index are soon let go of.
  let isLean = Atomic(false)
  /// For each family: guards its appender, and makes appending to it one thread's business.
  let familyLocks = [Lock(), Lock()]
  /// For each family what this process appends to: boxes, since two families are written at the same time.
  let appenders = [Appender(), Appender()]

  // Guards `unsettled`: records that should be retired, but couldn't be.
  let retirements = Lock()
  var unsettled: [Location: KeyHash] = [:]

  // The index in use, as a reference that is followed only by who stands in a shard of the shelf. `keptIndex` keeps it;
  // it changes under `indexLock`, and the one before goes when no reader can be in it any more.
  let currentIndex: Atomic<UInt>
  let indexLock = Lock()
  private var keptIndex: Index?
  private let seenDrops = Atomic<UInt32>(0)
  // Where the lock says what index is in use, and what it said when this process looked for it last.
  private let lockWord: Atomic<UInt>
  private let seenLockWord = Atomic<UInt64>(0)
  /// What is to be removed, and couldn't be yet.
  let due: DueRemovals
  let following: Store.Following
  /// What has become of mappings of which some couldn't be read or written (`SharedStore+Broken`).
  let broken = BrokenMappings()
  /// Bytes appended since this process looked last what others have done. So many at first that the first record makes this
  /// process look: there may be processes that keep no more than one each.
  let appended = Atomic(Int.max / 2)
  // The highest sequence that this process was given.
  private let lastSequence = Atomic<UInt64>(0)

  init(
    _ directory: StoreDirectory, _ options: Store.Options,
    _ following: @escaping Store.Following = { _, _, _ in }
  ) throws(StoreFault) {
    self.directory = directory
    self.following = following
    memory = MemoryTier(
      MemoryLimits(bytes: options.memoryBytes ?? MemoryLimits.standard, items: options.memoryItems ?? .max))
    // What is in memory only could never be written.
    spill = directory.isReading ? .eager : options.spill ?? .eager
    system = directory.system
    locks = try DirectoryLocks(directory)
    shelf = MappedPacks(directory)
    boot = Self.bootID(directory.system)
    currentIndex = Atomic(0)
    lockWord = Atomic(UInt(bitPattern: locks.file.indexWord))
    due = DueRemovals(locks.file.posted)
    try begin(limit: options.diskBytes)
  }

  private static func bootID(_ system: any SystemCalls) -> KeyHash {
    var bytes = [UInt8](repeating: 0, count: 64)
    var count = 0
    if let fd = try? system.open(AT_FDCWD, "/proc/sys/kernel/random/boot_id", O_RDONLY) {
      bytes.withUnsafeMutableBytes { buffer in count = (try? system.read(fd, buffer, 0)) ?? 0 }
      system.close(fd)
    }
    return bytes.withUnsafeBytes {
      KeyHash(UnsafeRawBufferPointer(rebasing: $0.prefix(max(0, count))), seed: 0)
    }
  }

  /// Looks at the index as a reader: `body` gets it, what it is known by, and the shard. Nil without an index.
  @inline(__always)
  func reading<Result>(_ body: (Index, UInt, Shard) -> Result) -> Result? {
    shelf.reading { shard in
      let reference = currentIndex.load(ordering: .acquiring)
      guard let pointer = UnsafeRawPointer(bitPattern: reference) else { return nil }
      return Unmanaged<Index>.fromOpaque(pointer)._withUnsafeGuaranteedRef { body($0, reference, shard) }
    }
  }

  /// The index, as far as this process knows.
  var index: Index? { reading { index, _, _ in index } }

  private func currentIndexIs(_ index: Index) -> Bool {
    currentIndex.load(ordering: .relaxed) == UInt(bitPattern: Unmanaged.passUnretained(index).toOpaque())
  }

  func use(_ index: Index) {
    indexLock.with {
      keep(index)
      lockWord.store(UInt(bitPattern: locks.file.indexWord), ordering: .releasing)
      seenLockWord.store(saidByLock, ordering: .relaxed)
      due.follow(locks.file.posted)
    }
    // Somebody may have dropped packs and replaced the index before this process looked.
    forgetDropped(index)
  }

  /// To be called with `indexLock`. Whoever has taken up the old index as a reader is waited for, then it is let go.
  func keep(_ index: Index) {
    // First: it names packs by their numbers, which are others in another folder.
    followPacks()
    let old = keptIndex
    keptIndex = index
    index.isLean.store(isLean.load(ordering: .relaxed), ordering: .relaxed)
    if let old, !old.isBroken { index.goOn(after: old) } else if old != nil { broken.countLost() }
    currentIndex.store(UInt(bitPattern: Unmanaged.passUnretained(index).toOpaque()), ordering: .releasing)
    shelf.awaitReaders()
    withExtendedLifetime(old) {}
  }

  /// The identity of the index in use, by the lock.
  @inline(__always)
  private var saidByLock: UInt64 {
    UnsafeRawPointer(bitPattern: lockWord.load(ordering: .acquiring)).map { nhs_load64($0) } ?? 0
  }

  /// Whether another index has taken the place of this one. One that was deleted can't be marked by who makes another one: the
  /// lock says so.
  @inline(__always)
  func isSucceeded(_ index: Index) -> Bool {
    index.isReplaced || saidByLock != seenLockWord.load(ordering: .relaxed)
  }

  /// Whether something happened that this process has to follow: others did it, or a mapping broke.
  @inline(__always)
  func isOutdated(_ index: Index) -> Bool {
    isSucceeded(index) || index.drops != seenDrops.load(ordering: .relaxed) || broken.areNew
  }

  /// The index for a reader, who first sees to it that what other processes did has reached this one. Nil when it broke and can't
  /// be opened anew at the moment.
  func currentForReading() -> Index? {
    guard let index else { return nil }
    guard isOutdated(index) else { return index }
    catchUp()
    return self.index.flatMap { $0.isBroken ? nil : $0 }
  }

  /// Sees to it that what other processes did has reached this one, for who doesn't need the index.
  @inline(__always)
  func followOthers() {
    let isBehind = reading { index, _, _ in isOutdated(index) } ?? false
    if isBehind { catchUp() }
  }

  func catchUp() {
    if broken.areNew { followBroken() }
    // Opened by one thread; the others find it done.
    indexLock.with {
      guard let current = index, !current.isBroken else { return }
      let said = saidByLock
      guard isSucceeded(current) else { return }
      do throws(SystemFault) {
        let opened = try Index.open(directory, boot: boot)
        if let opened, !opened.isReplaced, opened.identity != current.identity, !opened.isBroken {
          keep(opened)
        }
        seenLockWord.store(said, ordering: .relaxed)
      } catch {
        // Looked for again by the next one.
      }
    }
    if let index { forgetDropped(index) }
  }

  /// Goes over to the folder of packs that has the name now, should somebody have deleted the one in use. What is known of
  /// packs is forgotten then: others have their numbers. Leases keep what they need.
  private func followPacks() {
    guard directory.followPacks() else { return }
    shelf.drop { _ in true }
    checkedFile.close(directory)
    retirements.with { unsettled = [:] }
    memory.removeAll { $0.privateBytes == 0 && ($0.owner as? HeldLease)?.lease.pin is PackPin }
  }

  /// Unmaps packs that somebody dropped.
  func forgetDropped(_ index: Index) {
    let drops = index.drops
    let present = Set(index.packs.map(\.number))
    let cleared = index.clearedBefore
    guard !index.isBroken else { return }
    seenDrops.store(drops, ordering: .relaxed)
    checkedFile.close(directory)
    shelf.drop { !present.contains($0) }
    // A lease that the memory tier keeps must not hold a pack that everybody else has let go of.
    memory.removeAll { entry in
      if entry.space == .record { return entry.sequence < cleared }
      guard entry.privateBytes == 0, let held = entry.owner as? HeldLease,
        let pin = held.lease.pin as? PackPin
      else { return false }
      return !present.contains(pin.pack.header.number)
    }
  }

  /// Does something as the only one who changes the index, which is the one in the directory, whole and up to date.
  ///
  /// `body` is called again when somebody with another lock has put another index in its place meanwhile: what it did
  /// may have been too late to be taken over.
  ///
  /// - Throws: `readOnly`, since every change goes through here; `busy`.
  func changing<Result>(_ body: (Index) throws(StoreFault) -> Result) throws(StoreFault) -> Result {
    try checkWritable()
    try beReadyToChange()
    return try locks.changingIndex { (file) throws(StoreFault) -> Result in
      for _ in 0..<4 {
        let (index, losses) = (try indexToChange(file), losses)
        let result = try body(index)
        try check(losses)
        if currentIndexIs(index) {
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

  /// - Throws: `readOnly`.
  func checkWritable() throws(StoreFault) {
    if let refusal = directory.refusal { throw .readOnly(refusal) }
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
      if currentIndexIs(index) { index.raise(nextSequence: last + 1 << 32) }
    }
    lastSequence.max(sequence, ordering: .relaxed)
    return sequence
  }

  static let hasNoRoom = StoreFault(.io, "the index has no room for keys like these")
  static let indexIsFull = StoreFault(.noSpace, "the disk is full: the index can't be written")

  /// To be called while the index lock is held.
  private func indexToChange(_ file: LockFile) throws(StoreFault) -> Index {
    let current = index
    if file.mend(), let current, !current.isReplaced, file.index == current.identity, !current.isBroken {
      guard current.finishPending() else { throw Self.indexIsFull }
      finishRetiring(current)
      return current
    }
    let file = try locks.follow()
    guard file.mend() else { throw failure(of: nil) }
    followPacks()
    let found: Index?
    do throws(SystemFault) { found = try Index.open(directory, boot: boot) } catch {
      // On a bad place of the disk, or not ours: as good as none.
      guard error.number == EIO || error.number == EACCES else {
        throw StoreFault(error, "opening the index")
      }
      found = nil
    }
    // One that has this name and says that it was replaced is damaged, or its successor was never made.
    if let found, !file.isNew, !found.isReplaced, !found.isOfDamagedNumbers,
      found.nextSequence >= file.firstSequence
    {
      guard found.finishPending() else { throw Self.indexIsFull }
      file.index = found.identity
      guard !found.isBroken else { throw failure(of: found) }
      use(found)
      finishRetiring(found)
      return found
    }
    // Those who have a lock that was deleted must not go on with an index that others change too.
    found?.markReplaced()
    let limit = current?.limit ?? Limits.kept(directory) ?? Limits.standard
    let made = try rebuiltIndex()
    made.set(limit: limit)
    for old in [found, current] { if let old { made.goOnCounting(after: old) } }
    // Nothing is left that says which numbers packs were given, and others may still hold packs that were dropped since.
    if file.isNew, !directory.isNew, found == nil, current == nil { made.skipPackNumbers() }
    file.lastPack = made.nextPack &- 1
    use(made)
    file.isNew = false
    return made
  }

  /// Has everybody look for the index anew, if somebody deleted the lock, which newcomers then don't share, or the folder of
  /// packs.
  func followLock() {
    guard !directory.isReading else { return }
    if locks.file.isDeleted || directory.hasLostItsPacks { index?.markReplaced() }
  }

  /// Joins those who use the directory; the first of them begins a session and puts things in order.
  private func begin(limit: Int?) throws(StoreFault) {
    guard !directory.isReading else { return try beginReading() }
    if joins(limit: limit) { return }
    // Somebody may have been stopped before it said that it uses the directory: what is there can be used all the same.
    if !(try locks.areFree(within: Patience.writing)), joins(limit: limit, isFirst: true) { return }
    try locks.changingIndex { (file) throws(StoreFault) in
      let isAlone = try locks.enter()
      let (index, losses) = (try indexToChange(file), losses)
      let kept = Limits.kept(directory)
      let wanted = limit ?? kept ?? Limits.standard
      if let limit, limit != kept {
        try doing("keeping the limit") { () throws(SystemFault) in try Limits(disk: limit).keep(directory) }
      }
      index.set(limit: wanted)
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
    guard limit == nil || limit == kept, let found = soundIndex, found.limit == kept ?? Limits.standard else {
      locks.leave()
      return false
    }
    use(found)
    return true
  }

  /// The index that is there, if it is the one that the lock names, and nothing has to be changed before it is used.
  private var soundIndex: Index? {
    let file = locks.file
    guard !file.isNew, let found = (try? Index.open(directory, boot: boot)) ?? nil, !found.isReplaced,
      !found.isOfDamagedNumbers, file.index == found.identity, found.nextSequence >= file.firstSequence,
      !found.isBroken
    else { return nil }
    return found
  }

  /// Reads a directory that can't be written: by its index, which others may change meanwhile, or by one that is made in memory
  /// from the packs, after a restart of the machine for instance.
  private func beginReading() throws(StoreFault) {
    if let found = soundIndex { return use(found) }
    let made = try rebuiltIndex()
    made.set(limit: Limits.kept(directory) ?? Limits.standard)
    use(made)
  }

  /// The process that has held up the changes of the index since a wait for it ended in vain.
  var holder: (name: String, nanoseconds: Int64)? { locks.holder }

  var limits: Limits {
    guard let index else { return Limits(disk: Limits.standard) }
    let limit = index.limit
    // By a limit of 0 everything would be dropped.
    return Limits(disk: max(Limits.least, min(index.isBroken ? Limits.standard : limit, 1 << 46)))
  }

  /// Lets go of the packs that this process appends to, and of the directory.
  func finish(flushes: Bool = true) {
    // What can't be written is lost, and nobody is left who could be told.
    if flushes { do { try flush() } catch {} }
    memory.removeAll { _ in true }
    for family in Family.allCases {
      // A thread that waits for the index may have it. Then the reserved room is given back by the next one who opens.
      try? familyLocks[family.place].patiently(locks.busy(.index)) {
        appenders[family.place].writer?.giveBackTail()
        appenders[family.place].writer = nil
      }
    }
    settle()
    checkedFile.close(directory)
    locks.leave()
  }
}
