import NuthatchTransport

/// What a failure says of the way to the server.
extension ErrorCode {
  /// Whether it says that the server can't be asked at the moment, and nothing about what it has.
  var isOfTheWay: Bool {
    [.timeout, .dns, .refused, .reset, .tls, .http, .truncated, .circuitOpen].contains(self)
  }

  /// Whether it may pass by itself, so that another attempt makes sense at once.
  var isPassing: Bool { [.timeout, .dns, .refused, .reset, .truncated].contains(self) }

  /// Whether a request that ends so without a head waits for its server to be reachable again.
  var isUnreachable: Bool { [.timeout, .dns, .refused, .reset, .tls, .circuitOpen].contains(self) }

  /// Whether the server can't know of a request that ends so without a head.
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
