import CSystem
import NuthatchBase
import Synchronization

/// Records in a directory, shared by every process that has it open.
///
/// Any thread may use it. If a process opens a directory twice, it has two stores, as if two processes had opened it. A forked
/// child can't use a store that its parent opened, but leases stay readable there, and the child may open its own store. If the
/// directory is deleted meanwhile, it is reopened: empty, or with the records that other processes have stored since.
public final class Store: Sendable {
  /// Options of the directory.
  public struct Options: Sendable, Equatable {
    /// The limit of the packs in bytes, at least 4 MiB. It is stored in the directory. Nil: the stored limit, else 4 GiB.
    public var diskBytes: Int?
    /// The limit of this process's memory tier in bytes: for entries given to `keep`, and for records that are in no pack yet.
    /// Nil: 64 MiB, or an eighth of the memory of the machine or its cgroup if that is less. One entry may take an eighth of
    /// the limit.
    public var memoryBytes: Int?
    /// The highest number of entries in memory. Nil: no limit.
    public var memoryItems: Int?
    /// When records are written to packs. Nil for `eager`.
    public var spill: Spill?
    /// Whether a payload is verified at each reading and not only at the first. Nil: false.
    public var checksAlways: Bool?
    /// Accepts a directory that belongs to another user or that others may write to. Default: false.
    public var trustsDirectory = false

    /// Options with default values.
    public init(
      diskBytes: Int? = nil, memoryBytes: Int? = nil, memoryItems: Int? = nil, spill: Spill? = nil,
      checksAlways: Bool? = nil
    ) {
      self.diskBytes = diskBytes
      self.memoryBytes = memoryBytes
      self.memoryItems = memoryItems
      self.spill = spill
      self.checksAlways = checksAlways
    }

    /// - Throws: `invalid`.
    fileprivate func check() throws(StoreFault) {
      if let diskBytes, diskBytes < Limits.least || diskBytes > 1 << 46 {
        throw StoreFault(.invalid, "disk_bytes is \(diskBytes); it must be 4 MiB to 64 TiB")
      }
      guard memoryBytes ?? 0 >= 0, memoryItems ?? 0 >= 0 else {
        throw StoreFault(.invalid, "memory_bytes and memory_items must not be negative")
      }
    }
  }

  /// When records are written to packs.
  public enum Spill: Sendable {
    /// At once: the records survive this process however it ends, and other processes find them.
    case eager
    /// When memory runs short, by `flush`, or when the store is closed. Until then only this process has the records, and they
    /// are lost if it is killed.
    case pressure
  }

  let door: StoreDoor
  private let epoch = nhs_fork_epoch()
  private let isClosed = Atomic(false)
  /// Whether the records that are only in memory were already flushed, or a flush was tried.
  private let isFlushed = Atomic(false)

  let memory: MemoryLanes
  /// Whether there may be records in memory that are in no pack.
  package let spillsLate: Bool
  /// Whether a payload is verified at each reading.
  package var checksAlways: Bool { disk.checksAlways }

  private init(_ door: StoreDoor) {
    self.door = door
    memory = door.opened.disk.memory.lanes
    spillsLate = door.opened is MemoryFirstStore
  }

  /// The highest number of records in memory.
  package var memoryItems: Int { disk.memory.limits.items }

  var records: any RecordStore { door.opened }
  /// The disk store, without a reference that keeps its files open. Call only its own functions: the files may be closed at any
  /// moment.
  var disk: DiskStore { door.opened.disk }

  /// Opens the store in a directory. If the directory is missing, it is created; its parent must exist.
  ///
  /// A directory on a read-only file system, or one that this user may not write to, can be opened for reading (`isReading`):
  /// nothing is written, and no lock is taken. Its index is used if it was made since the last boot. Otherwise an index is made
  /// in this process's memory from the packs, which reads each record's header.
  ///
  /// - Parameter following: called for removals that couldn't be done when they were requested (`removeOrNote`).
  /// - Throws: `denied`, `conflict`, `invalid`, `io`, `noSpace`; `readOnly` if there is no store and none can be created.
  public static func open(
    _ path: String, _ options: Options = Options(), following: @escaping Following = { _, _, _ in }
  ) throws(StoreFault) -> Store {
    try open(path, options, LinuxCalls(), following)
  }

