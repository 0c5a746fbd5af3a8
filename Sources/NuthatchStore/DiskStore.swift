import CSystem
import Synchronization

/// The records of a directory, in packs that all processes share. Creates the parts of the store and passes each call to its
/// part.
///
/// Order of locks: `StoreDoor`'s lock for reopening, the memory tier's write lock, the directory's lock for dropping packs, an
/// appender's lock, the directory's lock for changing the index; then the locks of the current index, of the retired records,
/// of the open packs, and of the memory tier's entries. A thread that holds any other lock takes no further one. The lock of a
/// pack's file is only tried, never waited for, so it may be taken anywhere.
final class DiskStore: Sendable {
  let directory: StoreDirectory
  let locks: DirectoryLocks
  /// The memory tier of this process, which is searched before the packs.
  let memory: MemoryTier
  /// Removals that couldn't be done yet.
  let due: DueRemovals
  let following: Store.Following
  let current: CurrentIndex
  let changer: IndexChanger
  let reader: RecordReader
  let moments: Moments
  let openPacks: OpenPacks
  let retired: RetiredRecords
  private let checker: PayloadChecker
  private let killed: KilledWriters
  private let removal: RecordRemoval
  let appenders: [PackAppender]
  private let eviction: Eviction
  private let counts: StoreCounts
  let glance: Glance
  let checksAlways: Bool
  private let epoch = nhs_fork_epoch()

  /// - Parameters:
  ///   - old: the store that had this directory open before it was deleted. The new store keeps its memory and counters.
  ///   - atOnce: throws `busy` if opening would take long.
  init(
    _ directory: StoreDirectory, _ options: Store.Options, _ following: @escaping Store.Following,
    after old: DiskStore? = nil, atOnce: Bool = false
  ) throws(StoreFault) {
    self.directory = directory
    self.following = following
    memory =
      old?.memory
      ?? MemoryTier(
        MemoryLimits(bytes: options.memoryBytes ?? MemoryLimits.standard, items: options.memoryItems ?? .max))
    counts = old?.counts ?? StoreCounts()
    due = old?.due ?? DueRemovals()
    locks = try DirectoryLocks(directory)
    openPacks = OpenPacks(directory)
    checksAlways = options.checksAlways ?? false
    if checksAlways { _ = openPacks.distrust() }
    // If only the lock file was deleted, the packs are the same.
    let hasSamePacks = old?.directory.holdsItsPacks ?? false
    retired = RetiredRecords(directory, openPacks, after: hasSamePacks ? old?.retired : nil)
    checker = PayloadChecker(directory, openPacks)
    current = CurrentIndex(directory, locks, openPacks, checker, memory)
    changer = IndexChanger(current, directory, locks, openPacks, retired, checker)
    killed = KilledWriters(
      directory: directory, locks: locks, openPacks: openPacks, changer: changer, retired: retired,
      checker: checker)
    appenders = Family.allCases.map { [locks, openPacks, changer, retired, due, killed] in
      PackAppender($0, directory, locks, openPacks, changer, retired, due, killed)
    }
    reader = RecordReader(current, openPacks, checker, due)
    moments = Moments(changer: changer, due: due, isReading: directory.isReading)
    removal = RecordRemoval(
      changer: changer, openPacks: openPacks, retired: retired, checker: checker, killed: killed)
    eviction = Eviction(directory, locks, openPacks, changer, killed, appenders, counts)
    glance = Glance(directory, current, reader, moments)
    try changer.begin(limit: Self.limit(directory, options, old), atOnce: atOnce, tidy: killed.tidy)
    due.follow(locks.file)
    guard let old else { return }
    if let earlier = old.current.index { current.index?.continueSequence(after: earlier) }
    if old.current.isLean { current.stayLean() }
    // Release the leases of deleted packs; pictures that were made from them stay.
    memory.removeAll { $0.privateBytes == 0 && ($0.owner as? HeldLease)?.lease.pin is PackPin }
  }

  /// Returns the limit to write to the directory, or nil to use the one that is stored there or the default.
  private static func limit(_ directory: StoreDirectory, _ options: Store.Options, _ old: DiskStore?) -> Int?
  {
    guard let old else { return options.diskBytes }
    let earlier = old.current.limits.disk
    // If another process has made the directory again, that process's limit is used.
    return directory.isNew && earlier != Limits.standard ? earlier : nil
  }

