import NuthatchTransport

extension HostRefusal {
  /// Returns the error for a request that isn't sent because of its host's trouble.
  func error(for url: WebURL) -> NuthatchError {
    switch self {
    case .circuitOpen(let retryAfter):
      let seconds = max(1, Fetch.seconds(retryAfter))
      var error = NuthatchError(
        .circuitOpen, "the host failed too often in a row; no request is sent to it for \(seconds) s: \(url)")
      error.retryAfter = seconds
      return error
    case .givenUp(.fault(let fault), let patience, _):
      return NuthatchError(
        ErrorCode(fault.kind),
        "\(fault.message); the host gave no answer for \(Fetch.seconds(patience)) s (give_up_after): \(url)")
    case .givenUp(.status(let status), let patience, let retryAfter):
      let (patience, left) = (Fetch.seconds(patience), Fetch.seconds(retryAfter))
      let why =
        left > 0
        ? "the host's pause (Retry-After) lasts \(left) s more, beyond give_up_after (\(patience) s)"
        : "the host was overloaded for \(patience) s (give_up_after)"
      var error = NuthatchError(.http, "HTTP \(status): \(why): \(url)", status: status)
      if left > 0 { error.retryAfter = left }
      return error
    }
  }
}
