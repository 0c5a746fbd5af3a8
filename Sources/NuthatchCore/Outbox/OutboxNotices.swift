import NuthatchTransport

/// A message of a handle to its program that belongs to no ticket.
public enum Notice: Sendable {
  /// A request with an attached handler has ended; `Outbox.outcome` has its answer. The notice comes again after the directory was opened
  /// again, until the outcome is collected.
  case ended(Outbox.Item)
  /// A request waits for a secret that isn't provided, or was refused.
  case secretWanted(provider: String)
  /// A site has become reachable or unreachable.
  case reachability(site: String, isReachable: Bool)
  /// Requests are under way now, or none any more (`Cache.activity`).
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

  private struct Line {
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

  private let line = Locked(Line())
  private let bell = EventCount()

  func attach(_ handler: String) { line.withLock { _ = $0.handlers.insert(handler) } }

  func detach(_ handler: String) { line.withLock { _ = $0.handlers.remove(handler) } }

  /// Allows the notice for this provider again.
  func forgetAsked(_ provider: String) {
    line.withLock { _ = $0.asked.remove(provider) }
  }

  /// Allows the notice for a new listener again, and removes waiting ones, which would come twice. nil: for all providers.
  func askAgain(_ provider: String?) {
    line.withLock { line in
      if let provider { line.asked.remove(provider) } else { line.asked = [] }
      line.entries.removeAll { entry in
        guard case .notice(.secretWanted(let wanted)) = entry else { return false }
        return provider == nil || wanted == provider
      }
    }
  }

  func listen(_ listener: @escaping @Sendable () -> Void) { line.withLock { $0.listener = listener } }

  private func ring() {
    bell.ring()
    let listener = line.withLock { $0.listener }
    listener?()
  }

  /// Delivers all notices.
  func handOver(_ store: OutboxStore, _ deliver: (Notice) -> Void) {
    while let entry = line.withLock({ $0.entries.isEmpty || $0.isClosed ? nil : $0.entries.removeFirst() }) {
      // If an outcome can't be read now, the program can still call `outcome`.
      if let notice = try? notice(of: entry, store) { deliver(notice) }
    }
  }

  /// Returns nil for a request that was collected, or replayed, since it ended. A later end is a new notice.
  private func notice(of entry: Entry, _ store: OutboxStore) throws(NuthatchError) -> Notice? {
    switch entry {
    case .notice(let notice): return notice
    case .ended(let id):
      guard let item = try store.item(id), item.state == .done || item.state == .dead else {
        line.withLock { _ = $0.delivered.remove(id) }
        return nil
      }
      return .ended(item)
    }
  }

  func take(_ settled: [(id: UInt64, handler: String?)], _ wanted: [String]) {
    let isNews = line.withLock { line in
      let before = line.entries.count
      for (id, handler) in settled {
        guard let handler, line.handlers.contains(handler), line.delivered.insert(id).inserted else {
          continue
        }
        line.entries.append(.ended(id))
      }
      // A request that is put aside, replayed, and ends again, gets a new notice.
      if !line.delivered.isEmpty { line.delivered.formIntersection(settled.map(\.id)) }
      for provider in wanted where line.asked.insert(provider).inserted {
        line.entries.append(.notice(.secretWanted(provider: provider)))
      }
      return line.entries.count > before
    }
    if isNews { ring() }
  }

  func watch(_ origin: Origin, _ url: String) {
    line.withLock { line in
      if !line.sites.contains(where: { $0.url == url }) { line.sites.append((origin, url)) }
    }
  }

  func take(_ origin: Origin, isReachable: Bool) {
    let isNews = line.withLock { line in
      let urls = line.sites.filter { $0.origin == origin }.map(\.url)
      for url in urls { line.entries.append(.notice(.reachability(site: url, isReachable: isReachable))) }
      return !urls.isEmpty
    }
    if isNews { ring() }
  }

  /// Starts to watch the activity. Returns false if it was watched already.
  func watchActivity() -> Bool {
    line.withLock { line in
      defer { line.isBusy = line.isBusy ?? false }
      return line.isBusy == nil
    }
  }

  /// Adds a notice if the activity has changed. At most two of them wait to be taken: before a third is added,
  /// both are removed. They alternate, so nothing is lost.
  func noteActivity(_ open: OpenTickets) {
    let isNews = line.withLock { line in
      // Under the lock: two changes may be reported in any order, but the second check sees both.
      let isBusy = open.count > 0
      guard line.isBusy == !isBusy else { return false }
      line.isBusy = isBusy
      if line.entries.count(where: \.isActivity) > 1 { line.entries.removeAll(where: \.isActivity) }
      line.entries.append(.notice(.activity(isBusy: isBusy)))
      return true
    }
    if isNews { ring() }
  }

  func close() {
    line.withLock { line in
      line.isClosed = true
      line.listener = nil
    }
    bell.ring()
  }

  /// Returns nil if none came in time.
  func next(until deadline: Int64, _ store: OutboxStore) throws(NuthatchError) -> Notice? {
    while true {
      let ring = bell.current
      let (entry, isClosed) = line.withLock {
        ($0.entries.isEmpty ? nil : $0.entries.removeFirst(), $0.isClosed)
      }
      if isClosed { throw .closed }
      if let entry {
        if let notice = try notice(of: entry, store) { return notice }
      } else {
        if EventCount.deadline(0) >= deadline { return nil }
        bell.wait(after: ring, until: deadline)
      }
    }
  }
}
