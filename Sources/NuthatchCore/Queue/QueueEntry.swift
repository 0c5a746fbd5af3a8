import NuthatchBase

/// Work that waits in the queue and can begin when it gets a place. Called on the loop's thread, possibly before `submit`
/// returns.
protocol QueuedWork: AnyObject {
  /// The entry has a place. Begin now, and call `FetchQueue.finished` at the end.
  func begin(_ entry: QueueEntry)
  /// The entry runs but receives nothing, and others wait for its place. The work may end now, with `FetchQueue.finished`.
  func putOff(_ entry: QueueEntry)
  /// The entry doesn't begin because its host is in trouble. It has left the queue.
  func refused(_ entry: QueueEntry, _ refusal: HostRefusal)
}

/// One request in the queue, waiting or running.
final class QueueEntry {
  enum State: UInt8 {
    /// Waits until a given time.
    case delayed
    /// Waits for a place.
    case queued
    case running
    /// Waits for the call of `refused`: its host can't be reached, or is given up.
    case refused
    case gone
  }

  private(set) var state = State.queued
  /// -10…10; higher priorities go first.
  private(set) var priority: Int8
  var isProbe = false
  /// Whether others may use its place, because its host name is being looked up or too few bytes move.
  var isLending = false
  /// Whether it lends its place because its host name is being looked up.
  var isLookingUp = false
  /// Whether the head of the answer has come. From then on the queue checks the bytes of the body.
  var isAnswered = false
  /// Bytes of its body since the last check; saturates at 65,535.
  private(set) var moved: UInt16 = 0
  fileprivate var positionByRank: Int32 = -1
  fileprivate var positionByAge: Int32 = -1
  unowned let host: QueueHost
  /// Retained from `submit` until the entry is gone.
  private(set) var work: (any QueuedWork)?
  /// Its position in the order of submission. `goBehind` sets a number behind the other entries of its host.
  private(set) var arrival: UInt64
  /// How long it waits for a host that can't be reached or is overloaded, in nanoseconds. 0: it doesn't wait.
  let patience: Int64
  /// Whether it belongs to a batch, submitted with many others.
  let isBatched: Bool
  /// Whether it may be ended for now if nothing comes and others wait for its place.
  let mayBePutOff: Bool
  /// The time when it was queued or, if it runs, when it began.
  var since: Int64
  /// `HostTrouble.since` of the trouble that this entry has met, so that `HostTrouble.requests` counts it once.
  var troubleSince = Int64.min

  init(
    _ work: any QueuedWork, _ host: QueueHost, priority: Int, arrival: UInt64, patience: Int64,
    isBatched: Bool, mayBePutOff: Bool, at now: Int64
  ) {
    self.work = work
    self.patience = patience
    self.isBatched = isBatched
    self.mayBePutOff = mayBePutOff
    self.host = host
    self.priority = Int8(clamping: min(max(priority, -10), 10))
    self.arrival = arrival
    since = now
  }

  /// Whether the priority is below zero.
  var isBackground: Bool { priority < 0 }

  /// The queue of its host that it belongs to.
  var queue: HostQueue { host.queue(isBackground: isBackground) }

  /// The sort key: priority, then arrival.
  var rank: UInt64 { UInt64(10 - Int(priority)) << 56 | arrival }

  func setState(_ state: State) {
    self.state = state
    if state == .gone { work = nil }
  }

  /// Moves the entry behind all present entries of its host. `arrival`: the result of `nextArrivalBehind`.
  func goBehind(_ arrival: UInt64) { self.arrival = arrival }

  func noteMoved(_ bytes: Int) {
    moved = UInt16(clamping: Int(moved) + Int(UInt16(clamping: bytes)))
  }

  func forgetMoved() { moved = 0 }

  func endProbe() {
    guard isProbe else { return }
    isProbe = false
    host.isProbing = false
  }

  func setPriority(_ priority: Int) { self.priority = Int8(clamping: min(max(priority, -10), 10)) }
}

enum EntriesByRank: HeapOrder {
  static func position(of element: QueueEntry) -> Int32 { element.positionByRank }
  static func setPosition(of element: QueueEntry, to position: Int32) { element.positionByRank = position }
}

/// The order by arrival. The heaps of delayed and of watched entries use it with a time as the key. They share `positionByAge`,
/// because an entry is in only one of the three heaps.
enum EntriesByAge: HeapOrder {
  static func position(of element: QueueEntry) -> Int32 { element.positionByAge }
  static func setPosition(of element: QueueEntry, to position: Int32) { element.positionByAge = position }
}
