import NuthatchBase

/// What waits in the queue: something that can begin when it gets a place. Called on the loop's thread,
/// possibly before `submit` returns.
protocol QueuedWork: AnyObject {
  /// The place is taken: begin now, and tell `FetchQueue.finished` when it is over.
  func begin(_ entry: QueueEntry)
  /// It runs, nothing comes, and others wait for its place: may end now, with `FetchQueue.finished`.
  func putOff(_ entry: QueueEntry)
  /// It doesn't begin, because its host is in trouble, and the entry is gone from the queue.
  func refused(_ entry: QueueEntry, _ refusal: HostRefusal)
}

/// One request in the queue, queued or running; whoever submitted it names it by this object.
final class QueueEntry {
  enum State: UInt8 {
    /// Waits for its time.
    case delayed
    /// Waits for a place.
    case queued
    case running
    /// Will hear that it doesn't begin: its host can't be reached, or is given up.
    case refused
    case gone
  }

  private(set) var state = State.queued
  /// -10…10, higher first.
  private(set) var priority: Int8
  var isProbe = false
  /// Whether others may use its place, since nothing comes.
  var isLending = false
  /// Whether it is because its host's name is being looked up.
  var isLookingUp = false
  /// Whether the head of the answer has come, so that the body is what moves, or doesn't.
  var isAnswered = false
  /// Bytes of its body since the queue looked last; no more than fit are counted.
  private(set) var moved: UInt16 = 0
  fileprivate var positionByRank: Int32 = -1
  fileprivate var positionByAge: Int32 = -1
  unowned let host: QueueHost
  /// Kept from `submit` until the entry is gone.
  private(set) var work: (any QueuedWork)?
  /// In the order of submissions; of one that goes behind the others of its host, right after the last of them.
  private(set) var arrival: UInt64
  /// For how long it waits for a host that can't be reached or has too much to do, in nanoseconds; 0 when it doesn't.
  let patience: Int64
  /// Whether it is one of many that were submitted at once.
  let isBatched: Bool
  /// Whether it may be ended for now when nothing comes and others wait for its place.
  let mayBePutOff: Bool
  /// When it was queued or, once it runs, when it began.
  var since: Int64
  /// The beginning of the trouble of its host that it has had, too.
  var trouble = Int64.min

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

  /// Below zero: what nobody looks at meanwhile.
  var isBackground: Bool { priority < 0 }

  /// Where it waits at its host.
  var lane: HostQueue { host.lane(isBackground: isBackground) }

  /// The order of things: priority, then arrival.
  var rank: UInt64 { UInt64(10 - Int(priority)) << 56 | arrival }

  func turn(_ state: State) {
    self.state = state
    if state == .gone { work = nil }
  }

  /// Lets the others of its host go first that came before now.
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

/// Also the order of delayed entries and of watched ones by their time: an entry is never in two of them.
enum EntriesByAge: HeapOrder {
  static func position(of element: QueueEntry) -> Int32 { element.positionByAge }
  static func setPosition(of element: QueueEntry, to position: Int32) { element.positionByAge = position }
}
