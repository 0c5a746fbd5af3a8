import CSystem
import NuthatchBase
import Synchronization

/// Records in a directory, shared by every process that has it open.
///
/// Any thread may use it. A directory that is opened twice in a process has two stores, as if two processes had opened it. A
/// forked child can't use a store that its parent opened, but leases stay readable there, and it may open its own. A directory that
/// somebody deletes meanwhile is opened anew, with nothing in it, or with what others keep there now.
public final class Store: Sendable {
  /// What holds for the directory.
  public struct Options: Sendable, Equatable {
    /// How many bytes the packs may take. Kept in the directory; nil for what is kept there, else 4 GiB. At least 4 MiB.
    public var diskBytes: Int?
    /// How much memory this process may use before the packs: for what `keep` was given, and for records that are in no
    /// pack yet. Nil for the smaller of 64 MiB and an eighth of what the machine, or its cgroup, has. One entry may take
    /// an eighth of it.
    public var memoryBytes: Int?
    /// How many entries there may be in memory. Nil for as many as fit.
    public var memoryItems: Int?
    /// When records are written to packs. Nil for `eager`.
    public var spill: Spill?
    /// Whether a payload is checked each time it is read, and not the first time only. Nil for no.
    public var checksAlways: Bool?
    /// Takes a directory that belongs to somebody else, or that others may write to. Off.
    public var trustsDirectory = false

