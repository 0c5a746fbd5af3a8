/// The entries of the memory tier and their eviction order, in flat arrays, so that only the entry itself is behind a pointer.
/// It doesn't lock; `MemoryTier` does.
///
/// The eviction algorithm is SIEVE. Entries are in the order of insertion. A hand moves from the oldest to the newest and evicts
/// the first entry that wasn't visited since the hand last passed it. A hit moves nothing.
struct MemoryTable {
  /// 32 bits of the hash as a tag, and the entry's number + 1; 0 if the slot is free. A search goes upwards from the entry's home.
  private(set) var slots: ZeroedArray<UInt64>
  private(set) var mask: Int
  /// The highest number of entries: half the slots, so that searches stay short.
  var capacity: Int { (mask + 1) / 2 }

  // By the entry's number.
  private(set) var entries: ZeroedArray<Unmanaged<MemoryEntry>?>
  /// 0 or 1, set by readers concurrently. A byte each, so that those of many entries fit a processor's cache.
  private(set) var visited: ZeroedArray<UInt8>
  /// The neighbours in the order; -1 if there is none. `newer` also links the free numbers.
  private var older: ZeroedArray<Int32>
  private var newer: ZeroedArray<Int32>
  /// Whether the entry is out of the order, because it is being written to a pack.
  private var leaving: ZeroedArray<Bool>

  private var oldest: Int32 = -1
  private var newest: Int32 = -1
  private var hand: Int32 = -1
  private var free: Int32 = -1
  private var used = 0

  /// The number of entries, including those that are leaving.
  private(set) var count = 0
  /// The cost of all entries, and of those that are leaving.
  private(set) var bytes = 0
  private(set) var leavingBytes = 0
  private(set) var leavingCount = 0
  private(set) var privateBytes = 0
  private(set) var unwritten = 0

  init(slotCount: Int = 64) {
    mask = slotCount - 1
    slots = ZeroedArray(slotCount)
    let room = slotCount / 2
    entries = ZeroedArray(room)
    visited = ZeroedArray(room)
    older = ZeroedArray(room)
    newer = ZeroedArray(room)
    leaving = ZeroedArray(room)
  }

  /// Frees the arrays. The entries must have been removed.
  func deallocate() {
    slots.free()
    entries.free()
    visited.free()
    older.free()
    newer.free()
    leaving.free()
  }

  @inline(__always)
  static func tag(_ hash: KeyHash) -> UInt64 { hash.high & 0xFFFF_FFFF_0000_0000 }

  /// Calls `body` with the number of every entry that may match, until it returns true.
  @inline(__always)
  func search(_ home: UInt64, _ tag: UInt64, _ body: (Int) -> Bool) {
    var place = Int(truncatingIfNeeded: home) & mask
    while true {
      let slot = slots[place]
      if slot == 0 { return }
      if slot & 0xFFFF_FFFF_0000_0000 == tag, body(Int(slot & 0xFFFF_FFFF) - 1) { return }
      place = (place + 1) & mask
    }
  }

  func entry(_ number: Int) -> MemoryEntry? { entries[number]?.takeUnretainedValue() }

  /// Returns the number of the entry with a key.
  func find(
    _ space: MemorySpace, _ kind: RecordKind, _ hash: KeyHash, _ name: UnsafeRawBufferPointer
  ) -> Int? {
    var found: Int?
    search(space.home(hash), Self.tag(hash)) { number in
      guard let entry = entry(number), entry.isFor(space, kind, hash, name) else { return false }
      found = number
      return true
    }
    return found
  }

  /// Returns the number of exactly this entry.
  func find(_ wanted: MemoryEntry) -> Int? {
    var found: Int?
    search(wanted.space.home(wanted.key.hash), Self.tag(wanted.key.hash)) { number in
      guard entry(number) === wanted else { return false }
      found = number
      return true
    }
    return found
  }

  /// Inserts an entry as the newest. There must be no entry with its key, and there must be room.
  mutating func insert(_ entry: MemoryEntry) {
    let number: Int32
    if free >= 0 {
      number = free
      free = newer[Int(free)]
    } else {
      number = Int32(used)
      used += 1
    }
    let at = Int(number)
    entries[at] = .passRetained(entry)
    visited[at] = 0
    leaving[at] = false
    link(number)
    place(entry, at)
    count += 1
    bytes += entry.cost
    privateBytes += entry.privateBytes
    if entry.space == .record { unwritten += 1 }
  }

  private func place(_ entry: MemoryEntry, _ number: Int) {
    var place = Int(truncatingIfNeeded: entry.space.home(entry.key.hash)) & mask
    while slots[place] != 0 { place = (place + 1) & mask }
    slots[place] = Self.tag(entry.key.hash) | UInt64(number + 1)
  }

