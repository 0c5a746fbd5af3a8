import NuthatchTransport

/// What holds for the directory, and for all requests that don't say otherwise.
public struct CacheOptions: Sendable {
  /// Silence: the longest time without a byte.
  public var timeout = Request.Limit.milliseconds(30_000)
  /// All of a request together, from the call on, its wait for its turn in the queue included; for those of a batch from the
  /// first attempt (`Request.isBatched`). nil: two minutes for pictures, in which no such wait is counted; none otherwise.
  public var deadline: Request.Limit?
  /// How often a failed attempt is followed by another.
  public var retries = 3
  /// The largest body, in bytes.
  public var maxBytes: Int64 = 64 << 20
  /// The most pixels that a picture may have.
  public var maxPixels = 100_000_000
  /// What the `User-Agent` header says.
  public var userAgent = "nuthatch/\(Version.string)"
  /// What is taken for fresh.
  public var policy = Policy.kit
  /// Which addresses may be connected to.
  public var `guard` = Guard.guarded
  /// Whether `file:` URLs are read: any file that this process may. Off: they are `denied`.
  public var allowFiles = false
  /// Headers of every request that has none of the same name. None.
  public var headers: [(name: String, value: String)] = []
  /// What the `Accept` header says. nil: `*/*`, and for pictures what is decoded (`Cache.pictureAccept`).
  public var accept: String?
  /// A name for whose answers are kept, instead of the credentials sent. nil: none.
  public var partition: String?
  /// The proxy that all requests go through: `http://`, `https://`, `socks4://`, `socks5://` or `socks5h://`; empty for
  /// none. Answers that came by it are kept for it alone. nil: what the environment says.
  ///
  /// The guard judges addresses in URLs, and names as far as this machine can look them up in a second. What only the proxy
  /// knows goes through, and what a proxy finds for a name is its business: give it rules of its own. With `socks5h://` no name
  /// is looked up here.
  public var proxy: String?
  /// Where user and password for a request's host are looked up, when nothing else says who asks. nil: nowhere.
  public var netrc: Netrc?

  /// What the directory may take on disk, the outbox apart, in bytes; at least 4 MiB. Each process that writes may take two
  /// 64ths of it more (64 KiB each at the least), because it reserves ahead. nil: what the directory was given before, else
  /// 4 GiB.
  public var diskBytes: Int?
  /// What this process may keep in memory, in bytes: decoded thumbnails, mostly. nil: the smaller of 64 MiB and an
  /// eighth of what the machine, or its control group, has.
  public var memoryBytes: Int?
  /// How many things this process may keep in memory. nil: as many as fit.
  public var memoryItems: Int?
  /// When what comes is written to disk. nil: as the directory's first open in this process says, else at once.
  public var spill: Cache.Spill?
  /// How thumbnails are kept on disk. nil: as the directory's first open in this process says, else packed.
  public var store: Cache.ThumbStore?
  /// Whether bodies of pictures are kept, so that other sizes can be made of them. nil: as the directory's first open
  /// in this process says, else yes.
  public var keepSource: Bool?

  /// Whether this process sends what is in the directory's outbox, as long as it has it open with this. On.
  public var outbox = Cache.OutboxMode.on
  /// What the outbox may take on disk, in bytes; more is refused. nil: as the directory's first open in this process
  /// says, else 256 MiB.
  public var outboxBytes: Int64?
  /// How many requests the outbox may hold, those among them whose outcome waits. nil: as the directory's first open in this
  /// process says, else 10,000.
  public var outboxItems: Int?

  /// The time of day.
  package var clock = WallClock.system
  /// Waits between attempts.
  var retryPolicy = RetryPolicy()
  /// What becomes of requests in the outbox.
  package var outboxRules = OutboxRules()
  /// The outbox's clocks; nil: the machine's, and the time of day above.
  var outboxClock: OutboxClock?
  /// Says when the network has changed, beside the kernel.
  package var reachabilitySource: (any ReachabilitySource)?

  /// What takes the network's place: recorded answers, or a test's. It is given the thread that calls it.
  package var transport: (@Sendable (EventLoop) -> any Transport)?
  /// Asked after the other processes of the machine.
  var tiers: [any FetchTier] = []
  /// Called before a note on a flight is read or written (`FetchLocks`).
  package var beforeNotes: (@Sendable () -> Void)?

  /// The defaults.
  public init() {}
}

extension Cache {
  /// What pictures are asked for with: what is decoded first.
  public static let pictureAccept = "image/jpeg,image/png;q=0.9,*/*;q=0.1"

  /// What it is opened with.
  public typealias Options = CacheOptions

  /// When what comes is written to disk.
  public enum Spill: Int32, Sendable {
    /// At once: it survives this process however it ends, and other processes find it.
    case eager = 0
    /// When memory is short, or when the cache is closed. Until then it is this process's: lost with it, and out of reach of
    /// what other processes remove (not of their `clear`).
    case pressure = 1
  }

  /// Whether a process sends what is in an outbox.
  public enum OutboxMode: Int32, Sendable {
    /// In its turn, when no other process does.
    case on = 0
    /// Requests may be frozen, and looked at, but are sent by others.
    case off = 1
  }

  /// How thumbnails are kept on disk. Those of at most 16 KiB are kept raw in any case.
  public enum ThumbStore: Int32, Sendable {
    /// As JPEG of quality 92 where they are opaque, else as PNG: a tenth of the room.
    case packed = 0
    /// As PNG: the same pixels every time.
    case lossless = 1
    /// As pixels, used where they lie.
    case raw = 2
  }
}