    /// The defaults.
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
        throw StoreFault(.invalid, "the limit of the disk is less than 4 MiB, or absurd")
      }
      guard memoryBytes ?? 0 >= 0, memoryItems ?? 0 >= 0 else {
        throw StoreFault(.invalid, "a limit of the memory is negative")
      }
    }
  }

  /// When records are written to packs.
  public enum Spill: Sendable {
    /// At once: they survive this process however it ends, and other processes find them.
    case eager
    /// When there is no memory for them any more, by `flush`, or when the store is closed. Until then they are this
    /// process's, and are lost with it.
    case pressure
  }

  let door: StoreDoor
  private let epoch = nhs_fork_epoch()
  private let isClosed = Atomic(false)
  /// Whether it was tried already to write what is in memory only.
  private let isFlushed = Atomic(false)

  let memory: MemoryLanes
  /// Whether records may be in memory that are in no pack.
  package let spillsLate: Bool
  /// Whether a payload is checked each time it is read.
  package var checksAlways: Bool { disk.checksAlways }

  private init(_ door: StoreDoor) {
    self.door = door
    memory = door.opened.disk.memory.lanes
    spillsLate = door.opened is MemoryFirstStore
  }

  /// How many records may be in memory.
  package var memoryItems: Int { disk.memory.limits.items }

  var records: any RecordStore { door.opened }
  /// Its own functions may be called, but no file be used of what it leads to: it may be closed by then.
  var disk: DiskStore { door.opened.disk }

  /// Opens the store in a directory, which is made when its parent is there.
  ///
  /// A directory on a file system that is mounted read-only, or to which this user may not write, can be read all the same
  /// (`isReading`): nothing is written there, and no lock is taken. Its index is used when it was made since the machine was
  /// started; another one is made in this process's memory from the packs, which takes a look at each record's header.
  ///
  /// - Parameter following: for removals that couldn't be done when they were asked for (`removeOrNote`).
  /// - Throws: `denied`, `conflict`, `invalid`, `io`, `noSpace`; `readOnly` when there is no store that could be read.
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
      try Patience.lasting(Patience.upkeep) { () throws(StoreFault) in
        try StoreDoor(
          .init(path: absolute(path), options: options, system: system, following: following))
      })
  }

  deinit { close() }

  /// Ends the use of this face of the store. Leases stay valid. Nothing is lost by not calling it but reserved room,
  /// which the next one who opens the directory gives back.
  public func close() {
    // What can't be removed now the next one removes who keeps an answer.
    if !isFlushed.load(ordering: .relaxed) { try? doWhatIsDue(ofOthers: false) }
    Patience.lasting(Patience.upkeep) {
      guard epoch == nhs_fork_epoch(), !isClosed.exchange(true, ordering: .acquiringAndReleasing) else {
        return
      }
      door.finish(flushes: !isFlushed.load(ordering: .relaxed))
    }
  }

  /// The option that these say explicitly and otherwise than it is; nil when there is none.
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

  /// Whether this is the directory that is open. Takes no lock.
  package func isIn(device: UInt64, inode: UInt64) -> Bool {
    door.seen { $0.directory.identity == (device, inode) }
  }

  /// Whether the directory can only be read. Lookups find what is there; records aren't kept, and nothing is removed: `readOnly`.
  public var isReading: Bool { door.seen { $0.directory.isReading } }

  /// Changes what is stored because its caller asked for it.
  ///
  /// - Throws: `readOnly`; what the body throws.
  private func change<Result>(
    _ body: (any RecordStore) throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result {
    try upkeep { (records) throws(StoreFault) in
      try disk.directory.checkWritable()
      return try body(records)
    }
  }

  /// Does something that its caller asked for, and that may have to wait for other processes.
  private func upkeep<Result>(
    _ body: (any RecordStore) throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result {
    try check()
    return try Patience.lasting(Patience.upkeep) { () throws(StoreFault) in
      disk.lookForDeletion()
      return try door.using(body)
    }
  }

  /// The process that has kept this one from changing the index since a wait for it ended in vain, and for how many
  /// nanoseconds. Nil when none does.
  public var holder: (name: String, nanoseconds: Int64)? { isUsable ? disk.holder : nil }

  /// Keeps a record, for no longer than a writer waits.
  private func keep(
    _ key: RecordKey, _ shape: PayloadShape, _ parts: [UnsafeRawBufferPointer], asked moment: Moment? = nil
  ) throws(StoreFault) -> Lease? {
    try check()
    try disk.directory.checkWritable()
    return try Patience.lasting(Patience.writing) { () throws(StoreFault) in
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

  /// The record of a key, in place, or nil. A hit makes it less likely that the record is dropped.
  public func lookup(_ key: RecordKey) throws(StoreFault) -> Lease? { try lookup(key, checking: .max).lease }

  /// The same without a long wait: a record that is longer than `most` and wasn't looked up in this session, so that all of it
  /// would have to be read, is left unchecked.
  public func lookup(_ key: RecordKey, checking most: Int) throws(StoreFault) -> Lookup {
    try check()
    if !spillsLate,
      let lease = key.bytes.withUnsafeBytes({ bytes in
        door.seen { $0.reader.known(key.kind, key.hash, bytes) }
      })
    {
      return .found(lease)
    }
    return door.looking(else: .nothing) { $0.lookup(key, checking: most) }
  }

  /// Keeps a record, in place of the one with its key. It is there for every process when this returns, and survives
  /// the end of this one, however it ends; but see `Spill.pressure`.
  ///
  /// - Parameter parts: the payload, in pieces, so that the caller needs no copy of the whole.
  /// - Returns: the record, in place.
  /// - Throws: `noSpace`, `tooLarge` (more than a quarter of the limit), `io`, `readOnly`.
  @discardableResult
  public func commit(
    _ key: RecordKey, shape: PayloadShape = PayloadShape(), parts: [UnsafeRawBufferPointer]
  ) throws(StoreFault) -> Lease {
    guard let lease = try keep(key, shape, parts) else {
      throw StoreFault(.io, "the record can't be read back")
    }
    return lease
  }

  /// Keeps a record with these bytes.
  @discardableResult
  public func commit(
    _ key: RecordKey, shape: PayloadShape = PayloadShape(), _ payload: [UInt8]
  ) throws(StoreFault) -> Lease {
    try payload.span.bytes.withUnsafeBytes { (bytes) throws(StoreFault) in
      try commit(key, shape: shape, parts: [bytes])
    }
  }

  /// The moment of a question that is asked now, for its answer, which belongs to one group or two. Nil when it can't be
  /// told at once (`moment`). Opens no file and takes no lock that waits.
  public func momentNow(_ first: RecordGroup, _ second: RecordGroup? = nil) -> Moment? {
    guard isUsable else { return nil }
    return door.seen { $0.moments.now(first, second) }
  }

  /// The same, but this process follows what others did first. Nil when the directory can't be written.
  public func moment(_ first: RecordGroup, _ second: RecordGroup? = nil) throws(StoreFault) -> Moment? {
    // There is no moment for what isn't removed yet.
    try? doWhatIsDue()
    try check()
    return try door.using { (records) throws(StoreFault) in records.disk.moments.afterOthers(first, second) }
  }

  /// The removals until now, for an answer that is read next: a moment that no answer is kept with. Nil when they can't be
  /// told at once.
  public func removalsNow(_ first: RecordGroup, _ second: RecordGroup? = nil) -> Moment? {
    guard isUsable else { return nil }
    return door.seen { $0.moments.removalsNow(first, second) }
  }

  /// Whether nothing was removed since a moment that takes its answer out. False also when that can't be told at once.
  public func isCurrent(_ moment: Moment) -> Bool {
    guard isUsable else { return false }
    return door.seen { $0.moments.isCurrentNow(moment) }
  }

  /// Keeps the answer to a question of that moment, in place of the one with its key. Not when its group was removed since,
  /// nor when the answer to a later question is there: nil then.
  ///
  /// - Throws: as the other `commit`.
  public func commit(
    answer key: RecordKey, form: UInt8 = 0, _ payload: [UInt8], asked moment: Moment
  ) throws(StoreFault) -> Lease? {
    // What isn't removed yet is in the way of its own answers only.
    try? doWhatIsDue()
    return try payload.span.bytes.withUnsafeBytes { (bytes) throws(StoreFault) in
      try keep(key, PayloadShape(form: form, question: moment.number), [bytes], asked: moment)
    }
  }

  /// Takes out the answers of groups, and the records of keys. When this returns, no process gets from the store, nor keeps
  /// there, an answer of these groups that was asked for before.
  ///
  /// - Returns: what was there.
  public func remove(
    _ groups: [RecordGroup], _ keys: [RecordKey] = []
  ) throws(StoreFault) -> [RemovedRecord] {
    try change { (records) throws(StoreFault) in try records.remove(groups, keys) }
  }

  /// Whether answers may be there under the names that version 0.1 gave them.
  public var hasEarlierAnswers: Bool {
    isUsable && door.seen { $0.reader.hasEarlierAnswers }
  }

  /// Whether there is a record of this key, without making a hit of it. Reads no record.
  public func isThere(_ key: RecordKey) -> Bool { isUsable && door.looking(else: false) { $0.has(key) } }

  /// Whether the packs have a record of this hash, for callers that ask that of many. Reads no record.
  package func isNamed(_ hash: KeyHash) -> Bool {
    isUsable && door.seen { $0.reader.names(hash) }
  }

  /// Whether the record of this key is where the index says, and whole.
  public func holds(_ key: RecordKey) -> Bool { isUsable && door.looking(else: false) { $0.holds(key) } }

  /// Does to the record's chances what a hit does, without reading it. False when there is none.
  @discardableResult
  public func touch(_ key: RecordKey) throws(StoreFault) -> Bool {
    try check()
    return door.looking(else: false) { $0.touch(key) }
  }

  /// Takes a record out, also from any index to come. False when there was none.
  @discardableResult
  public func remove(_ key: RecordKey) throws(StoreFault) -> Bool {
    try change { (records) throws(StoreFault) in try records.remove(key) }
  }

  /// Drops the oldest packs until no more than this many bytes are left, apart from packs that other processes are
  /// appending to. What was used last stays of the last pack to go, so that no less is left than must go, but for one record.
  public func trim(to bytes: Int) throws(StoreFault) {
    try change { (records) throws(StoreFault) in try records.disk.trim(to: max(0, bytes)) }
  }

  /// Removes every record, of every process.
  public func clear() throws(StoreFault) {
    try change { (records) throws(StoreFault) in try records.clear() }
  }

  /// Calls `body` with every record's key and payload, in no order, until it says false. Records that come or go
  /// meanwhile may be among them or not.
  public func forEach(_ kind: RecordKind? = nil, _ body: (RecordKey, Lease) -> Bool) throws(StoreFault) {
    try check()
    try door.looking(else: ()) { (records) throws(StoreFault) in try records.forEach(kind, body) }
  }

  /// Reads every record. What is damaged is taken out, what the index forgot is put back; neither where the directory can only
  /// be read.
  public func verify() throws(StoreFault) -> VerifyReport {
    try upkeep { (records) throws(StoreFault) in try records.disk.verify() }
  }

  /// What the store holds, and what has happened in this process. Instant.
  public func statistics() throws(StoreFault) -> StoreStatistics {
    try check()
    return disk.statistics()
  }
}

// MARK: - Memory

extension Store {
  /// Keeps something in memory under a key, in place of what `keep` was given before: the pixels that were decoded from
  /// a record, or whatever else is dear to make. It goes when it isn't used and room is wanted, under memory pressure,
  /// when a record of this key is committed or removed, and with the last one who has the directory open.
  ///
  /// Only this process has it. A key's content is expected to be always the same, or to change by `commit` only; what
  /// belongs to a record that is being committed is kept after that.
  ///
  /// - Parameters:
  ///   - owner: keeps the bytes where they are; found again as `Lease.owner`.
  ///   - bytes: what `recall` gives.
  ///   - cost: how much memory would be free without it.
  /// - Returns: false when it is larger than an eighth of what there may be.
  @discardableResult
  public func keep(
    _ key: RecordKey, _ owner: any AnyObject & Sendable, bytes: UnsafeRawBufferPointer,
    shape: PayloadShape = PayloadShape(), cost: Int
  ) throws(StoreFault) -> Bool {
    try remember(MemoryEntry(.value, key, owner, bytes, shape, privateBytes: max(0, cost)))
  }

  /// Keeps a record's lease in memory, so that `recall` finds it faster than `lookup` does. It costs little memory, and
  /// holds no pack that is dropped.
  ///
  /// - Parameter owner: what is made of the record and goes with it; found again as `Lease.owner`.
  @discardableResult
  public func keep(
    _ key: RecordKey, _ lease: Lease, owner: (any AnyObject & Sendable)? = nil
  ) throws(StoreFault) -> Bool {
    let entry = MemoryEntry(
      .value, key, HeldLease(lease, owner), lease.unsafeBytes, lease.shape, sequence: lease.sequence,
      privateBytes: lease.pin is PrivateMemory ? lease.count : 0)
    guard try remember(entry) else { return false }
    guard let pin = lease.pin as? PackPin, pin.pack.isDistrusted else { return true }
    // What others kept before the packs were distrusted has gone already.
    disk.memory.remove(entry)
    return false
  }

  private func remember(_ entry: MemoryEntry) throws(StoreFault) -> Bool {
    try check()
    return Patience.lasting(Patience.writing) { records.remember(entry) }
  }

  /// What is in memory under a key, or nil. Neither waits nor makes a system call.
  public func recall(_ key: RecordKey) throws(StoreFault) -> Lease? {
    try check()
    // Leases of packs that broke are let go of.
    if door.seen({ $0.current.broken.areNew }) { disk.followBroken() }
    return key.bytes.withUnsafeBytes { memory.find(.value, key.kind, key.hash, $0) }
  }

  /// Makes room in the memory of stores: half of what is taken, or all.
  package static func relieve(_ stores: [Store], _ level: MemoryPressure) {
    // What is in memory only is written first. Where another process holds the lock, that is not waited for once a record.
    Patience.lasting(Patience.writing) {
      for store in stores where store.isUsable { store.records.relieve(level) }
    }
  }

  /// Writes to packs what is in memory only (`Spill.pressure`).
  ///
  /// - Throws: `noSpace`, `io`: what couldn't be written stays in memory.
  public func flush() throws(StoreFault) {
    try change { (records) throws(StoreFault) in try records.flush() }
  }

  /// The same before a close, which doesn't try it again.
  ///
  /// - Throws: `busy`, and what `flush` throws.
  package func flushAtEnd() throws(StoreFault) {
    try check()
    // `close` doesn't wait a second time.
    isFlushed.store(true, ordering: .relaxed)
    try? doWhatIsDue(ofOthers: false)
    try Patience.lasting(Patience.upkeep) { () throws(StoreFault) in
      var fault: StoreFault?
      if losesRemovals { do throws(StoreFault) { try doWhatIsDue(ofOthers: false) } catch { fault = error } }
      if spillsLate {
        disk.lookForDeletion()
        try door.using { (records) throws(StoreFault) in try records.flush() }
      }
      if let fault { throw fault }
    }
  }

  /// Unmaps what has been read from packs and index, and soon again what is read from now on: it counts as this process's memory,
  /// and stays in the system's.
  public func stayLean() throws(StoreFault) {
    try check()
    disk.stayLean()
  }
}
