import CSystem
import Glibc
import NuthatchBase
import Synchronization

/// The index that this process uses. Switches to a new index when this or another process has made one.
///
/// Take its lock after the directory's locks, before those of the open packs and of the memory tier.
// State that isn't atomic is under its lock, hence Sendable.
final class CurrentIndex: @unchecked Sendable {
  private let directory: StoreDirectory
  private let locks: DirectoryLocks
  private let openPacks: OpenPacks
  private let checker: PayloadChecker
  private let memory: MemoryTier
  /// The failed accesses to mappings.
  let broken: BrokenMappings
  let boot: KeyHash

  // Readers follow this reference only while they hold a shard of the open packs. `kept` retains it. It changes under `lock`,
  // and the previous index is released when no reader can be using it any more.
  private let reference = Atomic<UInt>(0)
  private let lock = WordLock()
  private var kept: Index?
  private let seenDrops = Atomic<UInt32>(0)
  private let lean = Atomic(false)
  // The word in the lock file that names the index in use, and its value when this process last read it.
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

  /// Runs `body` with the index. Call it with a shard's lock held.
  @inline(__always)
  func seen<Result>(_ body: (Index) -> Result?) -> Result? {
    guard let pointer = UnsafeRawPointer(bitPattern: reference.load(ordering: .acquiring)) else { return nil }
    return Unmanaged<Index>.fromOpaque(pointer)._withUnsafeGuaranteedRef { body($0) }
  }

  /// Runs `body` with the index and the reader's shard. Returns nil if there is no index.
  @inline(__always)
  func reading<Result>(_ body: (Index, ReaderShard) -> Result) -> Result? {
    openPacks.reading { shard in seen { body($0, shard) } }
  }

  /// The index in use, as far as this process knows.
  var index: Index? { reading { index, _ in index } }

  func isInUse(_ index: Index) -> Bool {
    reference.load(ordering: .relaxed) == UInt(bitPattern: Unmanaged.passUnretained(index).toOpaque())
  }

  /// Switches to an index.
  func use(_ index: Index) {
    lock.withLock {
      keep(index)
      seenLockWord.store(saidByLock, ordering: .relaxed)
    }
    // Another process may have dropped packs and replaced the index before this process looked.
    forgetDropped(index)
    if locks.file.hasLosses { distrustPacks() }
  }

  /// Call it with `lock` held. Waits for the readers of the old index before it releases it.
  private func keep(_ index: Index) {
    let old = kept
    kept = index
    index.isLean.store(lean.load(ordering: .relaxed), ordering: .relaxed)
    if let old, !old.isBroken { index.continueSequence(after: old) } else if old != nil { broken.countLost() }
    reference.store(UInt(bitPattern: Unmanaged.passUnretained(index).toOpaque()), ordering: .releasing)
    openPacks.awaitReaders()
    withExtendedLifetime(old) {}
  }

  /// The identity of the index in use, from the lock file.
  @inline(__always)
  private var saidByLock: UInt64 { nhs_load64(lockWord) }

  /// Releases the index. From then on lookups find nothing.
  func release() {
    lock.withLock {
      reference.store(0, ordering: .releasing)
      openPacks.awaitReaders()
      kept = nil
    }
  }

  /// Returns whether another index has replaced this one. If the index file was deleted, the process that makes a new one can't
  /// mark the old one as replaced. Then the lock file names another index.
  @inline(__always)
  func isSucceeded(_ index: Index) -> Bool {
    index.isReplaced || saidByLock != seenLockWord.load(ordering: .relaxed)
  }

  /// Returns whether this process must follow a change of another process, or a mapping has failed.
  @inline(__always)
  func isOutdated(_ index: Index) -> Bool {
    isSucceeded(index) || index.drops != seenDrops.load(ordering: .relaxed) || broken.areNew
  }

  /// Returns the index after following the changes of other processes. Nil if its mapping failed and it can't be reopened at
  /// the moment.
  func forReading() -> Index? {
    guard let index else { return nil }
    guard isOutdated(index) else { return index }
    catchUp()
    return self.index.flatMap { $0.isBroken ? nil : $0 }
  }

  /// Follows the changes of other processes, like `forReading`, but returns no index.
  @inline(__always)
  func followOthers() {
    let isBehind = reading { index, _ in isOutdated(index) } ?? false
    if isBehind { catchUp() }
  }

