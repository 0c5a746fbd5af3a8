import NuthatchHTTP
import NuthatchTransport

/// An answer: immutable, and its bytes stay where they are until the last reference is gone.
public final class Response: Sendable {
  /// The URL as it was passed.
  public let url: String
  /// The URL that answered, after redirects; without user and password.
  public let finalURL: String
  /// The HTTP status, such as 200.
  public let status: Int
  /// The words after the status; HTTP/2 has none.
  public let reason: String
  /// Every header line, in the order of its arrival, repeated ones apart.
  public let headers: [(name: String, value: String)]
  /// Whether the bytes were in the cache before the request was submitted.
  public let isInCache: Bool
  /// Where the answer came from.
  public let source: Source
  /// Where the time of the last hop went.
  public let timings: Timings
  /// How many redirects were followed.
  public let redirects: Int
  private let bytes: ByteBuffer

  /// Where an answer came from.
  public enum Source: Int32, Sendable {
    case memory = 1
    case disk = 2
    case revalidated = 3
    case network = 4
  }

  /// In microseconds from the start of the exchange; 0 where a phase didn't happen.
  public struct Timings: Sendable, Equatable {
    /// Until the name was resolved.
    public var nameLookup: Int64
    /// Until the connection stood.
    public var connect: Int64
    /// Until TLS was agreed on.
    public var tls: Int64
    /// Until the first byte of the answer.
    public var firstByte: Int64
    /// Until the end.
    public var total: Int64
  }

  init(
    url: String, finalURL: WebURL, head: ResponseHead, body: ByteBuffer, timings: TransferTimings,
    redirects: Int
  ) {
    self.url = url
    self.finalURL = finalURL.address
    status = head.status
    reason = head.reason
    headers = head.fields.fields.map { ($0.name, $0.value) }
    isInCache = false
    source = .network
    self.timings = Timings(
      nameLookup: timings.nameLookup, connect: timings.connect, tls: timings.tls,
      firstByte: timings.firstByte,
      total: timings.total)
    self.redirects = redirects
    bytes = body
  }

  /// Whether the status is a success (2xx).
  public var isSuccess: Bool { (200..<300).contains(status) }

  /// How many bytes the body has.
  public var bodySize: Int { bytes.count }

  /// Calls `use` with the body, which is valid as long as this response.
  public func withBody<Result, Failure: Error>(
    _ use: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try use(bytes.contents)
  }

  /// The first value of a header, its name compared without regard to case.
  public func header(_ name: String) -> String? {
    indexOfHeader(name).map { headers[$0].value }
  }

  /// The place of a header's first line among `headers`.
  public func indexOfHeader(_ name: String) -> Int? {
    headers.firstIndex { $0.name.equalsIgnoringCase(name) }
  }
}
