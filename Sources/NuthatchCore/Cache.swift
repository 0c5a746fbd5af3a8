import CSystem
import NuthatchHTTP

/// A directory, the memory in front of it, and the way to the network behind it.
///
/// Any thread may use it. `close` ends what is under way; a cache that is dropped unclosed closes itself.
public final class Cache: Sendable {
  /// What holds for all requests that don't say otherwise.
  public struct Options: Sendable {
    /// Silence: the longest time without a byte.
    public var timeout = Request.Limit.milliseconds(30_000)
    /// All of a request together.
    public var deadline = Request.Limit.none
    /// The largest body, in bytes.
    public var maxBytes: Int64 = 64 << 20
    /// What the `User-Agent` header says.
    public var userAgent = "nuthatch/\(Version.string)"

    /// The defaults.
    public init() {}
  }

  /// The directory, as it was passed or as the default found it.
  public let path: String
  /// What it was opened with.
  public let options: Options
  private let runtime: Runtime
  private let open = OpenTickets()
  private let epoch = nhs_fork_epoch()

  /// Opens the cache in a directory, which is made when it is missing.
  ///
  /// - Parameter path: nil for `$NUTHATCH_CACHE`, else `$XDG_CACHE_HOME/nuthatch`, else `~/.cache/nuthatch`.
  /// - Throws: `io` when the directory can't be made or used.
  public init(path: String? = nil, options: Options = Options()) throws(NuthatchError) {
    guard options.maxBytes >= 0 else { throw NuthatchError(.invalid, "max_bytes is negative") }
    do {
      var fields = HeaderFields()
      try fields.append(checking: "User-Agent", options.userAgent)
    } catch {
      throw NuthatchError(.badHeader, error.reason)
    }
    self.path = try CacheDirectory.prepare(path)
    self.options = options
    runtime = try Runtime.acquire()
  }

  deinit { close() }

  /// Starts a request.
  ///
  /// - Throws: `bad_url` or `bad_header` before any network is touched; `closed`; `forked`.
  public func submit(_ request: Request) throws(NuthatchError) -> Ticket {
    try checkUsable()
    let plan = try FetchPlan(request, options)
    let ticket = Ticket(url: request.url)
    guard open.add(ticket) else { throw .closed }
    Fetch.start(plan, ticket, runtime.transport)
    return ticket
  }

  /// Fetches and waits. Answers of any status are a success; what the server said is in the response.
  public func get(_ url: String) throws(NuthatchError) -> Response {
    try submit(Request(url)).result()
  }

  /// How many requests are under way.
  public var activity: Int { isForked ? 0 : open.count }

  /// Ends every request that is under way with the error `closed`; further calls throw it. Never waits for the network.
  public func close() {
    guard !isForked else { return }
    guard let left = open.close() else { return }
    for ticket in left { ticket.finish(.failed(.closed)) }
    runtime.release()
  }

  private var isForked: Bool { nhs_fork_epoch() != epoch }

  private func checkUsable() throws(NuthatchError) {
    if isForked { throw .forked }
    if open.isClosed { throw .closed }
  }
}

/// The version of the library.
public enum Version {
  /// Such as `0.1.0`.
  public static let string = "0.1.0"
}