  static func open(
    _ path: String, _ options: Options, _ system: any SystemCalls,
    _ following: @escaping Following = { _, _, _ in }
  ) throws(StoreFault) -> Store {
    try options.check()
    return Store(
      try WaitLimit.applying(WaitLimit.upkeep) { () throws(StoreFault) in
        try StoreDoor(
          .init(path: absolute(path), options: options, system: system, following: following))
      })
  }

  deinit { close() }

  /// Closes this store object. Leases stay valid. Without this call only reserved room stays in use; the next process that
  /// opens the directory frees it.
  public func close() {
    // The next process that stores an answer does the removals that fail here.
    if !isFlushed.load(ordering: .relaxed) { try? doWhatIsDue(ofOthers: false) }
    WaitLimit.applying(WaitLimit.upkeep) {
      guard epoch == nhs_fork_epoch(), !isClosed.exchange(true, ordering: .acquiringAndReleasing) else {
        return
      }
      door.finish(flushes: !isFlushed.load(ordering: .relaxed))
    }
  }

  /// Returns the name of an option that `options` sets to a different value than this store uses, or nil.
  ///
  /// - Throws: `invalid`.
  package func conflict(with options: Options) throws(StoreFault) -> String? {
    try options.check()
    let memory = disk.memory.limits
    if !isReading {
      if let bytes = options.diskBytes, bytes != disk.current.limits.disk { return "disk_bytes" }
      if let spill = options.spill, (spill == .pressure) != spillsLate { return "spill" }
    }
    if let bytes = options.memoryBytes, bytes != memory.bytes { return "memory_bytes" }
    if let items = options.memoryItems, items != memory.items { return "memory_items" }
    if let always = options.checksAlways, always != checksAlways { return "check_bytes" }
    return nil
  }

  /// Returns whether this is the open directory. Takes no lock.
  package func isIn(device: UInt64, inode: UInt64) -> Bool {
    door.seen { $0.directory.identity == (device, inode) }
  }

  /// Whether the directory can only be read. Lookups work; storing and removing records throws `readOnly`.
  public var isReading: Bool { door.seen { $0.directory.isReading } }

