/// The hits of a stripe by their hashes, for the holder of its lock: slots that are searched from the hash on, at most half
/// of them taken. It retains what it holds, and releases nothing itself.
struct HitSlots {
  private var slots: UnsafeMutablePointer<Unmanaged<RememberedHit>?>?
  private var mask = 0
  private var count = 0

  @inline(__always)
  func find(_ hash: HitHash) -> Unmanaged<RememberedHit>? {
    guard let slots, let slot = slot(of: hash) else { return nil }
    return slots[slot]
  }

  @inline(__always)
  private func slot(of hash: HitHash) -> Int? {
    guard let slots else { return nil }
    var place = home(of: hash)
    while let hit = slots[place] {
      if hit._withUnsafeGuaranteedRef({ $0.hash == hash }) { return place }
      place = (place + 1) & mask
    }
    return nil
  }

  @inline(__always)
  private func home(of hash: HitHash) -> Int { Int(truncatingIfNeeded: hash.low) & mask }

  /// Puts a hit in: in the place of the one of the same hash, or where there are `room` others, of one of them.
  ///
  /// - Returns: the one that it has replaced, for the caller to release.
  mutating func put(_ hit: RememberedHit, room: Int) -> Unmanaged<RememberedHit>? {
    if let slots, let slot = slot(of: hit.hash), let old = slots[slot] {
      slots[slot] = .passRetained(hit)
      return old
    }
    let gone = count < room ? nil : takeAny(near: hit.hash)
    if slots == nil || count * 2 > mask { grow() }
    insert(.passRetained(hit), hit.hash)
    count += 1
    return gone
  }

  /// Takes the hit of this hash out, if `isMeant`, for the caller to release.
  mutating func take(_ hash: HitHash, if isMeant: (RememberedHit) -> Bool) -> Unmanaged<RememberedHit>? {
    guard let slots, let slot = slot(of: hash), let hit = slots[slot], hit._withUnsafeGuaranteedRef(isMeant)
    else { return nil }
    vacate(slot)
    return hit
  }

  /// Takes out the first hit from a place on: hashes are random, and so is the choice.
  private mutating func takeAny(near hash: HitHash) -> Unmanaged<RememberedHit>? {
    guard let slots, count > 0 else { return nil }
    var place = home(of: hash)
    while true {
      if let hit = slots[place] {
        vacate(place)
        return hit
      }
      place = (place + 1) & mask
    }
  }

  /// Releases everything. For slots that are no stripe's any more.
  mutating func releaseAll() {
    guard let slots else { return }
    for place in 0...mask { slots[place]?.release() }
    slots.deallocate()
    self = HitSlots()
  }

  private mutating func grow() {
    let old = slots
    let oldCount = old == nil ? 0 : mask + 1
    let newCount = max(64, oldCount * 2)
    let made = UnsafeMutablePointer<Unmanaged<RememberedHit>?>.allocate(capacity: newCount)
    made.initialize(repeating: nil, count: newCount)
    slots = made
    mask = newCount - 1
    guard let old else { return }
    for place in 0..<oldCount {
      if let hit = old[place] { insert(hit, hit._withUnsafeGuaranteedRef(\.hash)) }
    }
    old.deallocate()
  }

  private func insert(_ hit: Unmanaged<RememberedHit>, _ hash: HitHash) {
    guard let slots else { return hit.release() }
    var place = home(of: hash)
    while slots[place] != nil { place = (place + 1) & mask }
    slots[place] = hit
  }

  /// Frees a slot, and moves those behind it up so that every search still ends at the first free one.
  private mutating func vacate(_ slot: Int) {
    guard let slots else { return }
    var (hole, place) = (slot, slot)
    while true {
      place = (place + 1) & mask
      guard let other = slots[place] else { break }
      let home = home(of: other._withUnsafeGuaranteedRef(\.hash))
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
