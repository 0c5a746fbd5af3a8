/// A question to the program while one of its requests is under way. The program answers on its own thread.
///
/// A request gets only the kinds of questions in `Request.asks`. A question comes as an event of the kind `question`. The
/// program answers it with `Ticket.answer`. No answer within 30 seconds, or before the request's deadline, counts as `pass`.
public struct Question: Sendable {
  /// The kind of a question.
  public enum Kind: Int32, Sendable, CaseIterable {
    /// Which header fields to add, such as a token or a signature: asked first, before anything is looked up or sent, because
    /// they are part of the cache key. `pass`: none.
    case headers = 1
    /// User and password, after an answer with status 401 from the URL's own origin to a request without credentials. `pass`:
    /// that answer is delivered.
    case credentials = 2
    /// Whether an answer from the network is good: some error pages have status 200. It is stored only after the reply. `pass`:
    /// it is good.
    case verdict = 3
    /// Which header fields to send with another attempt, after an answer with status 401 from the URL's own origin, with or
    /// without credentials in the request: for schemes that the library doesn't know, and expired tokens. If the server refuses
    /// these, too, the question comes again, up to ten times, for schemes of several steps. `pass`: that answer is delivered.
    case challenge = 4
  }

  /// The kind of the question.
  public let kind: Kind
  /// The URL that it is about, without the password.
  public let url: String
  /// The answer that it is about; nil for `headers`.
  public let response: Response?
  /// Each question of a ticket has another number.
  let number: UInt64

  /// How long a question waits for a reply, in nanoseconds.
  static let timeLimit: Int64 = 30_000_000_000
}

/// The reply to a question.
public enum Reply: Sendable {
  /// No reply: the request goes on without one.
  case pass
  /// For `headers`: fields to add. For `challenge`: fields that replace those of the same name.
  case headers([(name: String, value: String)])
  /// For `credentials`.
  case credentials(name: String, password: String)
  /// The answer is good, for `verdict`.
  case accept
  /// The answer is bad, for `verdict`: the request fails with `http` and this text. Nothing is stored.
  case reject(String)
  /// The answer is bad, for `verdict`, but another attempt may bring a good one. There are at most as many attempts as the
  /// request's `retries` allow.
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
