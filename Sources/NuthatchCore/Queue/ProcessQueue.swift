import CSystem

/// The process's one queue, for every cache of the process, also for those opened later.
public enum ProcessQueue {
  /// What the program has said of it, and nothing at the start.
  public static var options: Options {
    nhs_process_lock()
    defer { nhs_process_unlock() }
    return said
  }

  /// Says how much runs at once; what isn't said is as at the start. What runs already runs on.
  ///
  /// - Throws: `invalid` for what isn't an option of the process, and for a number out of its range.
  public static func set(_ options: Options) throws(NuthatchError) {
    try options.check(.process)
    nhs_process_lock()
    said = options
    nhs_process_unlock()
    Runtime.adoptQueueOptions()
  }

  /// What all bodies that are being received may hold in memory.
  static var inFlight: Int { options.inFlightBytes.map { Int($0) } ?? MemoryBudget.own.inFlight }

  // Guarded by the process lock.
  nonisolated(unsafe) private static var said = Options()
}

extension QueueSettings {
  /// With what the program said.
  func adopting(_ options: Options) -> QueueSettings {
    var result = self
    result.concurrency = options.concurrency.map { .fixed($0) } ?? .automatic
    let standard = QueueSettings()
    result.perHost = options.perHost ?? standard.perHost
    result.streams = options.perHost ?? standard.streams
    result.perHostGrows = options.perHostGrows
    result.rate = options.rate
    return result
  }
}
