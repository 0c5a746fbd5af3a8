import NuthatchTransport

/// A message from a handle to its program that doesn't belong to a ticket.
public enum Notice: Sendable {
  /// A request with an attached handler has ended; `Outbox.outcome` has its answer. Until the outcome is collected, each new
  /// handle on the directory sends the notice again.
  case ended(Outbox.Item)
  /// A request waits for a secret that isn't provided, or was refused.
  case secretWanted(provider: String)
  /// A site has become reachable or unreachable.
  case reachability(site: String, isReachable: Bool)
  /// Requests are under way now, or no request is any more (`Cache.activity`).
  case activity(isBusy: Bool)
}

/// The notices of a handle, until its program takes them.
final class OutboxNotices: Sendable {
  private enum Entry {
    /// The number of a request that has ended. Its item is read when the program takes the notice.
    case ended(UInt64)
    case notice(Notice)

    var isActivity: Bool { if case .notice(.activity) = self { true } else { false } }
  }

  private struct State {
    var entries: [Entry] = []
    var handlers: Set<String> = []
    var delivered: Set<UInt64> = []
    var asked: Set<String> = []
    var sites: [(origin: Origin, url: String)] = []
    /// The last reported activity; nil without a watcher.
    var isBusy: Bool?
    var isClosed = false
    /// Called after each new notice.
    var listener: (@Sendable () -> Void)?
  }

  private let state = Locked(State())
  private let changes = EventCount()

  func attach(_ handler: String) { state.withLock { _ = $0.handlers.insert(handler) } }

  func detach(_ handler: String) { state.withLock { _ = $0.handlers.remove(handler) } }

  /// Allows the notice for this provider again.
  func forgetAsked(_ provider: String) {
    state.withLock { _ = $0.asked.remove(provider) }
  }

  /// Allows the notice for this provider again, for a new listener. Removes its waiting notices, which would otherwise come
  /// twice. nil: for all providers.
  func askAgain(_ provider: String?) {
    state.withLock { state in
      if let provider { state.asked.remove(provider) } else { state.asked = [] }
      state.entries.removeAll { entry in
        guard case .notice(.secretWanted(let wanted)) = entry else { return false }
        return provider == nil || wanted == provider
      }
    }
  }

  func listen(_ listener: @escaping @Sendable () -> Void) { state.withLock { $0.listener = listener } }

  private func ring() {
    changes.ring()
    let listener = state.withLock { $0.listener }
    listener?()
  }

  /// Delivers all notices.
  func handOver(_ store: OutboxStore, _ deliver: (Notice) -> Void) {
    while let entry = state.withLock({ $0.entries.isEmpty || $0.isClosed ? nil : $0.entries.removeFirst() }) {
      // If an outcome can't be read now, the program can still call `outcome`.
      if let notice = try? notice(of: entry, store) { deliver(notice) }
    }
  }

  /// Returns nil if the request was collected or replayed after it ended. A later end makes a new notice.
  private func notice(of entry: Entry, _ store: OutboxStore) throws(NuthatchError) -> Notice? {
    switch entry {
    case .notice(let notice): return notice
    case .ended(let id):
      guard let item = try store.item(id), item.state == .done || item.state == .dead else {
        state.withLock { _ = $0.delivered.remove(id) }
        return nil
      }
      return .ended(item)
    }
  }

  /// - Parameters:
  ///   - settled: the requests that have ended; nil if the outbox couldn't be read or doesn't exist.
  ///   - wanted: the providers whose secrets are missing.
  func take(_ settled: [(id: UInt64, handler: String?)]?, _ wanted: [String]) {
    let isNews = state.withLock { state in
      let before = state.entries.count
      for (id, handler) in settled ?? [] {
        guard let handler, state.handlers.contains(handler), state.delivered.insert(id).inserted else {
          continue
        }
        state.entries.append(.ended(id))
      }
      // A request that was put aside and replayed gets a new notice when it ends again.
      if let settled, !state.delivered.isEmpty { state.delivered.formIntersection(settled.map(\.id)) }
      for provider in wanted where state.asked.insert(provider).inserted {
        state.entries.append(.notice(.secretWanted(provider: provider)))
      }
      return state.entries.count > before
    }
    if isNews { ring() }
  }

  func watch(_ origin: Origin, _ url: String) {
    state.withLock { state in
      if !state.sites.contains(where: { $0.url == url }) { state.sites.append((origin, url)) }
    }
  }

  func take(_ origin: Origin, isReachable: Bool) {
    let isNews = state.withLock { state in
      let urls = state.sites.filter { $0.origin == origin }.map(\.url)
      for url in urls { state.entries.append(.notice(.reachability(site: url, isReachable: isReachable))) }
      return !urls.isEmpty
    }
    if isNews { ring() }
  }

  /// Starts to watch the activity. Returns false if it was watched already.
  func watchActivity() -> Bool {
    state.withLock { state in
      defer { state.isBusy = state.isBusy ?? false }
      return state.isBusy == nil
    }
  }

  /// Adds a notice if the activity has changed. At most two such notices wait to be taken: before a third is added, both are
  /// removed. They alternate, so nothing is lost.
  func noteActivity(_ open: OpenTickets) {
    let isNews = state.withLock { state in
      // Count under the lock: two changes may be reported in any order, but the second count sees both.
      let isBusy = open.count > 0
      guard state.isBusy == !isBusy else { return false }
      state.isBusy = isBusy
      if state.entries.count(where: \.isActivity) > 1 { state.entries.removeAll(where: \.isActivity) }
      state.entries.append(.notice(.activity(isBusy: isBusy)))
      return true
    }
    if isNews { ring() }
  }

  func close() {
    state.withLock { state in
      state.isClosed = true
      state.listener = nil
    }
    changes.ring()
  }

  /// Returns nil if no notice came in time. Throws `closed`.
  func next(until deadline: Int64, _ store: OutboxStore) throws(NuthatchError) -> Notice? {
    while true {
      let ring = changes.current
      let (entry, isClosed) = state.withLock {
        ($0.entries.isEmpty ? nil : $0.entries.removeFirst(), $0.isClosed)
      }
      if isClosed { throw .closed }
      if let entry {
        if let notice = try notice(of: entry, store) { return notice }
      } else {
        if EventCount.deadline(0) >= deadline { return nil }
        changes.wait(after: ring, until: deadline)
      }
    }
  }
}
