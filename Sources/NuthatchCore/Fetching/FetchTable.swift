/// The fetches of a cache that other requests may join, by the properties that must be equal. Confined to the loop's thread.
final class FetchTable {
  private(set) var joinable: [RequestPlan.CoalescingKey: Fetch] = [:]

  /// Makes a waiter join a fetch under way, or a new one.
  func join(_ waiter: any FetchWaiter, base: StoredAnswer?, known: UInt64? = nil) {
    let key = waiter.plan.download == nil ? waiter.plan.coalescingKey : nil
    if let key, let fetch = joinable[key], fetch.mayJoin(waiter) {
      waiter.shared.counts.joined.count()
      return fetch.join(waiter)
    }
    let fetch = Fetch(waiter.plan, base: base, known: known, waiter.shared)
    // A reload begins a new fetch. Later waiters join that one, not the older one.
    if let key { joinable[key] = fetch }
    fetch.join(waiter)
    fetch.enqueue()
  }

  func forget(_ fetch: Fetch) {
    if let key = fetch.plan.coalescingKey, joinable[key] === fetch { joinable[key] = nil }
  }
}
