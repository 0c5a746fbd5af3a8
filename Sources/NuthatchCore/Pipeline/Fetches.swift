/// The fetches of a cache that others may join, by what they have to have in common. Confined to the loop's thread.
final class Fetches: @unchecked Sendable {
  private var joinable: [RequestPlan.Joint: FetchTask] = [:]

  var isEmpty: Bool { joinable.isEmpty }

  /// Lets an errand wait for a fetch: one that is under way, or a new one.
  func join(_ errand: Errand, base: Found?) {
    let joint = errand.plan.download == nil ? errand.plan.joint : nil
    if let joint, let task = joinable[joint], task.mayJoin(errand) {
      errand.shared.counts.joined.count()
      return task.join(errand)
    }
    let task = FetchTask(errand.plan, base: base, errand.shared)
    // A reload begins a fetch that later errands join instead of the older one.
    if let joint { joinable[joint] = task }
    task.join(errand)
    task.enqueue()
  }

  func forget(_ task: FetchTask) {
    if let joint = task.joint, joinable[joint] === task { joinable[joint] = nil }
  }
}
