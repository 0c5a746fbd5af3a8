/// What a ticket delivers. Exactly one event of a ticket is final, and it is the last.
public struct Event: Sendable {
  /// What happened.
  public enum Kind: Int32, Sendable {
    /// More bytes have come, or been sent. Only for requests that ask for it, and of several only the newest is kept.
    case progress = 1
    /// An answer from the cache.
    case cached = 2
    /// The server says that the stored answer still holds.
    case unchanged = 3
    /// A new answer from the network, which says nothing about for how long it holds.
    case fresh = 4
    /// No answer.
    case failed = 5
    /// The request was cancelled.
    case cancelled = 6
    /// The server can't be reached; the request is in the outbox (`Request.freezing`).
    case frozen = 7
    /// The program is asked something (`Ticket.answer`); never the last one.
    case question = 8
    /// A piece of the answer's body (`data`), for requests that save to `Sink.events`; never the last one.
    case data = 9
  }

  /// What happened.
  public let kind: Kind
  /// Whether it is the last of its ticket.
  public let isFinal: Bool
  /// The answer; nil when only images were asked for, and for what is no success.
  public let response: Response?
  /// The images, in the order of the sizes asked for; empty when none were, and for what is no success.
  public let images: [Image]
  /// Why there is no answer.
  public let error: NuthatchError?
  /// What is asked; of `question` only.
  public let question: Question?
  /// Bytes of the body that are there, or have been sent; of `progress` only.
  public let bytesDone: Int64
  /// Bytes that the body will have; nil when that isn't known.
  public let bytesTotal: Int64?
  /// Whether these are bytes of the request's body; of `progress` only.
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

  static let cancelled = Event(
    .cancelled, isFinal: true, error: NuthatchError(.cancelled, "the request was cancelled"))

  static func question(_ question: Question) -> Event { Event(.question, isFinal: false, question: question) }

  static func data(_ chunk: Chunk, from start: Int64, of total: Int64?) -> Event {
    Event(
      .data, isFinal: false, bytesDone: start + Int64(chunk.bytes.count), bytesTotal: total, chunk: chunk)
  }

  /// The bytes of a `data` event; none of others. They hold the transfer up until the event is gone.
  public var data: [UInt8] { chunk?.bytes ?? [] }

  static func progress(_ done: Int64, of total: Int64?, isUpload: Bool) -> Event {
    Event(.progress, isFinal: false, bytesDone: done, bytesTotal: total, isUpload: isUpload)
  }

  /// Whether the bytes were in the cache before the request was submitted. Of a failure: whether the answer was that it is about.
  public var isInCache: Bool {
    response?.isInCache ?? images.first?.isInCache ?? error?.isInCache ?? false
  }
  /// Whether the cache has the answer now: it was there, or has been kept.
  public var isStored: Bool { response?.isStored ?? images.first?.isStored ?? error?.isInCache ?? false }
  /// Where the bytes came from; nil when there are none.
  public var source: Response.Source? { response?.source ?? images.first?.source }
  /// Whether the answer is older than it should be.
  public var isStale: Bool { response?.isStale ?? images.first?.isStale ?? false }

  /// The HTTP status of the answer, of the one that images were made from, or of the one that was no success; nil where
  /// there is none.
  public var status: Int? { response?.status ?? images.first?.status ?? error?.status }

  /// The answer, or what stands in its place.
  public var result: Result<Response, NuthatchError> {
    if let error { return .failure(error) }
    guard let response else {
      return .failure(NuthatchError(.invalid, "images were asked for, not the response"))
    }
    return .success(response)
  }
}

/// What a success event carries: what was asked for.
package struct Answer: Sendable {
  package var response: Response?
  package var images: [Image] = []
}

extension Event {
  /// Whether this process itself has ended the request.
  var isOwnEnd: Bool { error?.isOwnEnd ?? false }
}
