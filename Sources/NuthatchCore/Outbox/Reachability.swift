import NuthatchTransport

/// Reports changes of the network: an address, a link or a route was added or removed.
package protocol ReachabilitySource: Sendable {
  /// Calls `changed` after every change, on any thread.
  func start(_ changed: @escaping @Sendable () -> Void)
  func stop()
}

/// Whether the last connection to each host succeeded, and news about hosts and the network.
// Properties outside its lock are confined to the loop's thread, hence Sendable.
final class Reachability: @unchecked Sendable {
  enum News {
    case network
    case host(Origin, isReachable: Bool)
  }

  /// The most hosts that are remembered. At this number all are forgotten.
  private static let most = 10_000
  private let hosts = Locked<[Origin: Bool]>([:])
  // Confined to the loop's thread.
  private var subscribers: [ObjectIdentifier: (News) -> Void] = [:]

  /// Returns whether the last connection succeeded; nil if none was tried.
  func isReachable(_ origin: Origin) -> Bool? { hosts.withLock { $0[origin] } }

  // MARK: On the loop's thread

  func note(_ origin: Origin, isReachable: Bool) {
    let isNews = hosts.withLock { hosts in
      guard hosts[origin] != isReachable else { return false }
      if hosts.count >= Self.most { hosts = [:] }
      hosts[origin] = isReachable
      return true
    }
    guard isNews else { return }
    tell(.host(origin, isReachable: isReachable))
  }

  func networkChanged() { tell(.network) }

  func subscribe(_ owner: AnyObject, _ listener: @escaping (News) -> Void) {
    subscribers[ObjectIdentifier(owner)] = listener
  }

  func unsubscribe(_ owner: AnyObject) { subscribers[ObjectIdentifier(owner)] = nil }

  private func tell(_ news: News) {
    for listener in Array(subscribers.values) { listener(news) }
  }
}
