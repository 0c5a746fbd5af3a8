/// The fetches of a cache that others may join, by what they have to have in common. Confined to the loop's thread.
final class FetchTable {
  private(set) var joinable: [RequestPlan.Joint: Fetch] = [:]

  /// Lets a waiter wait for a fetch: one that is under way, or a new one.
  func join(_ waiter: any FetchWaiter, base: StoredAnswer?, known: UInt64? = nil) {
    let joint = waiter.plan.download == nil ? waiter.plan.joint : nil
    if let joint, let fetch = joinable[joint], fetch.mayJoin(waiter) {
      waiter.shared.counts.joined.count()
      return fetch.join(waiter)
    }
    let fetch = Fetch(waiter.plan, base: base, known: known, waiter.shared)
    // A reload begins a fetch that later waiters join instead of the older one.
    if let joint { joinable[joint] = fetch }
    fetch.join(waiter)
    fetch.enqueue()
  }

  func forget(_ fetch: Fetch) {
    if let joint = fetch.plan.joint, joinable[joint] === fetch { joinable[joint] = nil }
  }
}
