extension HeaderFields.Field {
  /// Whether the field may go along when a redirect leads to another origin: it says what is wanted, or what the body is, and
  /// nothing of who asks. Of others nobody but their origin knows what they mean.
  ///
  /// - Parameter names: those, in small letters, that the caller lets go along, too.
  package func mayLeaveOrigin(with names: Set<String>) -> Bool {
    let name = name.lowercased()
    return Self.harmless.contains(name) || names.contains(name) && name != "host"
  }

  /// As docs/HTTP.md has them. What a server knows a repetition by belongs to the body, and goes where that goes.
  private static let harmless: Set<String> = [
    "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "content-digest",
    "content-disposition", "content-encoding", "content-language", "content-type", "dnt", "downlink", "dpr",
    "ect", "expect", "idempotency-key", "if-match", "if-modified-since", "if-none-match", "if-range",
    "if-unmodified-since",
    "max-forwards", "pragma", "prefer", "priority", "range", "rtt", "save-data", "sec-ch-dpr",
    "sec-ch-viewport-width", "sec-ch-width", "sec-gpc", "te", "upgrade-insecure-requests", "user-agent",
    "viewport-width", "want-content-digest", "width", "x-requested-with",
  ]
}
