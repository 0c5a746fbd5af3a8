import NuthatchHTTP

extension Origin {
  /// Whether the name denotes this machine. Decided by the name alone: other names that resolve to loopback don't count.
  var isLoopback: Bool {
    host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]" || isLoopbackIPv4
  }

  private var isLoopbackIPv4: Bool {
    host.hasPrefix("127.") && host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (48...57).contains($0) }
  }
}
