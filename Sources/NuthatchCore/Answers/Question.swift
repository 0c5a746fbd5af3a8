/// What the program is asked while one of its requests is under way: a hook that runs on no thread of ours.
///
/// It comes as an event of the kind `question`, for requests that allow it (`Request.asks`), and is answered with
/// `Ticket.answer`. One that nobody answers, within 30 seconds or before the request's deadline, counts as `pass`.
public struct Question: Sendable {
  /// What is asked.
  public enum Kind: Int32, Sendable, CaseIterable {
    /// Which header fields to add, a token or a signature: asked first, before anything is looked up or sent, because
    /// they say whose answer it is. `pass`: none.
    case headers = 1
    /// User and password, after an answer with status 401 of the URL's own origin to a request without. `pass`: that answer is
    /// delivered.
    case credentials = 2
    /// Whether an answer from the network is good: pages that say "error" with status 200. It isn't stored before.
    /// `pass`: it is.
    case verdict = 3
    /// Which header fields to send with another attempt, after an answer with status 401 of the URL's own origin, whatever was
    /// sent with the request: for schemes that the library doesn't know, and tokens that have expired. Asked again when that is
    /// refused, too, for schemes of several steps: ten times. `pass`: that answer is delivered.
    case challenge = 4
  }

  /// What is asked.
  public let kind: Kind
  /// The URL that it is about, without password.
  public let url: String
  /// The answer that it is about; nil for `headers`.
  public let response: Response?
  /// Tells it from those before.
  let number: UInt64

  /// For how long an answer is waited for, in nanoseconds.
  static let patience: Int64 = 30_000_000_000
}

/// The answer to a question.
public enum Reply: Sendable {
  /// None: the request goes on without.
  case pass
  /// Fields to add, for `headers`; fields in the place of those of the same name, for `challenge`.
  case headers([(name: String, value: String)])
  /// For `credentials`.
  case credentials(name: String, password: String)
  /// The answer is good, for `verdict`.
  case accept
  /// It is no answer, for `verdict`: the request fails with `http` and this text. Nothing is stored.
  case reject(String)
  /// It is none, for `verdict`, but another attempt may bring one: as many as the request's `retries`.
  case retry

  func answers(_ kind: Question.Kind) -> Bool {
    switch self {
    case .pass: true
    case .headers: kind == .headers || kind == .challenge
    case .credentials: kind == .credentials
    case .accept, .reject, .retry: kind == .verdict
    }
  }
}
