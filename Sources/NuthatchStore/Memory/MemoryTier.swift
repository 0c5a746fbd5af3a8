import CSystem
import Glibc

/// What this process keeps in memory before one directory's store: bounded by bytes and by number, the least useful
/// goes first.
///
/// A reader takes the lock of its *lane* only, and there is a lane for every few threads; who changes something takes all
/// lanes' locks. So readers meet nowhere: neither at a lock, nor at a counter, nor at the reference count of what they
/// find, of which each lane has one of its own (`MemoryPin`). Nothing is let go while a lock is held.
final class MemoryTier: @unchecked Sendable {
  static let laneCount = 8

  /// A lane's lock and what it guards.
  private struct Lane {
    var mutex = pthread_mutex_t()
    var hits = 0
    var misses = 0
    /// By the entry's number; made when a thread of this lane finds it first.
    var pins: UnsafeMutablePointer<Unmanaged<MemoryPin>?>
  }

  /// So far apart that no two share a pair of cache lines.
  private static let laneStride = 128
  private let lanes: UnsafeMutableRawPointer
  // Read under any lane's lock, changed under all of them. Through a pointer, since that is read without a check.
  private let table: UnsafeMutablePointer<MemoryTable>

  /// What it may hold.
  let limits: MemoryLimits
  // Changed under all lanes' locks.
  private var evictions = 0

  init(_ limits: MemoryLimits) {
    self.limits = limits
    table = .allocate(capacity: 1)
    table.initialize(to: MemoryTable())
    lanes = .allocate(byteCount: Self.laneCount * Self.laneStride, alignment: Self.laneStride)
    for number in 0..<Self.laneCount {
      let at = (lanes + number * Self.laneStride).bindMemory(to: Lane.self, capacity: 1)
      at.initialize(to: Lane(pins: Self.noPins(table.pointee.capacity)))
      pthread_mutex_init(mutex(at), nil)
    }
  }

  deinit {
    for entry in takeAll() { entry.release() }
    for number in 0..<Self.laneCount { lane(number).pointee.pins.deallocate() }
    table.pointee.deallocate()
    table.deallocate()
    lanes.deallocate()
  }

  private static func noPins(_ count: Int) -> UnsafeMutablePointer<Unmanaged<MemoryPin>?> {
    let pins = UnsafeMutablePointer<Unmanaged<MemoryPin>?>.allocate(capacity: count)
    pins.initialize(repeating: nil, count: count)
    return pins
  }

  @inline(__always)
  private func lane(_ number: Int) -> UnsafeMutablePointer<Lane> {
    (lanes + number * Self.laneStride).assumingMemoryBound(to: Lane.self)
  }

  @inline(__always)
  private func mutex(_ lane: UnsafeMutablePointer<Lane>) -> UnsafeMutablePointer<pthread_mutex_t> {
    // The first of the lane's fields.
    UnsafeMutableRawPointer(lane).assumingMemoryBound(to: pthread_mutex_t.self)
  }

  /// Does something as the only one. What has been taken out is let go afterwards.
  private func alone<Result>(_ body: (inout [Unmanaged<AnyObject>]) -> Result) -> Result {
    var taken: [Unmanaged<AnyObject>] = []
    for number in 0..<Self.laneCount { pthread_mutex_lock(mutex(lane(number))) }
    let result = body(&taken)
    for number in (0..<Self.laneCount).reversed() { pthread_mutex_unlock(mutex(lane(number))) }
    for object in taken { object.release() }
    return result
  }

  /// Reads while others read.
  private func together<Result>(_ body: (UnsafeMutablePointer<Lane>) -> Result) -> Result {
    let lane = lane(Int(nhs_thread_number()) & (Self.laneCount - 1))
    pthread_mutex_lock(mutex(lane))
    defer { pthread_mutex_unlock(mutex(lane)) }
    return body(lane)
  }
}

// MARK: - Finding

