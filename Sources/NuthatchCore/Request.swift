import NuthatchHTTP

/// What to fetch, and within which limits.
public struct Request: Sendable {
  /// The URL, as it will be echoed by every answer and error.
  public var url: String
  /// `GET` unless said otherwise; compared with regard to case, as HTTP has it.
  public var method = "GET"
  /// Sent in this order, after those that Nuthatch adds. A field given here replaces the one that would be added.
  public var headers: [(name: String, value: String)] = []
  /// What is sent with it; say what it is with a `Content-Type` header.
  public var body: [UInt8] = []
  /// Basic credentials; they stay with the origin of `url`.
  public var user: (name: String, password: String)?
  /// Silence: the longest time without a byte, be it in connecting, waiting or receiving. nil: the cache's own.
  public var timeout: Limit?
  /// All of it together, redirects included. nil: the cache's own.
  public var deadline: Limit?
  /// The largest body that is taken. nil: the cache's own.
  public var maxBytes: Int64?

  /// A GET of `url`, with the cache's own limits.
  public init(_ url: String) { self.url = url }

  /// A limit in time.
  public enum Limit: Sendable, Equatable {
    case none
    case milliseconds(Int64)

    /// In nanoseconds; nil for none.
    var nanoseconds: Int64? {
      switch self {
      case .none: nil
      case .milliseconds(let count): min(max(0, count), Int64.max / 4_000_000) * 1_000_000
      }
    }
  }
}
