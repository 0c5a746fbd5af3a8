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
  let shelf: Shelf
  let boot: KeyHash
  let counts = StoreCounts()
  let memory: MemoryTier
  let spill: Store.Spill
  let pins = RecordPins()
  /// Taken to write a record that is in memory only to a pack, and to remove records, so that none comes back by it.
  let spills = Lock()
  let spillCounts = SpillCounts()
  /// For each family: guards its writer, and makes appending to it one thread's business.
  let familyLocks = [Lock(), Lock()]
  var writers: [PackWriter?] = [nil, nil]

  // Guards `unsettled`: records that should be retired, but couldn't be.
  let retirements = Lock()
  var unsettled: [(location: Location, hash: KeyHash)] = []

  // The index in use, as an unretained reference, so that readers need no lock. `indexes` keeps every index that was
  // ever in use until the end, because a reader may still be in it; each is larger than the one before, but for those of a `clear`.
  private let currentIndex: Atomic<UInt>
  private let indexLock = Lock()
  private var indexes: [Index] = []
  private let seenDrops = Atomic<UInt32>(0)
  /// Bytes appended since it was last looked at whether there are too many.
  let appended = Atomic(0)

  init(_ directory: StoreDirectory, _ options: Store.Options) throws(StoreFault) {
    self.directory = directory
    memory = MemoryTier(
      MemoryLimits(bytes: options.memoryBytes ?? MemoryLimits.standard, items: options.memoryItems ?? .max))
    spill = options.spill ?? .eager
    system = directory.system
    locks = try DirectoryLocks(directory)
    shelf = Shelf(directory)
    boot = Self.bootID(directory.system)
    currentIndex = Atomic(0)
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

  /// The index, as far as this process knows.
  @inline(__always)
  var index: Index? {
    guard let reference = UnsafeRawPointer(bitPattern: currentIndex.load(ordering: .acquiring)) else {
      return nil
    }
    return Unmanaged<Index>.fromOpaque(reference).takeUnretainedValue()
  }

  func use(_ index: Index) {
    indexLock.with {
      indexes.append(index)
      currentIndex.store(UInt(bitPattern: Unmanaged.passUnretained(index).toOpaque()), ordering: .releasing)
    }
    // Somebody may have dropped packs and replaced the index before this process looked.
    forgetDropped(index)
  }

  /// The index for a reader, who first sees to it that what other processes did has reached this one.
  @inline(__always)
  func currentForReading() -> Index? {
    guard let index else { return nil }
    if index.isReplaced || index.drops != seenDrops.load(ordering: .relaxed) { return catchUp(index) }
    return index
  }

  private func catchUp(_ index: Index) -> Index? {
    guard index.isReplaced else {
      forgetDropped(index)
      return index
    }
    // Opened by one thread; the others find it done.
    indexLock.with {
      guard let current = self.index, current.isReplaced, let opened = try? Index.open(directory, boot: boot)
      else {
        return
      }
      indexes.append(opened)
      currentIndex.store(UInt(bitPattern: Unmanaged.passUnretained(opened).toOpaque()), ordering: .releasing)
    }
    if let current = self.index { forgetDropped(current) }
    return self.index
  }

  /// Unmaps packs that somebody dropped.
  func forgetDropped(_ index: Index) {
    seenDrops.store(index.drops, ordering: .relaxed)
    let present = Set(index.packs.map(\.number))
    shelf.drop { !present.contains($0) }
    // A lease that the memory tier keeps must not hold a pack that everybody else has let go of.
    memory.removeAll { entry in
      guard entry.privateBytes == 0, let held = entry.owner as? HeldLease,
        let pin = held.lease.pin as? PackPin
      else { return false }
      return !present.contains(pin.pack.header.number)
    }
  }

  /// Does something as the only one who changes the index, which is the one in the directory, whole and up to date.
  func changing<Result>(_ body: (Index) throws(StoreFault) -> Result) throws(StoreFault) -> Result {
    try locks.changingIndex { () throws(StoreFault) -> Result in
      let index = try indexToChange()
      return try body(index)
    }
  }

  /// To be called while the index lock is held.
  private func indexToChange() throws(StoreFault) -> Index {
    if let index, !index.isReplaced,
      try doing("looking at the index", { () throws(SystemFault) in try system.status(index.fd).links }) > 0
    {
      index.finishPending()
      return index
    }
    let found = try doing("opening the index") { () throws(SystemFault) in
      try Index.open(directory, boot: boot)
    }
    if let found {
      found.finishPending()
      use(found)
      return found
    }
    let limit = index?.limit ?? Limits.kept(directory) ?? Limits.standard
    let made = try rebuiltIndex()
    made.set(limit: limit)
    use(made)
    return made
  }

  /// Joins those who use the directory; the first of them begins a session and puts things in order.
  private func begin(limit: Int?) throws(StoreFault) {
    try locks.changingIndex { () throws(StoreFault) in
      let isAlone = try locks.enter()
      let index = try indexToChange()
      let kept = Limits.kept(directory)
      let wanted = limit ?? kept ?? Limits.standard
      if let limit, limit != kept {
        try doing("keeping the limit") { () throws(SystemFault) in try Limits(disk: limit).keep(directory) }
      }
      index.set(limit: wanted)
      if isAlone {
        index.beginSession()
        try tidy(index)
      }
    }
  }

  var limits: Limits { Limits(disk: max(Limits.least, min(index?.limit ?? Limits.standard, 1 << 46))) }

  /// Lets go of the packs that this process appends to, and of the directory.
  func finish() {
    // What can't be written is lost, and nobody is left who could be told.
    do { try flush() } catch {}
    memory.removeAll { _ in true }
    pins.forgetAll()
    for family in Family.allCases {
      familyLocks[family.place].with {
        writers[family.place]?.giveBackTail()
        writers[family.place] = nil
      }
    }
    settle()
    locks.leave()
  }
}