extension MemoryTier {
  /// The entry of a key. Allocates nothing, but at the first hit of a lane.
  @inline(__always)
  func find(
    _ space: MemorySpace, _ kind: RecordKind, _ hash: KeyHash, _ name: UnsafeRawBufferPointer
  ) -> Lease? {
    let lane = lane(Int(nhs_thread_number()) & (Self.laneCount - 1))
    pthread_mutex_lock(mutex(lane))
    var lease: Lease?
    table.pointee.search(space.home(hash), MemoryTable.tag(hash)) { number in
      guard let pin = lane.pointee.pins[number] ?? makePin(number, lane) else { return false }
      let isIt = pin._withUnsafeGuaranteedRef { $0.isFor(space, kind, name) }
      guard isIt else { return false }
      lease = pin._withUnsafeGuaranteedRef { $0.lease }
      let visited = table.pointee.visited + number
      if nhs_load32(visited) == 0 { nhs_store32(visited, 1) }
      return true
    }
    if lease == nil { lane.pointee.misses &+= 1 } else { lane.pointee.hits &+= 1 }
    pthread_mutex_unlock(mutex(lane))
    return lease
  }

  @inline(never)
  private func makePin(_ number: Int, _ lane: UnsafeMutablePointer<Lane>) -> Unmanaged<MemoryPin>? {
    guard let entry = table.pointee.entry(number) else { return nil }
    let pin = Unmanaged.passRetained(MemoryPin(entry))
    lane.pointee.pins[number] = pin
    return pin
  }

  func find(_ space: MemorySpace, _ key: RecordKey) -> Lease? {
    key.bytes.withUnsafeBytes { find(space, key.kind, key.hash, $0) }
  }

  /// Does to an entry's chances what a hit does. False when there is none.
  func touch(_ space: MemorySpace, _ key: RecordKey) -> Bool {
    together { _ in
      guard let number = key.bytes.withUnsafeBytes({ table.pointee.find(space, key.kind, key.hash, $0) })
      else { return false }
      nhs_store32(table.pointee.visited + number, 1)
      return true
    }
  }

  /// Whether this very entry is there still.
  func contains(_ entry: MemoryEntry) -> Bool { together { _ in table.pointee.find(entry) != nil } }

  /// The records that are in no pack, in the order in which they came.
  func unwritten() -> [MemoryEntry] {
    var found: [MemoryEntry] = []
    together { _ in
      guard table.pointee.unwritten > 0 else { return }
      table.pointee.forEach { _, entry in if entry.space == .record { found.append(entry) } }
    }
    return found.sorted { $0.sequence < $1.sequence }
  }

  var statistics: MemoryStatistics {
    var statistics = MemoryStatistics()
    for number in 0..<Self.laneCount {
      let lane = lane(number)
      pthread_mutex_lock(mutex(lane))
      statistics.hits &+= lane.pointee.hits
      statistics.misses &+= lane.pointee.misses
      if number == 0 {
        statistics.bytes = table.pointee.bytes
        statistics.items = table.pointee.count
        statistics.privateBytes = table.pointee.privateBytes
        statistics.unwritten = table.pointee.unwritten
        statistics.evictions = evictions
      }
      pthread_mutex_unlock(mutex(lane))
    }
    statistics.limit = limits.bytes
    return statistics
  }
}

// MARK: - Changing

extension MemoryTier {
  /// Puts an entry in, in place of the one with its key, and takes others out to make room.
  ///
  /// - Returns: whether it was taken (it isn't when it is larger than an eighth of all), and the records that are to
  ///   be written to a pack and taken out then, with `remove`. They are found meanwhile.
  func keep(_ entry: MemoryEntry) -> (isKept: Bool, leaving: [MemoryEntry]) {
    alone { taken in
      let old = entry.key.bytes.withUnsafeBytes {
        table.pointee.find(entry.space, entry.key.kind, entry.key.hash, $0)
      }
      if let old { remove(old, &taken) }
      guard entry.cost <= limits.largest, limits.items > 0 else { return (false, []) }
      let leaving = shrink(to: limits.bytes - entry.cost, items: limits.items - 1, &taken)
      if table.pointee.isFull { grow() }
      table.pointee.insert(entry)
      return (true, leaving)
    }
  }

