import CSystem

/// The options of the process's only queue, which serves all its caches, including those that are opened later.
public enum ProcessQueue {
  /// The options that the program has set; empty at the start.
  public static var options: Options {
    nhs_process_lock()
    defer { nhs_process_unlock() }
    return chosen
  }

  /// Sets the process's options: the limits of concurrent requests, of starts a second, and of the memory for received bodies.
  /// An option that is not set gets its default. Running requests go on.
  ///
  /// - Throws: `invalid` for an option that doesn't belong to the process, or a number out of range.
  public static func set(_ options: Options) throws(NuthatchError) {
    try options.check(.process)
    nhs_process_lock()
    chosen = options
    nhs_process_unlock()
    Runtime.adoptQueueOptions()
  }

  /// The most bytes of memory that all bodies that are being received may take together.
  static var inFlight: Int { options.inFlightBytes.map { Int($0) } ?? MemoryBudget.own.inFlight }

  // Guarded by the process lock.
  nonisolated(unsafe) private static var chosen = Options()
}

extension QueueSettings {
  /// Returns the settings with the program's options.
  func adopting(_ options: Options) -> QueueSettings {
    var result = self
    result.concurrency = options.concurrency.map { .fixed($0) } ?? .automatic
    let standard = QueueSettings()
    result.perHost = options.perHost ?? standard.perHost
    // The option limits requests of both protocols.
    result.streams = options.perHost ?? standard.streams
    result.perHostGrows = options.perHostGrows
    result.rate = options.rate
    return result
  }
}
