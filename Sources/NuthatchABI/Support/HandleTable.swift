import Synchronization

/// The kinds of objects that have handles.
enum HandleKind: UInt64, CaseIterable {
  case cache = 1
  case request = 2
  case ticket = 3
  case response = 4
  case image = 5
  case site = 6
  case frozen = 7
}

/// The objects that C programs hold, found by number.
///
/// A handle contains slot, generation and kind, in the form of an odd pointer. So a released or invalid handle is detected without
/// dereferencing it. Look-up, adding and removing take no lock: a forked child can use the table in any state that its parent's threads
/// left it in.
///
/// A slot's word holds its generation, its kind (0: free), a bit for "removed", and the number of look-ups that are taking a reference.
/// The object of a removed slot is released when this number is zero: by `remove`, or by the thread that decreases it last.
// The directory of chunks never moves and all in it is atomic, hence Sendable.
final class HandleTable: @unchecked Sendable {
  static let shared = HandleTable()

  private struct Slot: ~Copyable {
    let word = Atomic<UInt64>(0)
    /// The index of the next free slot plus 1, while this slot is free.
    let nextFree = Atomic<UInt32>(0)
    let object = Atomic<UnsafeMutableRawPointer?>(nil)
  }

  private static let slotsPerChunk = 4096
  private static let chunkCount = 4096
  private static let pinMask: UInt64 = (1 << 24) - 1
  private static let removed: UInt64 = 1 << 24
  private static let kindShift: UInt64 = 25
  private static let generationShift: UInt64 = 29
  private static let generationMask: UInt64 = (1 << 35) - 1

  private let chunks: UnsafeMutablePointer<Atomic<UnsafeMutableRawPointer?>>
  private let used = Atomic<Int>(0)
  /// The index of the first free slot plus 1 in the low half. The high half is a counter: it detects that a slot was taken and freed
  /// meanwhile (ABA problem).
  private let free = Atomic<UInt64>(0)

  private init() {
    chunks = .allocate(capacity: Self.chunkCount)
    for index in 0..<Self.chunkCount { (chunks + index).initialize(to: Atomic(nil)) }
  }

  /// Keeps `object` until `remove`. Returns nil if 16 million handles are in use.
  func add(_ object: consuming AnyObject, _ kind: HandleKind) -> OpaquePointer? {
    guard let index = takeSlot(), let slot = slot(index) else { return nil }
    slot.pointee.object.store(Unmanaged.passRetained(object).toOpaque(), ordering: .relaxed)
    let generation = slot.pointee.word.load(ordering: .relaxed) >> Self.generationShift
    slot.pointee.word.store(
      generation << Self.generationShift | kind.rawValue << Self.kindShift, ordering: .releasing)
    return OpaquePointer(bitPattern: UInt(generation << 29 | UInt64(index) << 5 | kind.rawValue << 1 | 1))
  }

  /// Returns the object of a handle; nil if there is none of this kind.
  func find(_ handle: OpaquePointer?, _ kind: HandleKind) -> AnyObject? {
    use(handle, kind) { $0 }
  }

  /// Calls `body` with the object of a handle, without retaining it; returns nil if there is none of this kind. Only for short bodies: if
  /// the process forks meanwhile, the child never frees the object.
  @inline(__always)
  func use<Result, Failure: Error>(
    _ handle: OpaquePointer?, _ kind: HandleKind, _ body: (AnyObject) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let (slot, identity) = locate(handle, kind) else { return nil }
    var word = slot.pointee.word.load(ordering: .acquiring)
    while true {
      guard word & ~Self.pinMask == identity else { return nil }
      let (done, seen) = slot.pointee.word.weakCompareExchange(
        expected: word, desired: word + 1, ordering: .acquiring)
      if done { break }
      word = seen
    }
    defer {
      let left = slot.pointee.word.subtract(1, ordering: .acquiringAndReleasing).newValue
      if left == identity | Self.removed { giveBack(handle, slot) }
    }
    guard let object = slot.pointee.object.load(ordering: .relaxed) else { return nil }
    return try Unmanaged<AnyObject>.fromOpaque(object).use(body)
  }