  func finish(flushes: Bool) {
    memory.removeAll { _ in true }
    for appender in appenders { appender.release() }
    retired.retryFailed()
    checker.close()
    locks.leave()
  }

  /// Closes all files of the directory. A call that reads only memory (`Glance`) finds nothing from then on.
  deinit {
    // In a forked child, files and locks belong to the parent.
    guard epoch == nhs_fork_epoch() else { return }
    checker.close()
    openPacks.drop { _ in true }
    current.release()
    locks.file.close()
    directory.close()
  }

  // MARK: Writing

  /// Writes a record to a pack and publishes it under its key. From then on it survives this process. Returns nil if it may not
  /// replace the stored record.
  ///
  /// - Parameter sequence: the sequence number that the record already has, and with it its identity; 0 for a new record.
  @discardableResult
  func write(
    _ key: RecordKey, _ shape: PayloadShape, _ parts: [UnsafeRawBufferPointer], sequence: UInt64 = 0,
    replacing: Replaceable = .any
  ) throws(StoreFault) -> Lease? {
    var header = RecordHeader(
      kind: key.kind, shape: shape, keyLength: key.bytes.count, hash: key.hash, sequence: sequence,
      payloadLength: try length(key, parts), payloadChecksum: try Self.checksum(parts))
    let appender = appenders[header.kind.family.place]
    for attempt in 0..<9 {
      // The other processes have used all the room or append to all packs. Each process may then open one pack beyond the
      // limit.
      let mayExceed = attempt > 2 && !current.limits.needsOwnPack(header)
      switch try appender.append(&header, key.bytes, parts, replacing: replacing, mayExceed: mayExceed) {
      case .done(let lease):
        eviction.housekeep(after: header.payloadLength)
        if lease != nil { count(header) }
        return lease
      case .needsRoom(let bytes): try eviction.makeRoom(for: bytes)
      }
    }
    throw StoreFault(
      .noSpace, "the disk limit leaves room only for packs that other processes are writing to")
  }

  private static func checksum(_ parts: [UnsafeRawBufferPointer]) throws(StoreFault) -> UInt64 {
    if parts.count == 1 { return nhs_hash64(parts[0].baseAddress, parts[0].count, 0) }
    guard let hasher = nhs_hasher_new() else {
      throw StoreFault(.outOfMemory, "there is no memory for computing a checksum")
    }
    defer { nhs_hasher_free(hasher) }
    for part in parts where !part.isEmpty { nhs_hasher_add(hasher, part.baseAddress, part.count) }
    return nhs_hasher_value(hasher)
  }

  /// The length of a payload, if it isn't too long.
  func length(_ key: RecordKey, _ parts: [UnsafeRawBufferPointer]) throws(StoreFault) -> Int {
    guard (1...Int(UInt16.max)).contains(key.bytes.count) else {
      throw StoreFault(.invalid, "the key has \(key.bytes.count) bytes; it must have 1 to 65,535")
    }
    var length = 0
    for part in parts {
      let (sum, overflow) = length.addingReportingOverflow(part.count)
      guard !overflow else { throw StoreFault(.tooLarge, "the record is too large") }
      length = sum
    }
    guard length <= current.limits.longestAtAll else {
      throw StoreFault(
        .tooLarge, "the record has \(length) bytes, more than a quarter of the disk limit (disk_bytes)")
    }
    return length
  }

  private func count(_ header: RecordHeader) {
    let room = RecordHeader.size + header.keyLength + 16 + header.payloadLength
    let taken = current.limits.needsOwnPack(header) ? (PackHeader.size + room + 4095) & ~4095 : room
    counts.commits.wrappingAdd(1, ordering: .relaxed)
    if header.kind.family == .bulk {
      counts.writtenBulk.wrappingAdd(taken, ordering: .relaxed)
    } else {
      counts.writtenSmall.wrappingAdd(taken, ordering: .relaxed)
    }
  }

  // MARK: Statistics and checks

