import NuthatchTransport

extension HostRefusal {
  /// Returns the error for a request that isn't sent because of its host's trouble.
  func error(for url: WebURL) -> NuthatchError {
    switch self {
    case .circuitOpen(let retryAfter):
      let seconds = max(1, Fetch.seconds(retryAfter))
      var error = NuthatchError(
        .circuitOpen, "the host failed too often in a row and is left alone for \(seconds) s: \(url)")
      error.retryAfter = seconds
      return error
    case .givenUp(.fault(let fault), let patience, _):
      return NuthatchError(
        ErrorCode(fault.kind),
        "\(fault.message); its host gave no answer for \(Fetch.seconds(patience)) s and was given up: \(url)")
    case .givenUp(.status(let status), let patience, let retryAfter):
      var error = NuthatchError(
        .http,
        "HTTP \(status): its host had too much to do for \(Fetch.seconds(patience)) s and was given up: \(url)",
        status: status)
      if retryAfter > 0 { error.retryAfter = Fetch.seconds(retryAfter) }
      return error
    }
  }
}
