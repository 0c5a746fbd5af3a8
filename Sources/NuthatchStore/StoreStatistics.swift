/// What a store holds, and what has happened in this process.
public struct StoreStatistics: Sendable, Equatable {
  /// Records of each kind, of all processes.
  public var meta = 0
  /// See `meta`.
  public var bodies = 0
  /// See `meta`.
  public var thumbs = 0
  /// Packs, of all processes.
  public var packs = 0
  /// What they take, room that is reserved for records to come not counted.
  public var diskBytes = 0
  /// What they may take.
  public var diskLimit = 0
  /// Bytes of packs that were dropped while leases of this process held them.
  public var pinnedBytes = 0
  /// Records kept, in this process.
  public var commits = 0
  /// What records without a body took that this process has kept, whether they are still there or not.
  public var writtenSmallBytes = 0
  /// The same of bodies.
  public var writtenBulkBytes = 0
  /// Packs dropped to keep to the limit, by this process.
  public var droppedPacks = 0
  /// What they took.
  public var droppedBytes = 0
  /// Records dropped with them.
  public var droppedRecords = 0
  /// What is in memory before them, in this process.
  public var memory = MemoryStatistics()
  /// Times that this store was told to make room in memory.
  public var pressure = PressureCounts()
  /// What speaks against the place where the directory is: a file system that isn't this machine's own, or that it can only be
  /// read.
  public var warning: String?
}
