/// An event of a ticket. Exactly one event of a ticket is final, and it is the last.
public struct Event: Sendable {
  /// The kind of an event.
  public enum Kind: Int32, Sendable {
    /// More bytes were received or sent. Only for requests that ask for it; of several events only the newest is kept.
    case progress = 1
    /// An answer from the cache.
    case cached = 2
    /// The server has confirmed the stored answer (304).
    case unchanged = 3
    /// A new answer from the network; it need not be fresh by its headers.
    case fresh = 4
    /// No answer.
    case failed = 5
    /// The request was cancelled.
    case cancelled = 6
    /// The server can't be reached; the request is in the outbox (`Request.freezing`).
    case frozen = 7
    /// A question to the program (`Ticket.answer`); never the last event.
    case question = 8
    /// A piece of the answer's body (`data`), for requests that save to `Sink.events`; never the last event.
    case data = 9
  }

  /// The kind of the event.
  public let kind: Kind
  /// Whether it is the last event of its ticket.
  public let isFinal: Bool
  /// The answer; nil if only images were requested, and for a failure.
  public let response: Response?
  /// The images, in the order of the requested sizes; empty if none were requested, and for a failure.
  public let images: [Image]
  /// The reason of a failure; else nil.
  public let error: NuthatchError?
  /// The question; only for `question`.
  public let question: Question?
  /// Bytes of the body that were received or sent; only for `progress`.
  public let bytesDone: Int64
  /// The length of the body in bytes; nil if unknown.
  public let bytesTotal: Int64?
  /// Whether the bytes are of the request's body; only for `progress`.
  public let isUpload: Bool
  private let chunk: Chunk?

  private init(
    _ kind: Kind, isFinal: Bool, response: Response? = nil, images: [Image] = [], error: NuthatchError? = nil,
    question: Question? = nil, bytesDone: Int64 = 0, bytesTotal: Int64? = nil, isUpload: Bool = false,
    chunk: Chunk? = nil
  ) {
    self.kind = kind
    self.isFinal = isFinal
    self.response = response
    self.images = images
    self.error = error
    self.question = question
    self.bytesDone = bytesDone
    self.bytesTotal = bytesTotal
    self.isUpload = isUpload
    self.chunk = chunk
  }

  static func answer(_ kind: Kind, _ answer: Answer, isFinal: Bool) -> Event {
    Event(kind, isFinal: isFinal, response: answer.response, images: answer.images)
  }

  static func failed(_ error: NuthatchError) -> Event { Event(.failed, isFinal: true, error: error) }

  static func frozen(_ error: NuthatchError) -> Event { Event(.frozen, isFinal: true, error: error) }

  static func cancelled(after attempts: Int = 0) -> Event {
    var error = NuthatchError(.cancelled, "the request was cancelled")
    error.attempts = attempts
    return Event(.cancelled, isFinal: true, error: error)
  }

  static func question(_ question: Question) -> Event { Event(.question, isFinal: false, question: question) }

  static func data(_ chunk: Chunk, from start: Int64, of total: Int64?) -> Event {
    Event(
      .data, isFinal: false, bytesDone: start + Int64(chunk.bytes.count), bytesTotal: total, chunk: chunk)
  }

  /// The bytes of a `data` event; empty for others. While more than 1 MiB is in events that aren't released, the transfer
  /// pauses.
  public var data: [UInt8] { chunk?.bytes ?? [] }

  static func progress(_ done: Int64, of total: Int64?, isUpload: Bool) -> Event {
    Event(.progress, isFinal: false, bytesDone: done, bytesTotal: total, isUpload: isUpload)
  }

  /// Whether the bytes were in the cache before the request was submitted. For a failure: whether the failed answer was.
  public var isInCache: Bool {
    response?.isInCache ?? images.first?.isInCache ?? error?.isInCache ?? false
  }
  /// Whether the answer is in the cache now: it was there, or was stored.
  public var isStored: Bool { response?.isStored ?? images.first?.isStored ?? error?.isStored ?? false }
  /// Where the bytes came from; nil if there are none.
  public var source: Response.Source? { response?.source ?? images.first?.source }
  /// Whether the answer is stale.
  public var isStale: Bool { response?.isStale ?? images.first?.isStale ?? false }

  /// The HTTP status of the answer, of the answer that the images were made from, or of the answer that wasn't a success; nil
  /// if there is none.
  public var status: Int? { response?.status ?? images.first?.status ?? error?.status }

  /// The answer, or the error.
  public var result: Result<Response, NuthatchError> {
    if let error { return .failure(error) }
    guard let response else {
      return .failure(
        NuthatchError(.invalid, "the request has sizes, so its answer has images and no response"))
    }
    return .success(response)
  }
}

/// The content of a success event.
package struct Answer: Sendable {
  package var response: Response?
  package var images: [Image] = []
}

extension Event {
  /// Whether this process has ended the request, not a server or a fault.
  var isOwnEnd: Bool { error?.isOwnEnd ?? false }
}
