import CSystem

/// The readers' access to the memory tier: one lock for every few threads, and the table that they read.
///
/// A reader takes only the lock of its *lane*; a writer takes the locks of all lanes. So readers of different lanes share no
/// lock, no counter and no reference count: each lane has its own reference to an entry (`MemoryPin`). For the same reason this
/// is a struct of pointers and not an object with a reference count. `MemoryTier` owns the memory.
// The memory is accessed only under the lanes' locks, hence Sendable.
struct MemoryLanes: @unchecked Sendable {
  static let count = 8
  /// Two lanes never share a pair of cache lines.
  private static let stride = 128
  private static let lockSize = 16

  /// The data under a lane's lock. The lock is a `WordLock` word before the lane, not a field of it. As a field it would have
  /// the lane's own address, and threads that change the lane pass that address.
  struct Lane {
    var hits = 0
    var misses = 0
    /// By the entry's number; created when a thread of this lane first finds the entry.
    var pins: ZeroedArray<Unmanaged<MemoryPin>?>
  }

  private let base: UnsafeMutableRawPointer
  /// Read under any lane's lock, changed under all of them.
  let table: UnsafeMutablePointer<MemoryTable>

  init() {
    table = .allocate(capacity: 1)
    table.initialize(to: MemoryTable())
    base = .allocate(byteCount: Self.count * Self.stride, alignment: Self.stride)
    for number in 0..<Self.count {
      let lock = base + number * Self.stride
      lock.initializeMemory(as: UInt64.self, repeating: 0, count: Self.lockSize / 8)
      let lane = (lock + Self.lockSize).bindMemory(to: Lane.self, capacity: 1)
      lane.initialize(to: Lane(pins: ZeroedArray(table.pointee.capacity)))
    }
  }

  /// Frees the memory. Call it when the table is empty and no thread uses it any more.
  func deallocate() {
    for number in 0..<Self.count { self[number].pointee.pins.free() }
    table.pointee.deallocate()
    table.deallocate()
    base.deallocate()
  }

  @inline(__always)
  subscript(number: Int) -> UnsafeMutablePointer<Lane> {
    (base + (number * Self.stride + Self.lockSize)).assumingMemoryBound(to: Lane.self)
  }

  @inline(__always)
  private var own: UnsafeMutablePointer<Lane> { self[Int(nhs_thread_number()) & (Self.count - 1)] }

  @inline(__always)
  private func lock(_ lane: UnsafeMutablePointer<Lane>) {
    nhs_word_lock(UnsafeMutableRawPointer(lane) - Self.lockSize)
  }

  @inline(__always)
  private func unlock(_ lane: UnsafeMutablePointer<Lane>) {
    nhs_word_unlock(UnsafeMutableRawPointer(lane) - Self.lockSize)
  }

  /// Returns the entry of a key. Allocates memory only at a lane's first hit of the entry.
  @inline(__always)
  func find(
    _ space: MemorySpace, _ kind: RecordKind, _ hash: KeyHash, _ name: UnsafeRawBufferPointer
  ) -> Lease? {
    let lane = own
    lock(lane)
    var lease: Lease?
    table.pointee.search(space.home(hash), MemoryTable.tag(hash)) { number in
      guard let pin = lane.pointee.pins[number] ?? makePin(number, lane) else { return false }
      let isIt = pin._withUnsafeGuaranteedRef { $0.isFor(space, kind, name) }
      guard isIt else { return false }
      lease = pin._withUnsafeGuaranteedRef { $0.lease }
      let visited = table.pointee.visited.base + number
      if nhs_load8(visited) == 0 { nhs_store8(visited, 1) }
      return true
    }
    if lease == nil { lane.pointee.misses &+= 1 } else { lane.pointee.hits &+= 1 }
    unlock(lane)
    return lease
  }

  @inline(never)
  private func makePin(_ number: Int, _ lane: UnsafeMutablePointer<Lane>) -> Unmanaged<MemoryPin>? {
    guard let entry = table.pointee.entry(number) else { return nil }
    let pin = Unmanaged.passRetained(MemoryPin(entry))
    lane.pointee.pins[number] = pin
    return pin
  }

  /// Runs `body` with all locks held. Objects that it removes are released afterwards, when no lock is held.
  func alone<Result>(_ body: (inout [Unmanaged<AnyObject>]) -> Result) -> Result {
    var taken: [Unmanaged<AnyObject>] = []
    for number in 0..<Self.count { lock(self[number]) }
    let result = body(&taken)
    for number in (0..<Self.count).reversed() { unlock(self[number]) }
    for object in taken { object.release() }
    return result
  }

  /// Runs `body` with the own lane's lock held, concurrently with other readers.
  func together<Result>(_ body: () -> Result) -> Result {
    let lane = own
    lock(lane)
    defer { unlock(lane) }
    return body()
  }

  /// Adds up the counters of the lanes.
  func count(into statistics: inout MemoryStatistics) {
    for number in 0..<Self.count {
      let lane = self[number]
      lock(lane)
      statistics.hits &+= lane.pointee.hits
      statistics.misses &+= lane.pointee.misses
      unlock(lane)
    }
  }

  // Call these with all locks held.

  /// Removes an entry and all its pins.
  func remove(_ number: Int, _ taken: inout [Unmanaged<AnyObject>]) {
    for lane in 0..<Self.count {
      guard let pin = self[lane].pointee.pins[number] else { continue }
      taken.append(.fromOpaque(pin.toOpaque()))
      self[lane].pointee.pins[number] = nil
    }
    if let entry = table.pointee.remove(number) { taken.append(.fromOpaque(entry.toOpaque())) }
  }

  /// Replaces the table. The pins are copied.
  func use(_ other: MemoryTable, pins count: Int) {
    for number in 0..<Self.count {
      let (old, pins) = (self[number].pointee.pins, ZeroedArray<Unmanaged<MemoryPin>?>(other.capacity))
      // Copy only existing pins: a lane that no thread uses takes no memory.
      for entry in 0..<count where old[entry] != nil { pins[entry] = old[entry] }
      old.free()
      self[number].pointee.pins = pins
    }
    table.pointee.deallocate()
    table.pointee = other
  }
}
