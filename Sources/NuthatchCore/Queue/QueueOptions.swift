import CSystem

/// What a program may say about the process's one queue. Holds for every cache of the process, also for those opened later.
public struct QueueOptions: Sendable, Equatable {
  /// How many requests run at once, 1 to 512. nil, the default: as the way to the network carries.
  public var concurrency: Int?
  /// How many of them at one host, 1 to 512. nil, the default: 6, or 32 where it speaks HTTP/2.
  public var perHost: Int?
  /// Whether a host's limit grows from there for requests of a batch, to 32 at the most, as long as the host bears it: its first
  /// 429, 503 or reset halves it, and after that one more is tried once a minute. Off.
  public var perHostGrows = false
  /// Starts a second for each host. nil, the default: no limit.
  public var rate: Double?

  /// What all bodies that are being received may hold in memory, in bytes; what comes beyond it is kept in files without a
  /// name in the cache's directory. The smaller of 64 MiB and an eighth of what the machine, or its control group, has.
  public var inFlightBytes = MemoryBudget.own.inFlight

  /// The defaults.
  public init() {}

  /// What holds now.
  public static var current: QueueOptions {
    nhs_process_lock()
    defer { nhs_process_unlock() }
    return inForce
  }

  /// Puts these into force, at once; what runs already runs on.
  ///
  /// - Throws: `invalid` for numbers that make no sense.
  public func apply() throws(NuthatchError) {
    let counts = 1...512
    guard counts.contains(concurrency ?? 1) else {
      throw NuthatchError(.invalid, "concurrency must be 1 to 512, or automatic")
    }
    guard counts.contains(perHost ?? 1) else { throw NuthatchError(.invalid, "per_host must be 1 to 512") }
    guard inFlightBytes >= 0 else { throw NuthatchError(.invalid, "inflight_bytes is negative") }
    if let rate {
      guard rate > 0, rate <= 1_000_000 else { throw NuthatchError(.invalid, "rate must be positive") }
    }
    nhs_process_lock()
    Self.inForce = self
    nhs_process_unlock()
    Runtime.adoptQueueOptions()
  }

  // Guarded by the process lock.
  nonisolated(unsafe) private static var inForce = QueueOptions()
}

extension QueueSettings {
  /// With what the program said.
  func adopting(_ options: QueueOptions) -> QueueSettings {
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
