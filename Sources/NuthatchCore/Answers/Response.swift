import NuthatchImaging
import NuthatchTransport

/// An answer: immutable, and its bytes stay where they are until the last reference is gone.
public final class Response: Sendable {
  /// The URL as it was passed.
  public let url: String
  /// The URL that answered, after redirects; without user and password.
  public var finalURL: String { provenance.finalURL }
  /// The HTTP status, such as 200.
  public let status: Int
  /// The words after the status; HTTP/2 has none.
  public let reason: String
  /// Every header line, in the order of its arrival, repeated ones apart.
  public let headers: [(name: String, value: String)]
  /// Whether the bytes were in the cache before the request was submitted.
  public var isInCache: Bool { provenance.isInCache }
  /// Whether the cache has it now, as it was delivered: it was there, or has been kept. False for what must not be kept, and for
  /// what couldn't be, because another process held the lock of the cache or the disk was full.
  public var isStored: Bool { provenance.isStored }
  /// Whether the request has made stored answers invalid that couldn't be removed yet, for the same reasons. No process finds
  /// them any more, and the next one that keeps an answer removes them. Of what a bad disk refuses to remove only this process knows.
  public var isRemovalDue: Bool { provenance.isRemovalDue }
  /// Where the answer came from.
  public var source: Source { provenance.source }
  /// Whether it is older than it should be: served because the server can't be asked, or before it is.
  public var isStale: Bool { provenance.isStale }
  /// Whether the body was longer: of what was sent from the outbox, the first MiB of the answer is kept.
  public let isCut: Bool
  /// Whether the body may end too early: nothing says how long it is, and its TLS connection ended without the farewell
  /// (close_notify) that only the server can send. It isn't stored.
  public var isTruncated: Bool { provenance.isTruncated }
  /// How old the answer is, in seconds, by the rules of HTTP.
  public var age: Int64 { provenance.age }
  /// Where the time of the last hop went; all 0 for what comes from the cache.
  public var timings: Timings { provenance.timings }
  /// How many redirects were followed.
  public var redirects: Int { provenance.redirects }
  /// The interim answers (1xx) that came before this one, in order; none with what comes from the cache.
  public let interim: [Interim]
  /// What a picture made of it may cost, unless the caller says otherwise.
  let limits: ImageLimits
  private let provenance: Provenance
  private let body: SharedBytes

  /// An answer that only said that another one follows, such as 103 (Early Hints).
  public struct Interim: Sendable {
    /// Such as 103.
    public let status: Int
    /// Every header line, in the order of its arrival, repeated ones apart.
    public let headers: [(name: String, value: String)]
  }

  /// Where an answer came from.
  public enum Source: Int32, Sendable {
    /// It was in memory.
    case memory = 1
    /// It was on disk.
    case disk = 2
    /// It was in the cache, and the server says that it still holds.
    case revalidated = 3
    /// It came from the network.
    case network = 4
  }

  /// In microseconds from the start of the exchange; 0 where a phase didn't happen.
  public struct Timings: Sendable, Equatable {
    /// Until the name was resolved.
    public var nameLookup: Int64 = 0
    /// Until the connection stood.
    public var connect: Int64 = 0
    /// Until TLS was agreed on.
    public var tls: Int64 = 0
    /// Until the first byte of the answer.
    public var firstByte: Int64 = 0
    /// Until the end.
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

  /// The same with another body.
  func with(_ body: SharedBytes) -> Response { Response(self, headers, body, provenance) }

  /// The same some seconds later, as it says itself, too.
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

  /// How many bytes the body has.
  public var bodySize: Int { body.count }

  /// Calls `use` with the body, which is valid as long as this response.
  public func withBody<Result, Failure: Error>(
    _ use: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body.withBytes(use)
  }

  /// Throws when some of the body couldn't be read from the disk, and may be zeros. To be called after reading it.
  package func checkBody() throws(NuthatchError) {
    guard body.isBroken else { return }
    throw NuthatchError(.io, "the stored answer can't be read from the disk: \(WebURL.redacted(url))")
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

/// Where an answer came from, and how: what responses and images have in common.
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
  /// The answer's head, for those who account for pictures that came without it.
  var head: ResponseHead?
  /// The answer's status where there is no head; nil when it isn't known.
  var status: Int?
  /// How many bytes the answer's body had.
  var bodyBytes: Int64 = 0
  /// What its thumbnails are found by; nil where that isn't known.
  var content: Digest?
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