  /// Runs a change that the caller asked for.
  ///
  /// - Throws: `readOnly`; the errors of `body`.
  private func change<Result>(
    _ body: (any RecordStore) throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result {
    try upkeep { (records) throws(StoreFault) in
      try disk.directory.checkWritable()
      return try body(records)
    }
  }

  /// Runs an operation that the caller asked for. It may wait longer for other processes than a commit.
  private func upkeep<Result>(
    _ body: (any RecordStore) throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result {
    try check()
    return try WaitLimit.applying(WaitLimit.upkeep) { () throws(StoreFault) in
      disk.lookForDeletion()
      return try door.using(body)
    }
  }

  /// The process that has kept this one from changing the index since a wait for the lock timed out, and for how many
  /// nanoseconds. Nil if there is none.
  public var holder: (name: String, nanoseconds: Int64)? { isUsable ? disk.holder : nil }

  /// Stores a record. Waits for locks at most as long as `WaitLimit.commit`.
  private func keep(
    _ key: RecordKey, _ shape: PayloadShape, _ parts: [UnsafeRawBufferPointer], asked moment: Moment? = nil
  ) throws(StoreFault) -> Lease? {
    try check()
    try disk.directory.checkWritable()
    return try WaitLimit.applying(WaitLimit.commit) { () throws(StoreFault) in
      try door.using { (records) throws(StoreFault) in try records.commit(key, shape, parts, asked: moment) }
    }
  }

  @inline(__always)
  var isUsable: Bool { epoch == nhs_fork_epoch() && !isClosed.load(ordering: .relaxed) }

  @inline(__always)
  func check() throws(StoreFault) {
    if epoch != nhs_fork_epoch() { throw .forked }
    if isClosed.load(ordering: .relaxed) { throw .closed }
  }

  /// Returns the record of a key without a copy, or nil. A hit makes it less likely that the record is dropped.
  public func lookup(_ key: RecordKey) throws(StoreFault) -> Lease? { try lookup(key, checking: .max).lease }

  /// Returns the record without a long wait: a record that is longer than `most` and wasn't verified in this session
  /// (docs/FORMAT.md) would have to be read whole, and is returned unverified.
  public func lookup(_ key: RecordKey, checking most: Int) throws(StoreFault) -> Lookup {
    try check()
    if !spillsLate,
      let lease = key.bytes.withUnsafeBytes({ bytes in
        door.seen { $0.reader.lookupVerified(key.kind, key.hash, bytes) }
      })
    {
      return .found(lease)
    }
    return door.looking(else: .nothing) { $0.lookup(key, checking: most) }
  }

  /// Stores a record and replaces the one with its key. When this returns, every process finds the record, and it survives this
  /// process however it ends; except with `Spill.pressure`.
  ///
  /// - Parameter parts: the payload, in pieces, so that the caller needs no copy of the whole.
  /// - Returns: the stored record, without a copy.
  /// - Throws: `noSpace`, `tooLarge` (more than a quarter of the limit), `io`, `readOnly`.
  @discardableResult
  public func commit(
    _ key: RecordKey, shape: PayloadShape = PayloadShape(), parts: [UnsafeRawBufferPointer]
  ) throws(StoreFault) -> Lease {
    guard let lease = try keep(key, shape, parts) else {
      throw StoreFault(.io, "the record was stored, but can't be read")
    }
    return lease
  }

  /// Stores a record with these bytes.
  @discardableResult
  public func commit(
    _ key: RecordKey, shape: PayloadShape = PayloadShape(), _ payload: [UInt8]
  ) throws(StoreFault) -> Lease {
    try payload.span.bytes.withUnsafeBytes { (bytes) throws(StoreFault) in
      try commit(key, shape: shape, parts: [bytes])
    }
  }

  /// Returns the moment of a request that is made now, for its answer, which belongs to one or two groups. Nil if that would take
  /// a wait; then use `moment`. Opens no file, and waits for no other process.
  public func momentNow(_ first: RecordGroup, _ second: RecordGroup? = nil) -> Moment? {
    guard isUsable else { return nil }
    return door.seen { $0.moments.now(first, second) }
  }

  /// Like `momentNow`, but first brings this process up to date with the others. Nil if the directory can't be written.
  public func moment(_ first: RecordGroup, _ second: RecordGroup? = nil) throws(StoreFault) -> Moment? {
    // A moment that precedes a pending removal would be useless.
    try? doWhatIsDue()
    try check()
    return try door.using { (records) throws(StoreFault) in records.disk.moments.afterOthers(first, second) }
  }

  /// Returns a moment with the removals until now, for an answer that is read next. No answer can be stored with this moment. Nil
  /// if finding out would take a wait.
  public func removalsNow(_ first: RecordGroup, _ second: RecordGroup? = nil) -> Moment? {
    guard isUsable else { return nil }
    return door.seen { $0.moments.removalsNow(first, second) }
  }

  /// Returns whether no removal since the moment affects its answer. Also false if finding out would take a wait.
  public func isCurrent(_ moment: Moment) -> Bool {
    guard isUsable else { return false }
    return door.seen { $0.moments.isCurrentNow(moment) }
  }

  /// Stores the answer to a request of that moment and replaces the one with its key. Returns nil and stores nothing if its
  /// group was removed since, or if the answer to a later request is stored.
  ///
  /// - Throws: the errors of the other `commit`.
  public func commit(
    answer key: RecordKey, form: UInt8 = 0, _ payload: [UInt8], asked moment: Moment
  ) throws(StoreFault) -> Lease? {
    // If this fails, the pending removals only prevent the answers of their groups from being stored.
    try? doWhatIsDue()
    return try payload.span.bytes.withUnsafeBytes { (bytes) throws(StoreFault) in
      try keep(key, PayloadShape(form: form, question: moment.number), [bytes], asked: moment)
    }
  }

  /// Removes the answers of groups and the records of keys. When this returns, no process finds or stores an answer of these
  /// groups whose request was made before.
  ///
  /// - Returns: the removed records.
  public func remove(
    _ groups: [RecordGroup], _ keys: [RecordKey] = []
  ) throws(StoreFault) -> [RemovedRecord] {
    try change { (records) throws(StoreFault) in try records.remove(groups, keys) }
  }

  /// Whether there may be answers under keys in the form of version 0.1.
  public var hasEarlierAnswers: Bool {
    isUsable && door.seen { $0.reader.hasEarlierAnswers }
  }

  /// Returns whether the key has a record, without counting a hit. Reads no record.
  public func isThere(_ key: RecordKey) -> Bool { isUsable && door.looking(else: false) { $0.has(key) } }

  /// Returns whether the packs have a record of this hash, for callers that check many. Reads no record.
  package func isNamed(_ hash: KeyHash) -> Bool {
    isUsable && door.seen { $0.reader.names(hash) }
  }

  /// Returns whether the record of this key is where the index says, and intact.
  public func holds(_ key: RecordKey) -> Bool { isUsable && door.looking(else: false) { $0.holds(key) } }

  /// Counts a hit for the record without reading it. Returns false if there is none.
  @discardableResult
  public func touch(_ key: RecordKey) throws(StoreFault) -> Bool {
    try check()
    return door.looking(else: false) { $0.touch(key) }
  }

  /// Removes a record so that a rebuilt index doesn't find it either. Returns false if there is none.
  @discardableResult
  public func remove(_ key: RecordKey) throws(StoreFault) -> Bool {
    try change { (records) throws(StoreFault) in try records.remove(key) }
  }

  /// Drops the oldest packs until at most this many bytes are left, except for packs that other processes append to. Recently
  /// used records of the last dropped pack are kept, so that the result is below the limit by at most one record.
  public func trim(to bytes: Int) throws(StoreFault) {
    try change { (records) throws(StoreFault) in try records.disk.trim(to: max(0, bytes)) }
  }

  /// Removes all records, also those of other processes.
  public func clear() throws(StoreFault) {
    try change { (records) throws(StoreFault) in try records.clear() }
  }

  /// Calls `body` with the key and payload of every record, in no order, until it returns false. Records that are stored or
  /// removed meanwhile may be missing or not.
  public func forEach(_ kind: RecordKind? = nil, _ body: (RecordKey, Lease) -> Bool) throws(StoreFault) {
    try check()
    try door.looking(else: ()) { (records) throws(StoreFault) in try records.forEach(kind, body) }
  }

  /// Reads every record. Removes damaged records and indexes lost ones again, unless the directory can only be read.
  public func verify() throws(StoreFault) -> VerifyReport {
    try upkeep { (records) throws(StoreFault) in try records.disk.verify() }
  }

  /// Returns the contents of the store and this process's counters, without a wait.
  public func statistics() throws(StoreFault) -> StoreStatistics {
    try check()
    return disk.statistics()
  }
}

// MARK: - Memory

extension Store {
  /// Keeps an object in memory under a key, for example decoded pixels, and replaces the object that `keep` was given before.
  /// It is dropped when memory is needed and it was not used lately, and under memory pressure. It is also dropped when a record
  /// of this key is committed or removed, and when this store is closed.
  ///
  /// Only this process has it. The content of a key must always be the same, or change only by `commit`. Call this after
  /// `commit` for an object that belongs to the committed record.
  ///
  /// - Parameters:
  ///   - owner: keeps the bytes where they are; `Lease.owner` returns it.
  ///   - bytes: the bytes that `recall` returns.
  ///   - cost: how much memory would be free without it.
  /// - Returns: false if it is larger than an eighth of the memory limit.
  @discardableResult
  public func keep(
    _ key: RecordKey, _ owner: any AnyObject & Sendable, bytes: UnsafeRawBufferPointer,
    shape: PayloadShape = PayloadShape(), cost: Int
  ) throws(StoreFault) -> Bool {
    try remember(MemoryEntry(.value, key, owner, bytes, shape, privateBytes: max(0, cost)))
  }

  /// Keeps a record's lease in memory, so that `recall` finds it faster than `lookup`. It costs little memory and doesn't keep
  /// a dropped pack alive.
  ///
  /// - Parameter owner: an object made from the record, released together with it; `Lease.owner` returns it.
  @discardableResult
  public func keep(
    _ key: RecordKey, _ lease: Lease, owner: (any AnyObject & Sendable)? = nil
  ) throws(StoreFault) -> Bool {
    let entry = MemoryEntry(
      .value, key, HeldLease(lease, owner), lease.unsafeBytes, lease.shape, sequence: lease.sequence,
      privateBytes: lease.pin is PrivateMemory ? lease.count : 0)
    guard try remember(entry) else { return false }
    guard let pin = lease.pin as? PackPin, pin.pack.isDistrusted else { return true }
    // The leases that were kept before the packs were distrusted were already removed.
    disk.memory.remove(entry)
    return false
  }

  private func remember(_ entry: MemoryEntry) throws(StoreFault) -> Bool {
    try check()
    return WaitLimit.applying(WaitLimit.commit) { records.remember(entry) }
  }

  /// Returns the entry of a key in memory, or nil. Neither waits nor makes a system call.
  public func recall(_ key: RecordKey) throws(StoreFault) -> Lease? {
    try check()
    // Release the leases of packs whose mapping failed.
    if door.seen({ $0.current.broken.areNew }) { disk.followBroken() }
    return key.bytes.withUnsafeBytes { memory.find(.value, key.kind, key.hash, $0) }
  }

  /// Frees half of the memory that stores use, or all of it.
  package static func relieve(_ stores: [Store], _ level: MemoryPressure) {
    // Records that are only in memory are written first. One limit holds for all waits together.
    WaitLimit.applying(WaitLimit.commit) {
      for store in stores where store.isUsable { store.records.relieve(level) }
    }
  }

  /// Writes the records that are only in memory (`Spill.pressure`) to packs.
  ///
  /// - Throws: `noSpace`, `io`: records that couldn't be written stay in memory.
  public func flush() throws(StoreFault) {
    try change { (records) throws(StoreFault) in try records.flush() }
  }

  /// Flushes before a close. `close` then doesn't try it again.
  ///
  /// - Throws: `busy`, and what `flush` throws.
  package func flushAtEnd() throws(StoreFault) {
    try check()
    // Otherwise `close` would wait a second time.
    isFlushed.store(true, ordering: .relaxed)
    try? doWhatIsDue(ofOthers: false)
    try WaitLimit.applying(WaitLimit.upkeep) { () throws(StoreFault) in
      var fault: StoreFault?
      if losesRemovals { do throws(StoreFault) { try doWhatIsDue(ofOthers: false) } catch { fault = error } }
      if spillsLate {
        disk.lookForDeletion()
        try door.using { (records) throws(StoreFault) in try records.flush() }
      }
      if let fault { throw fault }
    }
  }

  /// Unmaps the read pages of packs and index, now and regularly from now on. They count as this process's memory; the kernel
  /// keeps them in the page cache.
  public func stayLean() throws(StoreFault) {
    try check()
    disk.stayLean()
  }
}