  /// Ends a handle. Returns false if it has no object of this kind, or was ended before.
  func remove(_ handle: OpaquePointer?, _ kind: HandleKind) -> Bool {
    guard let (slot, identity) = locate(handle, kind) else { return false }
    var word = slot.pointee.word.load(ordering: .acquiring)
    while true {
      guard word & ~Self.pinMask == identity else { return false }
      let (done, seen) = slot.pointee.word.weakCompareExchange(
        expected: word, desired: word | Self.removed, ordering: .acquiringAndReleasing)
      if done { break }
      word = seen
    }
    if word == identity { giveBack(handle, slot) }
    return true
  }

  // MARK: Slots

  private func locate(_ handle: OpaquePointer?, _ kind: HandleKind) -> (UnsafeMutablePointer<Slot>, UInt64)? {
    let bits = UInt64(UInt(bitPattern: handle))
    guard bits & 1 == 1, bits >> 1 & 15 == kind.rawValue, let slot = slot(Int(bits >> 5 & 0xff_ffff)) else {
      return nil
    }
    return (slot, (bits >> 29) << Self.generationShift | kind.rawValue << Self.kindShift)
  }

  @inline(__always)
  private func slot(_ index: Int) -> UnsafeMutablePointer<Slot>? {
    guard index < Self.slotsPerChunk * Self.chunkCount else { return nil }
    guard let chunk = chunks[index / Self.slotsPerChunk].load(ordering: .acquiring) else { return nil }
    return chunk.assumingMemoryBound(to: Slot.self) + index % Self.slotsPerChunk
  }

  private func takeSlot() -> Int? {
    var head = free.load(ordering: .acquiring)
    while head & 0xffff_ffff != 0 {
      let index = Int(head & 0xffff_ffff) - 1
      guard let slot = slot(index) else { return nil }
      let next = UInt64(slot.pointee.nextFree.load(ordering: .relaxed))
      let wanted = ((head >> 32) &+ 1) << 32 | next
      let (done, seen) = free.weakCompareExchange(
        expected: head, desired: wanted, ordering: .acquiringAndReleasing)
      if done { return index }
      head = seen
    }
    let index = used.add(1, ordering: .relaxed).oldValue
    guard index < Self.slotsPerChunk * Self.chunkCount, makeChunk(index / Self.slotsPerChunk) else {
      return nil
    }
    return index
  }

  private func makeChunk(_ number: Int) -> Bool {
    if chunks[number].load(ordering: .acquiring) != nil { return true }
    let made = UnsafeMutablePointer<Slot>.allocate(capacity: Self.slotsPerChunk)
    for index in 0..<Self.slotsPerChunk { (made + index).initialize(to: Slot()) }
    let (done, _) = chunks[number].compareExchange(
      expected: nil, desired: UnsafeMutableRawPointer(made), ordering: .acquiringAndReleasing)
    if !done { made.deallocate() }
    return true
  }

  private func giveBack(_ handle: OpaquePointer?, _ slot: UnsafeMutablePointer<Slot>) {
    let bits = UInt64(UInt(bitPattern: handle))
    // No other thread uses the slot at this moment.
    let object = slot.pointee.object.load(ordering: .relaxed)
    slot.pointee.object.store(nil, ordering: .relaxed)
    let generation = ((bits >> 29) &+ 1) & Self.generationMask
    slot.pointee.word.store(generation << Self.generationShift, ordering: .releasing)
    let index = bits >> 5 & 0xff_ffff
    var head = free.load(ordering: .acquiring)
    while true {
      slot.pointee.nextFree.store(UInt32(truncatingIfNeeded: head), ordering: .relaxed)
      let wanted = ((head >> 32) &+ 1) << 32 | (index + 1)
      let (done, seen) = free.weakCompareExchange(
        expected: head, desired: wanted, ordering: .acquiringAndReleasing)
      if done { break }
      head = seen
    }
    if let object { Unmanaged<AnyObject>.fromOpaque(object).release() }
  }
}

extension Unmanaged {
  /// Calls `body` with the object, without retaining it. The caller guarantees that it stays alive.
  @inline(__always)
  func use<Result, Failure: Error>(_ body: (Instance) throws(Failure) -> Result) throws(Failure) -> Result {
    try _withUnsafeGuaranteedRef { object in
      // `_withUnsafeGuaranteedRef` rethrows without the error's type.
      Swift.Result { () throws(Failure) in try body(object) }
    }.get()
  }
}
