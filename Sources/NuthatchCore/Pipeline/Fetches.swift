import NuthatchTransport

/// The fetches of a cache that others may join, by what they have to have in common. Confined to the loop's thread.
final class Fetches: @unchecked Sendable {
  private var joinable: [RequestPlan.Joint: FetchTask] = [:]
  /// Those that others of the machine may wait for, by the place of their lock.
  private var leading: [Int64: FetchTask] = [:]
  private var isWatching = false
  /// Whether a worker writes signs.
  private var isNoting = false

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

  /// `task` has got the lock of a place, or given it back.
  func noteLock(_ place: Int64, of task: FetchTask?) {
    leading[place] = task
    if let task, !isWatching { showSigns(task.runtime.loop) }
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

  func forget(_ task: FetchTask) {
    if let joint = task.joint, joinable[joint] === task { joinable[joint] = nil }
  }
}