  func statistics() -> StoreStatistics {
    var statistics = StoreStatistics()
    if let index = current.forReading() {
      let counters = index.counters
      let packs = index.packs
      statistics.meta = max(0, counters.meta &+ counters.answer)
      statistics.bodies = max(0, counters.body)
      statistics.thumbs = max(0, counters.thumb)
      statistics.packs = packs.count
      statistics.diskBytes = packs.reduce(0) { $0 + $1.cost }
    }
    statistics.diskLimit = current.limits.disk
    statistics.pinnedBytes = openPacks.pinned.current
    statistics.commits = counts.commits.load(ordering: .relaxed)
    statistics.writtenSmallBytes = counts.writtenSmall.load(ordering: .relaxed)
    statistics.writtenBulkBytes = counts.writtenBulk.load(ordering: .relaxed)
    statistics.droppedPacks = counts.droppedPacks.load(ordering: .relaxed)
    statistics.droppedBytes = counts.droppedBytes.load(ordering: .relaxed)
    statistics.droppedRecords = counts.droppedRecords.load(ordering: .relaxed)
    statistics.memory = memory.statistics
    statistics.pressure = memory.spills.pressure
    statistics.warning = directory.warning
    return statistics
  }

  /// The process that holds a lock since a wait for it timed out, and for how many nanoseconds. Nil if there is none.
  var holder: (name: String, nanoseconds: Int64)? { locks.holder }

  /// Checks whether the directory was deleted.
  func lookForDeletion() { current.lookForDeletion() }

  /// Maps again the files that couldn't be read or written.
  func followBroken() { current.followBroken() }

  /// Reads every record. Removes damaged records and indexes lost ones again, unless the directory can only be read.
  func verify() throws(StoreFault) -> VerifyReport {
    try StoreCheck(
      directory: directory, openPacks: openPacks, changer: changer, retired: retired, checker: checker,
      killed: killed
    ).verify()
  }

  // MARK: Making room

  /// Drops the oldest packs until no more than this many bytes are left.
  func trim(to bytes: Int) throws(StoreFault) { try eviction.trim(to: bytes) }

  /// Unmaps the pages of packs and index from this process until they are read again.
  private func unmapPages() {
    openPacks.forEach { $0.unmapPages() }
    current.index?.unmapPages()
  }

  /// Unmaps the pages now, and after every 256 lookups from now on.
  func stayLean() {
    current.stayLean()
    unmapPages()
  }

  /// Unmaps packs and index from this process's memory if the pressure is critical.
  func relieveMappings(_ level: MemoryPressure) {
    memory.spills.count(level)
    guard level == .critical else { return }
    unmapPages()
    for appender in appenders { appender.closeWindow() }
  }
}

extension DiskStore: RecordStore {
  var disk: DiskStore { self }

  func lookup(_ key: RecordKey, checking most: Int) -> Lookup { reader.lookup(key, checking: most) }

  func commit(
    _ key: RecordKey, _ shape: PayloadShape, _ parts: [UnsafeRawBufferPointer], asked moment: Moment?
  ) throws(StoreFault) -> Lease? {
    if moment == nil { memory.remove(.value, key) }
    return try write(key, shape, parts, replacing: moment.map { .askedBefore($0) } ?? .any)
  }

  func remove(_ key: RecordKey) throws(StoreFault) -> Bool {
    memory.remove(.value, key)
    return try removal.remove(key)
  }

  func remove(_ groups: [RecordGroup], _ keys: [RecordKey]) throws(StoreFault) -> [RemovedRecord] {
    for key in keys { memory.remove(.value, key) }
    return try removal.remove(groups, keys)
  }

  func clear() throws(StoreFault) {
    defer { memory.removeAll { _ in true } }
    let posts = due.posted?.all ?? []
    try eviction.clear()
    due.remove(posts)
  }

  func forEach(_ kind: RecordKind?, _ body: (RecordKey, Lease) -> Bool) throws(StoreFault) {
    try reader.forEach(kind, body)
  }

  func touch(_ key: RecordKey) -> Bool { reader.touch(key) }

  func has(_ key: RecordKey) -> Bool { reader.names(key.hash) }

  func holds(_ key: RecordKey) -> Bool { reader.find(key) != nil }

  func mark(of key: RecordKey) -> RecordMark? { reader.mark(of: key.hash, bringsUpToDate: true) }

  func isCurrent(_ mark: RecordMark, _ key: RecordKey) -> Bool {
    reader.mark(of: key.hash, bringsUpToDate: false) == mark
  }

  func remember(_ entry: MemoryEntry) -> Bool { memory.keep(entry).isKept }

  /// Every record is already in a pack.
  func flush() {}

  func relieve(_ level: MemoryPressure) {
    _ = memory.shrink(to: level == .critical ? 0 : memory.statistics.bytes / 2)
    relieveMappings(level)
  }
}
