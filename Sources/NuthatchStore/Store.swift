import CSystem
import Glibc
import Synchronization

/// Records in a directory, shared by every process that has it open.
///
/// Any thread may use it. Opening a directory twice in a process, by whatever path, gives two faces of one store. A
/// forked child can't use a store that its parent opened, but leases stay readable there, and it may open its own.
public final class Store: Sendable {
  /// What holds for the directory.
  public struct Options: Sendable, Equatable {
    /// How many bytes the packs may take. Kept in the directory; nil for what is kept there, else 4 GiB. At least 4 MiB.
    public var diskBytes: Int?
    /// Takes a directory that belongs to somebody else, or that others may write to. Off.
    public var trustsDirectory = false

    /// The defaults.
    public init(diskBytes: Int? = nil) { self.diskBytes = diskBytes }
  }

  let shared: SharedStore
  private let epoch = nhs_fork_epoch()
  private let isClosed = Atomic(false)

  private init(_ shared: SharedStore) { self.shared = shared }

  /// Opens the store in a directory, which is made when its parent is there.
  ///
  /// - Throws: `denied`, `conflict`, `invalid`, `io`, `noSpace`.
  public static func open(_ path: String, _ options: Options = Options()) throws(StoreFault) -> Store {
    try open(path, options, LinuxCalls())
  }

  static func open(_ path: String, _ options: Options, _ system: any SystemCalls) throws(StoreFault) -> Store
  {
    if let limit = options.diskBytes {
      guard limit >= Limits.least, limit < 1 << 46 else {
        throw StoreFault(.invalid, "the limit of the disk is less than 4 MiB, or absurd")
      }
    }
    let directory = try StoreDirectory(path, trusts: options.trustsDirectory, system)
    return Store(try StoreRegistry.acquire(directory, options))
  }

  deinit { close() }

  /// Ends the use of this face of the store. Leases stay valid. Nothing is lost by not calling it but reserved room,
  /// which the next one who opens the directory gives back.
  public func close() {
    guard epoch == nhs_fork_epoch(), !isClosed.exchange(true, ordering: .acquiringAndReleasing) else {
      return
    }
    StoreRegistry.release(shared)
  }

  @inline(__always)
  private func usable() throws(StoreFault) -> SharedStore {
    if epoch != nhs_fork_epoch() { throw .forked }
    if isClosed.load(ordering: .relaxed) { throw .closed }
    return shared
  }

  /// The record of a key, in place, or nil. A hit makes it less likely that the record is dropped.
  public func lookup(_ key: RecordKey) throws(StoreFault) -> Lease? { try usable().lookup(key) }

  /// Keeps a record, in place of the one with its key. It is there for every process when this returns, and survives
  /// the end of this one, however it ends.
  ///
  /// - Parameter parts: the payload, in pieces, so that the caller needs no copy of the whole.
  /// - Returns: the record, in place.
  /// - Throws: `noSpace`, `tooLarge` (more than a quarter of the limit), `io`.
  @discardableResult
  public func commit(
    _ key: RecordKey, shape: PayloadShape = PayloadShape(), parts: [UnsafeRawBufferPointer]
  ) throws(StoreFault) -> Lease {
    try usable().commit(key, shape, parts)
  }

  /// Keeps a record with these bytes.
  @discardableResult
  public func commit(
    _ key: RecordKey, shape: PayloadShape = PayloadShape(), _ payload: [UInt8]
  ) throws(StoreFault) -> Lease {
    let shared = try usable()
    return try payload.withBytes { (bytes) throws(StoreFault) in try shared.commit(key, shape, [bytes]) }
  }

  /// Does to the record's chances what a hit does, without reading it. False when there is none.
  @discardableResult
  public func touch(_ key: RecordKey) throws(StoreFault) -> Bool { try usable().touch(key) }

  /// Takes a record out, also from any index to come. False when there was none.
  @discardableResult
  public func remove(_ key: RecordKey) throws(StoreFault) -> Bool { try usable().remove(key) }

  /// Drops the oldest packs until no more than this many bytes are left, apart from packs that other processes are
  /// appending to.
  public func trim(to bytes: Int) throws(StoreFault) { try usable().trim(to: max(0, bytes)) }

  /// Removes every record, of every process.
  public func clear() throws(StoreFault) { try usable().clear() }

  /// Calls `body` with every record's key and payload, in no order, until it says false. Records that come or go
  /// meanwhile may be among them or not.
  public func forEach(_ kind: RecordKind? = nil, _ body: (RecordKey, Lease) -> Bool) throws(StoreFault) {
    try usable().forEach(kind, body)
  }

  /// Reads every record. What is damaged is taken out, what the index forgot is put back.
  public func verify() throws(StoreFault) -> VerifyReport { try usable().verify() }

  /// What the store holds, and what has happened in this process. Instant.
  public func statistics() throws(StoreFault) -> StoreStatistics { try usable().statistics() }
}
