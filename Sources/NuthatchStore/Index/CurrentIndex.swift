import CSystem
import Glibc
import NuthatchBase
import Synchronization

/// The index in use, for those who look at it. Goes over to another one when another process, or this one, has made it.
///
/// Its lock is taken after the directory's locks, before those of the open packs and of the memory tier.
// What isn't atomic is under its lock, hence Sendable.
final class CurrentIndex: @unchecked Sendable {
  private let directory: StoreDirectory
  private let locks: DirectoryLocks
  private let openPacks: OpenPacks
  private let checker: PayloadChecker
  private let memory: MemoryTier
  /// What has become of mappings of which some couldn't be read or written.
  let broken: BrokenMappings
  let boot: KeyHash

  // A reference that is followed only by who stands in a shard of the open packs. `kept` keeps it; it changes under `lock`, and
  // the one before goes when no reader can be in it any more.
  private let reference = Atomic<UInt>(0)
  private let lock = WordLock()
  private var kept: Index?
  private let seenDrops = Atomic<UInt32>(0)
  private let lean = Atomic(false)
  // Where the lock says what index is in use, and what it said when this process looked for it last.
  private let lockWord: UnsafeRawPointer
  private let seenLockWord = Atomic<UInt64>(0)

  init(
    _ directory: StoreDirectory, _ locks: DirectoryLocks, _ openPacks: OpenPacks, _ checker: PayloadChecker,
    _ memory: MemoryTier
  ) {
    self.directory = directory
    self.locks = locks
    self.openPacks = openPacks
    self.checker = checker
    self.memory = memory
    broken = BrokenMappings()
    boot = Self.bootID(directory.system)
    lockWord = locks.file.indexWord
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

  /// What the reference leads to, for who stands in a shard.
  @inline(__always)
  func seen<Result>(_ body: (Index) -> Result?) -> Result? {
    guard let pointer = UnsafeRawPointer(bitPattern: reference.load(ordering: .acquiring)) else { return nil }
    return Unmanaged<Index>.fromOpaque(pointer)._withUnsafeGuaranteedRef { body($0) }
  }

  /// Looks at the index as a reader: `body` gets it and the shard. Nil without an index.
  @inline(__always)
  func reading<Result>(_ body: (Index, Shard) -> Result) -> Result? {
    openPacks.reading { shard in seen { body($0, shard) } }
  }

  /// The index, as far as this process knows.
  var index: Index? { reading { index, _ in index } }

  func isInUse(_ index: Index) -> Bool {
    reference.load(ordering: .relaxed) == UInt(bitPattern: Unmanaged.passUnretained(index).toOpaque())
  }

  func use(_ index: Index) {
    lock.withLock {
      keep(index)
      seenLockWord.store(saidByLock, ordering: .relaxed)
    }
    // Somebody may have dropped packs and replaced the index before this process looked.
    forgetDropped(index)
    if locks.file.hasLosses { distrustPacks() }
  }

  /// To be called with `lock`. Whoever has taken up the old index as a reader is waited for, then it is let go.
  private func keep(_ index: Index) {
    let old = kept
    kept = index
    index.isLean.store(lean.load(ordering: .relaxed), ordering: .relaxed)
    if let old, !old.isBroken { index.goOn(after: old) } else if old != nil { broken.countLost() }
    reference.store(UInt(bitPattern: Unmanaged.passUnretained(index).toOpaque()), ordering: .releasing)
    openPacks.awaitReaders()
    withExtendedLifetime(old) {}
  }

  /// The identity of the index in use, by the lock.
  @inline(__always)
  private var saidByLock: UInt64 { nhs_load64(lockWord) }

  /// Lets go of the index. Lookups find nothing here from then on.
  func letGo() {
    lock.withLock {
      reference.store(0, ordering: .releasing)
      openPacks.awaitReaders()
      kept = nil
    }
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
  func forReading() -> Index? {
    guard let index else { return nil }
    guard isOutdated(index) else { return index }
    catchUp()
    return self.index.flatMap { $0.isBroken ? nil : $0 }
  }

  /// Sees to it that what other processes did has reached this one, for who doesn't need the index.
  @inline(__always)
  func followOthers() {
    let isBehind = reading { index, _ in isOutdated(index) } ?? false
    if isBehind { catchUp() }
  }

  func catchUp() {
    if broken.areNew { followBroken() }
    // Opened by one thread; the others find it done.
    lock.withLock {
      guard let current = index, !current.isBroken else { return }
      let said = saidByLock
      // What stands in another folder of packs, or was made by another lock, is none for this one.
      guard isSucceeded(current), !directory.findDeletion(of: locks.file) else { return }
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
    // After the look at what moves when somebody says so.
    if locks.file.hasLosses { distrustPacks() }
  }

  /// From now on this process keeps as little of an index in its memory as can be: it goes through more than it will come back to.
  func stayLean() {
    lean.store(true, ordering: .sequentiallyConsistent)
    index?.isLean.store(true, ordering: .relaxed)
  }

  var isLean: Bool { lean.load(ordering: .relaxed) }

  /// Unmaps packs that somebody dropped.
  func forgetDropped(_ index: Index) {
    let drops = index.drops
    let present = Set(index.packs.map(\.number))
    let cleared = index.clearedBefore
    guard !index.isBroken else { return }
    seenDrops.store(drops, ordering: .relaxed)
    checker.close()
    openPacks.drop { !present.contains($0) }
    // A lease that the memory tier keeps must not hold a pack that everybody else has let go of.
    memory.removeAll { entry in
      if entry.space == .record { return entry.sequence < cleared }
      guard entry.privateBytes == 0, let held = entry.owner as? HeldLease,
        let pin = held.lease.pin as? PackPin
      else { return false }
      return !present.contains(pin.pack.header.number)
    }
  }

  /// Looks whether the lock or the folder of packs was deleted. If so, marks the index, so that other processes that have it mapped
  /// look, too.
  func lookForDeletion() {
    if directory.findDeletion(of: locks.file), !directory.isReading { index?.markReplaced() }
  }

  var limits: Limits {
    guard let index else { return Limits(disk: Limits.standard) }
    let limit = index.limit
    // By a limit of 0 everything would be dropped.
    return Limits(disk: max(Limits.least, min(index.isBroken ? Limits.standard : limit, 1 << 46)))
  }

  /// Maps anew what broke, or lets go of it. What can't be mapped whole is left for a while, and missing until then.
  func followBroken() {
    lock.withLock {
      let count = FailedTouches.count
      guard broken.areNew, broken.mayTry() else { return }
      if openPacks.dropBroken() || directory.hasTurned { distrustPacks() }
      let hasWords = locks.file.mend()
      if let current = index, current.isBroken, let opened = (try? Index.open(directory, boot: boot)) ?? nil,
        !opened.isReplaced, !opened.isOfDamagedNumbers, !opened.isBroken,
        !directory.findDeletion(of: locks.file)
      {
        keep(opened)
      }
      // Else it is looked for again.
      if hasWords, index?.isBroken != true { broken.allWhole(at: count) }
    }
  }

  /// Follows an error: what was written before may be lost if the disk failed.
  func follow(_ fault: StoreFault) {
    // Of a page that can't be written the kernel doesn't say why.
    if fault.isOfDisk || fault.kind == .noSpace && directory.hasTurned { distrustPacks() }
  }

  /// Looks once in a while whether the file system has turned read-only, for who writes nothing that would fail.
  func lookForTurn() {
    if broken.mayLook(), directory.hasTurned { distrustPacks() }
  }

  /// From now on each record is checked and copied before it is given. Has others do the same, as far as they can still be told.
  private func distrustPacks() {
    // What is kept in memory lies in packs, or was made of what did.
    if openPacks.distrust() { memory.removeAll { $0.space == .value } }
    guard !locks.file.hasLosses else { return }
    locks.file.hasLosses = true
    index?.haveOthersLook()
  }

  /// The index that is there, if it is the one that the lock names, and nothing has to be changed before it is used.
  var soundIndex: Index? {
    let file = locks.file
    guard !file.isNew, let found = (try? Index.open(directory, boot: boot)) ?? nil, !found.isReplaced,
      !found.isOfDamagedNumbers, file.index == found.identity, found.nextSequence >= file.firstSequence,
      !found.isBroken
    else { return nil }
    return found
  }
}
