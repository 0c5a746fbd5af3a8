import NuthatchHTTP

/// The numbers of the queue that the program or a test can set. Times are in nanoseconds.
struct QueueSettings: Equatable, Sendable {
  /// The limit of concurrent requests.
  enum Concurrency: Equatable, Sendable {
    /// Adapted to the kind of the link (`LinkKind.sizes`) and to measurements.
    case automatic
    /// At most this many, including requests to loopback. Requests that lend their place don't count (`PlacePool`).
    case fixed(Int)
  }

  var concurrency = Concurrency.automatic
  /// The most concurrent requests to a host that isn't known to speak HTTP/2. Default: 6.
  var perHost = 6
  /// Whether `perHost` grows for requests of a batch, if the host can handle more (`HostLimit`).
  var perHostGrows = false
  /// The most concurrent requests to a host that speaks HTTP/2. Default: 32.
  var streams = 32
  /// Starts a second for each host. Nil, the default: no limit.
  var rate: Double?
  /// Starts a second for hosts that have their own limit.
  var rates: [Origin: Double] = [:]
  /// The most concurrent requests, including those that lend their place (16 of these are always allowed). Requests during a
  /// look-up don't count. Default: 512.
  var mostAtOnce = 512
  /// The longest pause that a server can ask for. Default: 5 minutes.
  var longestPause: Int64 = 300_000_000_000
  /// One start in eight goes to the oldest entry, if it has waited longer than this. Default: 10 s.
  var starvationLimit: Int64 = 10_000_000_000
  /// A request lends its place to other hosts if less than `leastBytes` of a body moved in this time. Default: 1 s.
  var lendAfter: Int64 = 1_000_000_000
  /// Bytes of the sent body, or of the received body after the head. Default: 1 KiB.
  var leastBytes: UInt16 = 1024
  var circuit = Circuit.Settings()

  func rate(of origin: Origin) -> Double? { rates.isEmpty ? rate : rates[origin] ?? rate }
}

/// The kind of the default route.
enum LinkKind: Equatable, Sendable, CaseIterable {
  /// Cellular, or another link that is paid for by volume.
  case metered
  case wireless
  case wired
  case unknown
  /// There is no default route.
  case none

  /// The start value and the bounds of the automatic size.
  var sizes: AutomaticSize.Range {
    switch self {
    case .metered: AutomaticSize.Range(start: 2, floor: 1, ceiling: 4)
    case .wireless: AutomaticSize.Range(start: 6, floor: 2, ceiling: 24)
    case .wired, .unknown, .none:
      AutomaticSize.Range(start: 32, floor: 4, ceiling: 256, batchStart: 128, batchCeiling: 512)
    }
  }
}
