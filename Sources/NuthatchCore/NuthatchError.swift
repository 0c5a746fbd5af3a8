import NuthatchTransport

/// What every failing call throws and every `failed` event carries.
public struct NuthatchError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The stable word and number.
  public var code: ErrorCode
  /// What happened, to which URL, and where it helps, what to do. Passwords in URLs are shown as `***`.
  public var message: String
  /// After how many seconds it makes sense to ask again; nil when nobody knows.
  public var retryAfter: Int64?

  /// What the server answered, where that is why; nil otherwise.
  public var status: Int?
  /// How many attempts were begun for this request; 0 when it never had its turn. A failure that is remembered says how many there
  /// were then.
  public var attempts = 0
  /// Whether the answer that it is about was in the cache before, or the server said that it still holds.
  public var isInCache = false
  /// Bytes of that answer's body that are known, or have come; 0 where there is none.
  public var bodyBytes: Int64 = 0

  /// The number in the outbox of a request that was frozen; nil otherwise.
  public var outboxID: UInt64?

  /// An error with its message.
  public init(_ code: ErrorCode, _ message: String, status: Int? = nil) {
    self.code = code
    self.message = message
    self.status = status
  }

  /// The word, then the message.
  public var description: String { "\(code.word): \(message)" }
}

extension NuthatchError {
  init(_ fault: TransportFault) { self.init(ErrorCode(fault.kind), fault.message) }

  init(_ fault: TransportFault, url: WebURL) {
    self.init(ErrorCode(fault.kind), "\(fault.message): \(url)")
  }

  init(_ fault: URLFault, url: String) {
    self.init(
      .badURL, "\(fault.reason), at byte \(fault.position) of \(WebURL.redacted(url).quotedForMessage)")
  }

  package static let closed = NuthatchError(.closed, "the cache has been closed")
  package static let forked = NuthatchError(
    .forked, "this handle belongs to the parent process; open the cache again in the forked child")
}

extension NuthatchError {
  /// Whether this process itself has ended the request, which says nothing about it: also at its exit without a close.
  var isOwnEnd: Bool { [.closed, .cancelled, .forked].contains(code) }
}
