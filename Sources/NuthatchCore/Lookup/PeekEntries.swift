/// A lane's entries by their hashes, for who holds its lock: slots that are searched from the hash on, at most half of them
/// taken. It retains what it holds, and lets nothing go itself.
struct PeekEntries {
  private var slots: UnsafeMutablePointer<Unmanaged<Peeked>?>?
  private var mask = 0
  private var count = 0

  @inline(__always)
  func find(_ hash: PeekHash) -> Unmanaged<Peeked>? {
    guard let slots, let slot = slot(of: hash) else { return nil }
    return slots[slot]
  }

  @inline(__always)
  private func slot(of hash: PeekHash) -> Int? {
    guard let slots else { return nil }
    var place = Int(truncatingIfNeeded: hash.low) & mask
    while let entry = slots[place] {
      if entry._withUnsafeGuaranteedRef({ $0.hash == hash }) { return place }
      place = (place + 1) & mask
    }
    return nil
  }

  /// Puts an entry in, in the place of one of the same hash. With `room` others it begins anew. What is no longer here is
  /// the caller's to release.
  mutating func put(_ entry: Peeked, room: Int, _ gone: inout [Unmanaged<Peeked>]) {
    if let slots, let slot = slot(of: entry.hash), let old = slots[slot] {
      gone.append(old)
      slots[slot] = .passRetained(entry)
      return
    }
    if count >= room { removeAll(&gone) }
    if slots == nil || count * 2 > mask { grow() }
    insert(.passRetained(entry), entry.hash)
    count += 1
  }

  /// Takes the entry of this hash out, if `isMeant`, for the caller to release.
  mutating func take(_ hash: PeekHash, if isMeant: (Peeked) -> Bool) -> Unmanaged<Peeked>? {
    guard let slots, let slot = slot(of: hash), let entry = slots[slot],
      entry._withUnsafeGuaranteedRef(isMeant)
    else { return nil }
    vacate(slot)
    return entry
  }

  mutating func removeAll(_ gone: inout [Unmanaged<Peeked>]) {
    guard let old = slots else { return }
    for place in 0...mask { if let entry = old[place] { gone.append(entry) } }
    old.deallocate()
    self = PeekEntries()
  }

  private mutating func grow() {
    let old = slots
    let oldCount = old == nil ? 0 : mask + 1
    let newCount = max(64, oldCount * 2)
    let made = UnsafeMutablePointer<Unmanaged<Peeked>?>.allocate(capacity: newCount)
    made.initialize(repeating: nil, count: newCount)
    slots = made
    mask = newCount - 1
    guard let old else { return }
    for place in 0..<oldCount {
      if let entry = old[place] { insert(entry, entry._withUnsafeGuaranteedRef(\.hash)) }
    }
    old.deallocate()
  }

  private func insert(_ entry: Unmanaged<Peeked>, _ hash: PeekHash) {
    guard let slots else { return entry.release() }
    var place = Int(truncatingIfNeeded: hash.low) & mask
    while slots[place] != nil { place = (place + 1) & mask }
    slots[place] = entry
  }

  /// Frees a slot, and moves those behind it up so that every search still ends at the first free one.
  private mutating func vacate(_ slot: Int) {
    guard let slots else { return }
    var (hole, place) = (slot, slot)
    while true {
      place = (place + 1) & mask
      guard let other = slots[place] else { break }
      let home = Int(truncatingIfNeeded: other._withUnsafeGuaranteedRef(\.hash.low)) & mask
      // May it stand in the hole, which lies between its home and its place?
      if (place - home) & mask >= (place - hole) & mask {
        slots[hole] = other
        hole = place
      }
    }
    slots[hole] = nil
    count -= 1
  }
}