  /// Removes an entry. Returns it retained; the caller releases it when no lock is held.
  mutating func remove(_ number: Int) -> Unmanaged<MemoryEntry>? {
    guard let taken = entries[number] else { return nil }
    let entry = taken.takeUnretainedValue()
    if leaving[number] {
      leavingBytes -= entry.cost
      leavingCount -= 1
    } else {
      unlink(Int32(number))
    }
    vacate(entry, number)
    entries[number] = nil
    newer[number] = free
    free = Int32(number)
    count -= 1
    bytes -= entry.cost
    privateBytes -= entry.privateBytes
    if entry.space == .record { unwritten -= 1 }
    return taken
  }

  /// Frees a slot, and moves later slots up so that every search still ends at the first free one.
  private func vacate(_ entry: MemoryEntry, _ number: Int) {
    var hole = Int(truncatingIfNeeded: entry.space.home(entry.key.hash)) & mask
    while slots[hole] != Self.tag(entry.key.hash) | UInt64(number + 1) { hole = (hole + 1) & mask }
    var place = hole
    while true {
      place = (place + 1) & mask
      let slot = slots[place]
      guard slot != 0, let other = self.entry(Int(slot & 0xFFFF_FFFF) - 1) else { break }
      let home = Int(truncatingIfNeeded: other.space.home(other.key.hash)) & mask
      // Move it if the hole lies between its home and its place.
      if (place - home) & mask >= (place - hole) & mask {
        slots[hole] = slot
        hole = place
      }
    }
    slots[hole] = 0
  }

  private mutating func link(_ number: Int32) {
    older[Int(number)] = newest
    newer[Int(number)] = -1
    if newest >= 0 { newer[Int(newest)] = number } else { oldest = number }
    newest = number
  }

  private mutating func unlink(_ number: Int32) {
    let (before, after) = (older[Int(number)], newer[Int(number)])
    if hand == number { hand = after }
    if before >= 0 { newer[Int(before)] = after } else { oldest = after }
    if after >= 0 { older[Int(after)] = before } else { newest = before }
  }

  /// Returns the next entry to evict; nil if all are leaving already.
  mutating func victim() -> Int? {
    guard oldest >= 0 else { return nil }
    var at = hand >= 0 ? hand : oldest
    while visited[Int(at)] != 0 {
      visited[Int(at)] = 0
      at = newer[Int(at)] >= 0 ? newer[Int(at)] : oldest
    }
    hand = at
    return Int(at)
  }

  /// Takes an entry out of the order while it is being written. It is still found.
  mutating func leave(_ number: Int) -> MemoryEntry? {
    guard !leaving[number], let entry = entry(number) else { return nil }
    unlink(Int32(number))
    leaving[number] = true
    leavingBytes += entry.cost
    leavingCount += 1
    return entry
  }

  /// Puts an entry that couldn't be written to a pack back into the order, as the newest. Returns false if it isn't leaving.
  mutating func stay(_ number: Int) -> Bool {
    guard leaving[number], let entry = entry(number) else { return false }
    leaving[number] = false
    leavingBytes -= entry.cost
    leavingCount -= 1
    link(Int32(number))
    return true
  }

  /// Calls `body` with all entries, oldest first; those that are leaving come last.
  func forEach(_ body: (Int, MemoryEntry) -> Void) {
    var at = oldest
    while at >= 0 {
      if let entry = entry(Int(at)) { body(Int(at), entry) }
      at = newer[Int(at)]
    }
    guard leavingCount > 0 else { return }
    for number in 0..<used where leaving[number] {
      if let entry = entry(number) { body(number, entry) }
    }
  }

  var isFull: Bool { count >= capacity }

  /// Returns a copy with twice the room. The entries keep their numbers.
  func grown() -> MemoryTable {
    var larger = MemoryTable(slotCount: (mask + 1) * 2)
    larger.entries.base.update(from: entries.base, count: used)
    larger.visited.base.update(from: visited.base, count: used)
    larger.older.base.update(from: older.base, count: used)
    larger.newer.base.update(from: newer.base, count: used)
    larger.leaving.base.update(from: leaving.base, count: used)
    (larger.oldest, larger.newest, larger.hand, larger.free, larger.used) = (oldest, newest, hand, free, used)
    (larger.count, larger.bytes, larger.privateBytes, larger.unwritten) = (
      count, bytes, privateBytes, unwritten
    )
    (larger.leavingBytes, larger.leavingCount) = (leavingBytes, leavingCount)
    for number in 0..<used {
      if let entry = entry(number) { larger.place(entry, number) }
    }
    return larger
  }
}