  /// Follows the changes of other processes: maps broken files again, and opens a new index.
  func catchUp() {
    if broken.areNew { followBroken() }
    // One thread opens the new index; the others then find it open.
    lock.withLock {
      guard let current = index, !current.isBroken else { return }
      let said = saidByLock
      // Don't use an index from a new directory, or one that was made under another lock file.
      guard isSucceeded(current), !directory.findDeletion(of: locks.file) else { return }
      do throws(SystemFault) {
        let opened = try Index.open(directory, boot: boot)
        if let opened, !opened.isReplaced, opened.identity != current.identity, !opened.isBroken {
          keep(opened)
        }
        seenLockWord.store(said, ordering: .relaxed)
      } catch {
        // The next reader tries again.
      }
    }
    if let index { forgetDropped(index) }
    // Check this after `drops`, which changes when another process reports losses.
    if locks.file.hasLosses { distrustPacks() }
  }

  /// From now on this process keeps as little of an index mapped as possible. For a process that reads most slots only once.
  func stayLean() {
    lean.store(true, ordering: .sequentiallyConsistent)
    index?.isLean.store(true, ordering: .relaxed)
  }

  var isLean: Bool { lean.load(ordering: .relaxed) }

  /// Releases the packs that this or another process has dropped, and removes from memory the records that were cleared.
  func forgetDropped(_ index: Index) {
    let drops = index.drops
    let present = Set(index.packs.map(\.number))
    let cleared = index.clearedBefore
    guard !index.isBroken else { return }
    seenDrops.store(drops, ordering: .relaxed)
    checker.close()
    openPacks.drop { !present.contains($0) }
    // A lease in the memory tier must not keep a pack mapped that was dropped.
    memory.removeAll { entry in
      if entry.space == .record { return entry.sequence < cleared }
      guard entry.privateBytes == 0, let held = entry.owner as? HeldLease,
        let pin = held.lease.pin as? PackPin
      else { return false }
      return !present.contains(pin.pack.header.number)
    }
  }

  /// Checks whether the lock file or the folder of packs was deleted. If so, marks the index, so that other processes that have
  /// it mapped check, too.
  func lookForDeletion() {
    if directory.findDeletion(of: locks.file), !directory.isReading { index?.markReplaced() }
  }

  var limits: Limits {
    guard let index else { return Limits(disk: Limits.standard) }
    let limit = index.limit
    // A limit of 0 would drop everything.
    return Limits(disk: max(Limits.least, min(index.isBroken ? Limits.standard : limit, 1 << 46)))
  }

  /// Releases packs with failed reads, and maps the index and the lock file again if their mappings failed. If a file can't be
  /// mapped, the next attempt follows after `FailedAccesses.pause`; until then its records are misses.
  func followBroken() {
    lock.withLock {
      let count = FailedAccesses.count
      guard broken.areNew, broken.mayTry() else { return }
      if openPacks.dropBroken() || directory.hasBecomeReadOnly { distrustPacks() }
      let hasWords = locks.file.mend()
      if let current = index, current.isBroken, let opened = (try? Index.open(directory, boot: boot)) ?? nil,
        !opened.isReplaced, !opened.hasDamagedNumbers, !opened.isBroken,
        !directory.findDeletion(of: locks.file)
      {
        keep(opened)
      }
      // Otherwise try again later.
      if hasWords, index?.isBroken != true { broken.allWhole(at: count) }
    }
  }

  /// Reacts to an error: if the disk failed, records that were written before may be lost.
  func follow(_ fault: StoreFault) {
    // A page that couldn't be written may look like a full disk: the kernel doesn't report why.
    if fault.isOfDisk || fault.kind == .noSpace && directory.hasBecomeReadOnly { distrustPacks() }
  }

  /// Checks from time to time whether the file system has become read-only, for callers that only read.
  func checkForReadOnly() {
    if broken.mayLook(), directory.hasBecomeReadOnly { distrustPacks() }
  }

  /// From now on each record is verified and copied before it is returned. Tells other processes, if the lock file can still be
  /// written.
  private func distrustPacks() {
    // Values in memory lie in packs, or were made from them.
    if openPacks.distrust() { memory.removeAll { $0.space == .value } }
    guard !locks.file.hasLosses else { return }
    locks.file.hasLosses = true
    index?.haveOthersLook()
  }

  /// The index in the directory if the lock file names it and it is intact, so that it can be used without a change; else nil.
  var soundIndex: Index? {
    let file = locks.file
    guard !file.isNew, let found = (try? Index.open(directory, boot: boot)) ?? nil, !found.isReplaced,
      !found.hasDamagedNumbers, file.index == found.identity, found.nextSequence >= file.firstSequence,
      !found.isBroken
    else { return nil }
    return found
  }
}
