import Synchronization

/// Counters of memory pressure and of its results.
final class SpillCounts: Sendable {
  let spills = Atomic(0)
  let bytes = Atomic(0)
  let failures = Atomic(0)
  let lost = Atomic(0)
  private let warnings = Atomic(0)
  private let criticals = Atomic(0)

  func count(_ level: MemoryPressure) {
    switch level {
    case .warning: warnings.wrappingAdd(1, ordering: .relaxed)
    case .critical: criticals.wrappingAdd(1, ordering: .relaxed)
    }
  }

  var pressure: PressureCounts {
    PressureCounts(warnings: warnings.load(ordering: .relaxed), criticals: criticals.load(ordering: .relaxed))
  }

  func read(into statistics: inout MemoryStatistics) {
    statistics.spills = spills.load(ordering: .relaxed)
    statistics.spilledBytes = bytes.load(ordering: .relaxed)
    statistics.spillFailures = failures.load(ordering: .relaxed)
    statistics.lost = lost.load(ordering: .relaxed)
  }
}
