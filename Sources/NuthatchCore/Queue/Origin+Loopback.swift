import NuthatchHTTP

extension Origin {
  /// Whether the name says that it is this machine. Judged by its spelling: a name that merely resolves there
  /// counts as any other.
  var isLoopback: Bool {
    host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]" || isLoopbackIPv4
  }

  private var isLoopbackIPv4: Bool {
    host.hasPrefix("127.") && host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (48...57).contains($0) }
  }
}
