import Synchronization

/// The ports that servers of this process have had.
///
/// No later server gets one of them again: the queue may remember for minutes that the earlier server on this port
/// asked for a pause or was down.
enum UsedPorts {
  private static let ports = Mutex<Set<UInt16>>([])

  /// False when a server has had the port. Linux has 28,000 of them; a test run has fewer servers than are counted
  /// here.
  static func claim(_ port: UInt16) -> Bool {
    ports.withLock { ports in
      if ports.count >= 8000 { ports = [] }
      return ports.insert(port).inserted
    }
  }
}
