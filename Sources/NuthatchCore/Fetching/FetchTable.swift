import NuthatchTransport

/// The fetches of a cache that others may join, by what they have to have in common. Confined to the loop's thread.
final class FetchTable: @unchecked Sendable {
  private var joinable: [RequestPlan.Joint: Fetch] = [:]
  /// Those that others of the machine may wait for, by the place of their lock.
  private var leading: [Int64: Fetch] = [:]
  private var isWatching = false
  /// Whether a worker writes signs.
  private var isNoting = false

  var isEmpty: Bool { joinable.isEmpty }

  /// Lets a waiter wait for a fetch: one that is under way, or a new one.
  func join(_ waiter: any FetchWaiter, base: StoredAnswer?) {
    let joint = waiter.plan.download == nil ? waiter.plan.joint : nil
    if let joint, let fetch = joinable[joint], fetch.mayJoin(waiter) {
      waiter.shared.counts.joined.count()
      return fetch.join(waiter)
    }
    let fetch = Fetch(waiter.plan, base: base, waiter.shared)
    // A reload begins a fetch that later waiters join instead of the older one.
    if let joint { joinable[joint] = fetch }
    fetch.join(waiter)
    fetch.enqueue()
  }

  /// `fetch` has got the lock of a place, or given it back.
  func noteLock(_ place: Int64, of fetch: Fetch?) {
    leading[place] = fetch
    if let fetch, !isWatching { showSigns(fetch.runtime.loop) }
  }

  /// A worker writes them, all at once, because a disk may be slow: until it has, there are no later ones.
  private func noteSigns(_ loop: EventLoop) {
    guard !isNoting, let any = leading.values.first else { return }
    let signs = leading.map { (place: $0.key, time: $0.value.lastSign) }
    let (locks, now) = (any.shared.locks, loop.now)
    isNoting = any.runtime.workers.submit(priority: Priority.most) {
      for sign in signs { locks.noteSign(sign.place, at: sign.time, now: now) }
      loop.post { self.isNoting = false }
    }
  }

  /// Once a second; most fetches are over before.
  private func showSigns(_ loop: EventLoop) {
    isWatching = !leading.isEmpty
    guard isWatching else { return }
    _ = loop.at(loop.now &+ 1_000_000_000) { [weak self, weak loop] in
      guard let self, let loop else { return }
      self.noteSigns(loop)
      self.showSigns(loop)
    }
  }

  func forget(_ fetch: Fetch) {
    if let joint = fetch.joint, joinable[joint] === fetch { joinable[joint] = nil }
  }
}
