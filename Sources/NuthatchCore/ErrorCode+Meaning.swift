import NuthatchTransport

/// Groups of errors, by what they mean for the connection to the server.
extension ErrorCode {
  /// Whether the server can't be asked at the moment; the error tells nothing about the resource.
  var meansServerUnavailable: Bool {
    [.timeout, .dns, .refused, .reset, .tls, .http, .truncated, .circuitOpen].contains(self)
  }

  /// Whether the failure may be temporary, so that a retry makes sense at once.
  var isPassing: Bool { [.timeout, .dns, .refused, .reset, .truncated].contains(self) }

  /// Whether a freezable request that ends with this error, without a response head, waits in the outbox until its server can
  /// be reached.
  var isUnreachable: Bool { [.timeout, .dns, .refused, .reset, .tls, .circuitOpen].contains(self) }

  /// Whether the server can't have received a request that ends with this error, without a response head.
  var isUnsent: Bool {
    [.dns, .refused, .tls, .circuitOpen, .denied, .badURL, .badHeader, .offline].contains(self)
  }

  init(_ kind: TransportFault.Kind) {
    self =
      switch kind {
      case .timeout: .timeout
      case .dns: .dns
      case .refused: .refused
      case .reset: .reset
      case .tls: .tls
      case .http: .http
      case .truncated: .truncated
      case .tooLarge: .tooLarge
      case .denied: .denied
      case .stopped: .cancelled
      case .badURL: .badURL
      case .invalid: .invalid
      case .outOfMemory: .outOfMemory
      case .internal: .internal
      case .io: .io
      case .unsafeFile: .unsafeFile
      }
  }
}