  /// Takes entries out until this is left.
  ///
  /// - Returns: the records that are to be written first, as `keep` does.
  func shrink(to bytes: Int) -> [MemoryEntry] {
    alone { taken in
      let leaving = shrink(to: bytes, items: .max, &taken)
      if table.pointee.count == 0 { reset() }
      return leaving
    }
  }

  private func shrink(to bytes: Int, items: Int, _ taken: inout [Unmanaged<AnyObject>]) -> [MemoryEntry] {
    var leaving: [MemoryEntry] = []
    while table.pointee.bytes - table.pointee.leavingBytes > bytes
      || table.pointee.count - table.pointee.leavingCount > items
    {
      guard let victim = table.pointee.victim(), let entry = table.pointee.entry(victim) else { break }
      evictions &+= 1
      if entry.space == .value {
        remove(victim, &taken)
      } else if let entry = table.pointee.leave(victim) {
        leaving.append(entry)
      }
    }
    return leaving
  }

  /// Takes this very entry out. False when it isn't there any more.
  @discardableResult
  func remove(_ entry: MemoryEntry) -> Bool {
    alone { taken in
      guard let number = table.pointee.find(entry) else { return false }
      remove(number, &taken)
      if table.pointee.count == 0 { reset() }
      return true
    }
  }

  /// Keeps an entry that was to leave, if it is there still.
  func stay(_ entry: MemoryEntry) {
    alone { _ in
      if let number = table.pointee.find(entry) { table.pointee.stay(number) }
    }
  }

  /// Takes out what there is of a key. False when there was nothing.
  @discardableResult
  func remove(_ space: MemorySpace, _ key: RecordKey) -> Bool {
    // Mostly there is nothing, which costs no other thread anything.
    let isThere = together { _ in
      key.bytes.withUnsafeBytes { table.pointee.find(space, key.kind, key.hash, $0) } != nil
    }
    guard isThere else { return false }
    return alone { taken in
      guard let number = key.bytes.withUnsafeBytes({ table.pointee.find(space, key.kind, key.hash, $0) })
      else { return false }
      remove(number, &taken)
      return true
    }
  }

  /// Takes out all for which `isGone` holds. It must not use the tier.
  func removeAll(where isGone: (MemoryEntry) -> Bool) {
    alone { taken in
      var gone: [Int] = []
      table.pointee.forEach { number, entry in if isGone(entry) { gone.append(number) } }
      for number in gone { remove(number, &taken) }
      if table.pointee.count == 0 { reset() }
    }
  }

  private func takeAll() -> [Unmanaged<AnyObject>] {
    var taken: [Unmanaged<AnyObject>] = []
    var all: [Int] = []
    table.pointee.forEach { number, _ in all.append(number) }
    for number in all { remove(number, &taken) }
    return taken
  }

  private func remove(_ number: Int, _ taken: inout [Unmanaged<AnyObject>]) {
    for lane in 0..<Self.laneCount {
      if let pin = self.lane(lane).pointee.pins[number] {
        taken.append(Unmanaged.fromOpaque(pin.toOpaque()))
        self.lane(lane).pointee.pins[number] = nil
      }
    }
    if let entry = table.pointee.remove(number) { taken.append(Unmanaged.fromOpaque(entry.toOpaque())) }
  }

  private func grow() {
    let larger = table.pointee.grown()
    let count = table.pointee.capacity
    for number in 0..<Self.laneCount {
      let pins = Self.noPins(larger.capacity)
      pins.update(from: lane(number).pointee.pins, count: count)
      lane(number).pointee.pins.deallocate()
      lane(number).pointee.pins = pins
    }
    table.pointee.deallocate()
    table.pointee = larger
  }

  /// Gives the room of a table back that nothing is in.
  private func reset() {
    guard table.pointee.mask > 1023 else { return }
    table.pointee.deallocate()
    table.pointee = MemoryTable()
    for number in 0..<Self.laneCount {
      lane(number).pointee.pins.deallocate()
      lane(number).pointee.pins = Self.noPins(table.pointee.capacity)
    }
  }
}
