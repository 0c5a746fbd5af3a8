/// The hits of a stripe in an open-addressing hash table, at most half full. Use it with the stripe's lock held. It retains its
/// hits, but the caller releases them.
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

  /// Adds a hit. It replaces the hit with the same hash; if there are `room` hits already, it replaces one of them.
  ///
  /// - Returns: the replaced hit, for the caller to release.
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

  /// Removes and returns the hit with this hash if `isMeant` returns true. The caller releases it.
  mutating func take(_ hash: HitHash, if isMeant: (RememberedHit) -> Bool) -> Unmanaged<RememberedHit>? {
    guard let slots, let slot = slot(of: hash), let hit = slots[slot], hit._withUnsafeGuaranteedRef(isMeant)
    else { return nil }
    vacate(slot)
    return hit
  }

  /// Removes and returns the first hit from the hash's slot on. Hashes are random, so the choice is, too.
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

  /// Releases all hits. For slots that no longer belong to a stripe.
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

  /// Frees a slot, and moves later hits up so that every search still ends at the first free slot.
  private mutating func vacate(_ slot: Int) {
    guard let slots else { return }
    var (hole, place) = (slot, slot)
    while true {
      place = (place + 1) & mask
      guard let other = slots[place] else { break }
      let home = home(of: other._withUnsafeGuaranteedRef(\.hash))
      // Move `other` into the hole only if the hole lies between its home slot and its present slot.
      if (place - home) & mask >= (place - hole) & mask {
        slots[hole] = other
        hole = place
      }
    }
    slots[hole] = nil
    count -= 1
  }
}
