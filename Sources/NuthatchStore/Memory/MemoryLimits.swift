/// How much the memory tier may hold.
struct MemoryLimits: Sendable {
  /// What all entries together may cost.
  let bytes: Int
  /// How many there may be.
  let items: Int

  /// One entry may be an eighth of all: a larger one would push out too much, and isn't kept.
  var largest: Int { bytes / 8 }

  /// The smaller of 64 MiB and an eighth of what the machine, or its cgroup, has. Looked up once.
  static let standard = standard(MemoryGauge())

  static func standard(_ gauge: MemoryGauge) -> Int { min(64 << 20, (gauge.total ?? 512 << 20) / 8) }
}

/// What the memory tier holds, and what has happened to it.
public struct MemoryStatistics: Sendable, Equatable {
  /// Lookups that found something: `recall`, and under `spill=pressure` also those of records that are in no pack.
  public var hits = 0
  /// Lookups that found nothing there.
  public var misses = 0
  /// What the entries cost: the memory they own, and what finding them takes.
  public var bytes = 0
  /// What they may cost.
  public var limit = 0
  /// How many entries there are.
  public var items = 0
  /// The memory that they own: pixels, and records that are in no pack. Leases on packs own none.
  public var privateBytes = 0
  /// Records that are in no pack.
  public var unwritten = 0
  /// Entries that had to go, by lack of room or under memory pressure.
  public var evictions = 0
  /// Records that were written to a pack when they had to go, or by `flush`.
  public var spills = 0
  /// The bytes of those records.
  public var spilledBytes = 0
  /// Times that this failed.
  public var spillFailures = 0
  /// Records that were lost by it.
  public var lost = 0
}
