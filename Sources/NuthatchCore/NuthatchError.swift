import NuthatchTransport

/// The error of every failing call and of every `failed` event.
public struct NuthatchError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The stable word and number.
  public var code: ErrorCode
  /// What happened, to which URL, and, where it helps, what to do. Passwords in URLs are shown as `***`.
  public var message: String
  /// The number of seconds after which a retry makes sense; nil if unknown.
  public var retryAfter: Int64?

  /// The status of the server's answer, if it is the cause; else nil.
  public var status: Int?
  /// The number of attempts that were started for this request; 0 if it never left the queue. A remembered failure has the
  /// number of the original attempts.
  public var attempts = 0
  /// Whether the answer that caused the error was in the cache before, or was confirmed by the server (304).
  public var isInCache: Bool { kept == .before }
  /// Whether the cache has that answer now, or at least the reason why it can't be decoded.
  public var isStored: Bool { kept != .nothing }
  /// The bytes of the body of the answer that caused the error, as far as they are known; 0 if there is no answer.
  public var bodyBytes: Int64 = 0

  /// The request's number in the outbox, if it was frozen; else nil.
  public var outboxID: UInt64?

  /// Since when the cache has the answer that caused the error. One value, because errors are copied in many places.
  enum Kept: UInt8 { case nothing, now, before }
  var kept = Kept.nothing

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
  /// Whether this process has ended the request itself, for example by a close or at its exit. Such an error says nothing about
  /// the server.
  var isOwnEnd: Bool { [.closed, .cancelled, .forked].contains(code) }
}
