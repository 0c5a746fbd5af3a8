import CSystem
import NuthatchHTTP

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

  /// Sets options of config files. Those of the program count before them.
  static func adopt(ofFiles options: Options) {
    nhs_process_lock()
    ofFiles = options
    nhs_process_unlock()
    Runtime.adoptQueueOptions()
  }

  /// Sets limits of hosts, from config files. Limits of other hosts stay.
  static func adopt(rates: [Origin: Double]) {
    guard !rates.isEmpty else { return }
    nhs_process_lock()
    var all = hostRates
    nhs_process_unlock()
    all.merge(rates) { _, new in new }
    nhs_process_lock()
    hostRates = all
    nhs_process_unlock()
    Runtime.adoptQueueOptions()
  }

  /// The options that count.
  static var inForce: Options {
    nhs_process_lock()
    var (result, files) = (chosen, ofFiles)
    nhs_process_unlock()
    result.concurrency = result.concurrency ?? files.concurrency
    result.perHost = result.perHost ?? files.perHost
    if files.perHostGrows { result.perHostGrows = true }
    result.rate = result.rate ?? files.rate
    result.inFlightBytes = result.inFlightBytes ?? files.inFlightBytes
    return result
  }

  /// The starts a second by origin, where a config file limits them.
  static var rates: [Origin: Double] {
    nhs_process_lock()
    defer { nhs_process_unlock() }
    return hostRates
  }

  /// The most bytes of memory that all bodies that are being received may take together.
  static var inFlight: Int { inForce.inFlightBytes.map { Int($0) } ?? MemoryBudget.own.inFlight }

  // Guarded by the process lock.
  nonisolated(unsafe) private static var chosen = Options()
  nonisolated(unsafe) private static var ofFiles = Options()
  nonisolated(unsafe) private static var hostRates: [Origin: Double] = [:]
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
