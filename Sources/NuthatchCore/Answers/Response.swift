import NuthatchImaging
import NuthatchStore
import NuthatchTransport

/// An answer. It never changes, and its bytes don't move until the last reference is released.
public final class Response: Sendable {
  /// The URL as it was passed.
  public let url: String
  /// The URL of the answer, after redirects, without user and password.
  public var finalURL: String { provenance.finalURL }
  /// The HTTP status, such as 200.
  public let status: Int
  /// The reason phrase after the status; HTTP/2 has none.
  public let reason: String
  /// Every header line, in the order of arrival; each repeated header is a line of its own.
  public let headers: [(name: String, value: String)]
  /// Whether the bytes were in the cache before the request was submitted.
  public var isInCache: Bool { provenance.isInCache }
  /// Whether the cache has the answer now, as it was delivered. False if the answer must not be stored, or couldn't be stored,
  /// because another process held the lock of the cache or the disk was full.
  public var isStored: Bool { provenance.isStored }
  /// Whether the request has made stored answers invalid that couldn't be removed yet, because another process held the lock of
  /// the cache or the disk was full. No process returns them any more, and the next process that stores an answer removes them.
  /// Exception: if the disk fails, only this process knows that they are invalid.
  public var isRemovalDue: Bool { provenance.isRemovalDue }
  /// Where the answer came from.
  public var source: Source { provenance.source }
  /// Whether the answer is stale: the server can't be asked, or hasn't answered yet.
  public var isStale: Bool { provenance.isStale }
  /// Whether the end of the body is missing, because the outbox stores only the first MiB of an answer.
  public let isCut: Bool
  /// Whether the body may be incomplete: the answer has no length, and its TLS connection ended without close_notify, which
  /// only the server can send. Such an answer isn't stored.
  public var isTruncated: Bool { provenance.isTruncated }
  /// The age of the answer in seconds, by the rules of HTTP.
  public var age: Int64 { provenance.age }
  /// The times of the last exchange; all 0 for an answer from the cache.
  public var timings: Timings { provenance.timings }
  /// The number of redirects that were followed.
  public var redirects: Int { provenance.redirects }
  /// The interim answers (1xx) before this one, in order; none with an answer from the cache.
  public let interim: [Interim]
  /// The limits for decoding its body as a picture, if the caller sets none.
  let limits: ImageLimits
  private let provenance: Provenance
  private let body: SharedBytes

  /// An interim answer, such as 103 (Early Hints), which comes before the final one.
  public struct Interim: Sendable {
    /// The status, such as 103.
    public let status: Int
    /// Every header line, in the order of arrival; each repeated header is a line of its own.
    public let headers: [(name: String, value: String)]
  }

  /// Where an answer came from.
  public enum Source: Int32, Sendable {
    /// It was in memory.
    case memory = 1
    /// It was on disk.
    case disk = 2
    /// From the cache, and the server has confirmed it (304).
    case revalidated = 3
    /// It came from the network.
    case network = 4

    /// The word of the command and the log.
    public var word: String {
      switch self {
      case .memory: "memory"
      case .disk: "disk"
      case .revalidated: "revalidated"
      case .network: "network"
      }
    }
  }

  /// The times of an exchange, in microseconds from its start; 0 for a phase that didn't happen.
  public struct Timings: Sendable, Equatable {
    /// Until the name was resolved.
    public var nameLookup: Int64 = 0
    /// Until the connection was made.
    public var connect: Int64 = 0
    /// Until the TLS handshake was done.
    public var tls: Int64 = 0
    /// Until the first byte of the answer.
    public var firstByte: Int64 = 0
    /// Until the end of the answer.
    public var total: Int64 = 0
  }

  init(
    url: String, head: ResponseHead, body: SharedBytes, _ provenance: Provenance, limits: ImageLimits,
    isCut: Bool = false
  ) {
    self.url = url
    status = head.status
    reason = head.reason
    headers = head.fields.fields.map { ($0.name, $0.value) }
    self.isCut = isCut
    self.limits = limits
    self.provenance = provenance
    interim = provenance.interim.map { head in
      Interim(status: head.status, headers: head.fields.fields.map { ($0.name, $0.value) })
    }
    self.body = body
  }

  private init(
    _ other: Response, _ headers: [(name: String, value: String)], _ body: SharedBytes,
    _ provenance: Provenance
  ) {
    self.provenance = provenance
    url = other.url
    status = other.status
    reason = other.reason
    self.headers = headers
    isCut = other.isCut
    limits = other.limits
    interim = other.interim
    self.body = body
  }

  /// Returns the response with another body.
  func with(_ body: SharedBytes) -> Response { Response(self, headers, body, provenance) }

  /// Returns the response with its age increased, also in its `Age` header.
  func aged(by seconds: Int64) -> Response {
    var provenance = provenance
    provenance.age &+= seconds
    let age = String(provenance.age)
    let lines = headers.map { line in
      line.name.equalsIgnoringCase("Age") ? (line.name, age) : line
    }
    return Response(self, lines, body, provenance)
  }

  /// Whether the status is a success (2xx).
  public var isSuccess: Bool { (200..<300).contains(status) }

  /// The number of bytes of the body.
  public var bodySize: Int { body.count }

  /// Calls `use` with the body, which is valid as long as this response.
  public func withBody<Result, Failure: Error>(
    _ use: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body.withBytes(use)
  }

  /// Throws `io` if some bytes of the body couldn't be read from the disk; they may be zeros. Call it after reading.
  package func checkBody() throws(NuthatchError) {
    guard body.isBroken else { return }
    throw NuthatchError(.io, "the stored answer can't be read from the disk: \(WebURL.redacted(url))")
  }

  /// Returns the first value of a header. Upper and lower case of the name don't matter.
  public func header(_ name: String) -> String? {
    indexOfHeader(name).map { headers[$0].value }
  }

  /// Returns the index of a header's first line in `headers`.
  public func indexOfHeader(_ name: String) -> Int? {
    headers.firstIndex { $0.name.equalsIgnoringCase(name) }
  }
}

/// Facts that responses and images share: where an answer came from, and how.
struct Provenance: Sendable {
  var finalURL: String
  var source: Response.Source
  var isInCache: Bool
  var isStored: Bool
  var isStale = false
  var isRemovalDue = false
  var isTruncated = false
  /// In seconds.
  var age: Int64 = 0
  var timings = Response.Timings()
  var redirects = 0
  var interim: [ResponseHead] = []
  /// The answer's head, for reports about pictures, whose bodies aren't delivered.
  var head: ResponseHead?
  /// The answer's status if there is no head; nil if unknown.
  var status: Int?
  /// The number of bytes of the answer's body.
  var bodyBytes: Int64 = 0
  /// The digest by which its thumbnails are found; nil if unknown.
  var content: Digest?
  /// The key under which the answer is stored, if it is; nil if unknown.
  var name: KeyHash?
  var journey = Journey()
}

extension Response.Timings {
  init(_ timings: TransferTimings) {
    self.init(
      nameLookup: timings.nameLookup, connect: timings.connect, tls: timings.tls,
      firstByte: timings.firstByte,
      total: timings.total)
  }
}
