/// The limits of the memory tier.
struct MemoryLimits: Sendable {
  /// The highest cost of all entries together, in bytes.
  let bytes: Int
  /// The highest number of entries.
  let items: Int

  /// The highest cost of one entry. A larger one isn't kept, because too many others would be evicted for it.
  var largest: Int { bytes / 8 }

  /// The default: 64 MiB, or an eighth of the memory of the machine or its cgroup if that is less. Read once.
  static let standard = standard(MemoryGauge())

  static func standard(_ gauge: MemoryGauge) -> Int { min(64 << 20, (gauge.total ?? 512 << 20) / 8) }
}

/// The contents of the memory tier, and its counters.
public struct MemoryStatistics: Sendable, Equatable {
  /// Lookups with a result: `recall`, and with `spill=pressure` also lookups of records that are in no pack.
  public var hits = 0
  /// Lookups without a result.
  public var misses = 0
  /// The cost of all entries: the memory they own, and the memory for finding them.
  public var bytes = 0
  /// The highest cost of all entries.
  public var limit = 0
  /// The number of entries.
  public var items = 0
  /// The memory that the entries own: pixels, and records that are in no pack. Leases on packs own none.
  public var privateBytes = 0
  /// Records that are in no pack.
  public var unwritten = 0
  /// Entries that were evicted, for lack of room or under memory pressure.
  public var evictions = 0
  /// Records that were written to a pack when they were evicted, or by `flush`.
  public var spills = 0
  /// The bytes of those records.
  public var spilledBytes = 0
  /// How often such a write failed.
  public var spillFailures = 0
  /// Records that were lost because of that.
  public var lost = 0
}
