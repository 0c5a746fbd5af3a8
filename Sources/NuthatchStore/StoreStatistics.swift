/// The contents of a store, and this process's counters.
public struct StoreStatistics: Sendable, Equatable {
  /// Number of `meta` and `answer` records, from all processes.
  public var meta = 0
  /// Number of `body` records.
  public var bodies = 0
  /// Number of `thumb` records.
  public var thumbs = 0
  /// Number of packs, from all processes.
  public var packs = 0
  /// Bytes that the packs take, without room reserved for later records.
  public var diskBytes = 0
  /// The limit of `diskBytes`.
  public var diskLimit = 0
  /// Bytes of packs that were dropped while leases of this process held them.
  public var pinnedBytes = 0
  /// Records that this process has committed.
  public var commits = 0
  /// Bytes that this process has written for records other than bodies, including records that were dropped since.
  public var writtenSmallBytes = 0
  /// Bytes that this process has written for bodies.
  public var writtenBulkBytes = 0
  /// Packs that this process has dropped to keep the limit.
  public var droppedPacks = 0
  /// Bytes of these packs.
  public var droppedBytes = 0
  /// Records in these packs.
  public var droppedRecords = 0
  /// The memory tier of this process.
  public var memory = MemoryStatistics()
  /// How often memory pressure made this store free memory.
  public var pressure = PressureCounts()
  /// A warning about the directory: it isn't on a local file system, or it can only be read.
  public var warning: String?
}
