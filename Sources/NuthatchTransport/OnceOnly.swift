/// Keeps what must not be sent twice from being sent twice.
///
/// libcurl repeats any request by itself, a POST, too, when a connection that was kept breaks before the answer. It asks
/// before each sending, so that a second one can be refused, unless the server has rejected the first.
struct OnceOnly {
  private let mayRepeat: Bool
  private var isSent = false

  /// What libcurl says when an HTTP/2 server hasn't looked at a request, so that it may be sent again.
  static let refusedStream = "REFUSED_STREAM"

  init(method: String) { mayRepeat = isIdempotent(method: method) }

  /// To be asked right before the request is sent.
  mutating func maySend() -> Bool {
    defer { isSent = true }
    return mayRepeat || !isSent
  }

  /// What was sent had no effect, or has an answer: whatever follows isn't a repetition out of ignorance.
  mutating func noteRejection() { isSent = false }
}
