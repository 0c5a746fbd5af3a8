/// The fetches of a cache that other requests may join, by the properties that must be equal. Confined to the loop's thread.
final class FetchTable {
  private(set) var joinable: [RequestPlan.Joint: Fetch] = [:]

  /// Makes a waiter join a fetch under way, or a new one.
  func join(_ waiter: any FetchWaiter, base: StoredAnswer?, known: UInt64? = nil) {
    let joint = waiter.plan.download == nil ? waiter.plan.joint : nil
    if let joint, let fetch = joinable[joint], fetch.mayJoin(waiter) {
      waiter.shared.counts.joined.count()
      return fetch.join(waiter)
    }
    let fetch = Fetch(waiter.plan, base: base, known: known, waiter.shared)
    // A reload begins a new fetch. Later waiters join that one, not the older one.
    if let joint { joinable[joint] = fetch }
    fetch.join(waiter)
    fetch.enqueue()
  }

  func forget(_ fetch: Fetch) {
    if let joint = fetch.plan.joint, joinable[joint] === fetch { joinable[joint] = nil }
  }
}
