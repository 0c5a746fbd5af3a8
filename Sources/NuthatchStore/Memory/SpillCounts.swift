import Synchronization

/// How often memory was wanted back, and what came of it.
final class SpillCounts: Sendable {
  let spills = Atomic(0)
  let bytes = Atomic(0)
  let failures = Atomic(0)
  let lost = Atomic(0)
  private let warnings = Atomic(0)
  private let criticals = Atomic(0)
  private let environment = Atomic(0)
  private let kernel = Atomic(0)
  private let polling = Atomic(0)
  private let program = Atomic(0)

  func add(_ level: MemoryPressure, _ origin: PressureOrigin) {
    switch level {
    case .warning: warnings.wrappingAdd(1, ordering: .relaxed)
    case .critical: criticals.wrappingAdd(1, ordering: .relaxed)
    }
    switch origin {
    case .environment: environment.wrappingAdd(1, ordering: .relaxed)
    case .kernel: kernel.wrappingAdd(1, ordering: .relaxed)
    case .polling: polling.wrappingAdd(1, ordering: .relaxed)
    case .program: program.wrappingAdd(1, ordering: .relaxed)
    }
  }

  func read(into statistics: inout StoreStatistics) {
    statistics.memory.spills = spills.load(ordering: .relaxed)
    statistics.memory.spilledBytes = bytes.load(ordering: .relaxed)
    statistics.memory.spillFailures = failures.load(ordering: .relaxed)
    statistics.memory.lost = lost.load(ordering: .relaxed)
    statistics.pressure = PressureCounts(
      warnings: warnings.load(ordering: .relaxed), criticals: criticals.load(ordering: .relaxed),
      fromEnvironment: environment.load(ordering: .relaxed), fromKernel: kernel.load(ordering: .relaxed),
      fromPolling: polling.load(ordering: .relaxed), fromProgram: program.load(ordering: .relaxed))
  }
}
