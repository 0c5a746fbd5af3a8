/// What a ticket delivers. Exactly one event of a ticket is final, and it is the last.
public enum Event: Sendable {
  /// A new answer from the network.
  case fresh(Response)
  /// No answer; `error.code` is never `cancelled`.
  case failed(NuthatchError)
  /// The request was cancelled.
  case cancelled

  /// Whether it is the last of its ticket.
  public var isFinal: Bool { true }

  /// The answer, or what stands in its place.
  public var result: Result<Response, NuthatchError> {
    switch self {
    case .fresh(let response): .success(response)
    case .failed(let error): .failure(error)
    case .cancelled: .failure(NuthatchError(.cancelled, "the request was cancelled"))
    }
  }
}
