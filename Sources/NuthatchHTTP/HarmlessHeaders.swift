extension HeaderFields.Field {
  /// Whether the field may be sent when a redirect leads to another origin: it describes the wanted answer or the body, and
  /// doesn't identify the user. The meaning of other fields is known only to their origin.
  ///
  /// - Parameter names: further fields that the caller allows, in lower case.
  package func mayLeaveOrigin(with names: Set<String>) -> Bool {
    let name = name.lowercased()
    return Self.harmless.contains(name) || names.contains(name) && name != "host"
  }

  /// The list in docs/HTTP.md. `idempotency-key` is sent wherever the body is sent.
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
