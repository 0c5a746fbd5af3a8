/// Stops libcurl from sending a non-idempotent request twice.
///
/// When a reused connection breaks before the answer, libcurl resends any request, even a POST. `connectionReady` asks this
/// guard before each send. A second send is allowed only if the server has rejected or answered the first.
struct ResendGuard {
  private let mayRepeat: Bool
  private var isSent = false

  /// The line of libcurl's log if an HTTP/2 server hasn't processed a request. It may then be sent again.
  static let refusedStream = "REFUSED_STREAM"

  init(method: String) { mayRepeat = isIdempotent(method: method) }

  /// Returns whether the request may be sent now. Call it right before each send.
  mutating func maySend() -> Bool {
    defer { isSent = true }
    return mayRepeat || !isSent
  }

  /// The server has rejected or answered the request, so it may be sent again.
  mutating func allowResend() { isSent = false }
}
