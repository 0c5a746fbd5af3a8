/// Every number of the queue. Times are nanoseconds.
struct QueueSettings: Equatable, Sendable {
  /// How many requests run at once.
  enum Concurrency: Equatable, Sendable {
    /// As the link and what is measured say (`LinkKind.sizes`).
    case automatic
    /// This many at most, requests to loopback included; those that nothing comes for don't count (`PlacePool`).
    case fixed(Int)
  }

  var concurrency = Concurrency.automatic
  /// Connections at once to a host that isn't known to speak HTTP/2. Default 6.
  var perHost = 6
  /// Whether that grows for requests of a batch, where the host bears more (`HostLimit`).
  var perHostGrows = false
  /// Requests at once to a host that speaks HTTP/2. Default 32.
  var streams = 32
  /// Starts a second for each host; nil, the default, for as many as come.
  var rate: Double?
  /// The most requests at once, those that lend their place included: what there are descriptors for. Default 512.
  var mostAtOnce = 512
  /// The longest pause that a server is granted. Default 5 minutes.
  var longestPause: Int64 = 300_000_000_000
  /// After this time in the queue an entry is given one place in eight before all others. Default 10 s.
  var patience: Int64 = 10_000_000_000
  /// A request lends its place to other hosts when less than `leastBytes` of a body moved in this time. Default 1 s.
  var lendAfter: Int64 = 1_000_000_000
  /// Bytes of the body that is sent, or after the head of the body that is received. Default 1 KiB.
  var leastBytes: UInt16 = 1024
  var circuit = Circuit.Settings()
}

/// What the default route goes over.
enum LinkKind: Equatable, Sendable, CaseIterable {
  /// Cellular, or whatever else is paid for by the byte.
  case metered
  case wireless
  case wired
  case unknown
  /// There is no default route.
  case none

  /// What the automatic size begins with, and between which bounds it adapts.
  var sizes: AutomaticSize.Range {
    switch self {
    case .metered: AutomaticSize.Range(start: 2, floor: 1, ceiling: 4)
    case .wireless: AutomaticSize.Range(start: 6, floor: 2, ceiling: 24)
    case .wired, .unknown, .none:
      AutomaticSize.Range(start: 32, floor: 4, ceiling: 256, batchStart: 128, batchCeiling: 512)
    }
  }
}
