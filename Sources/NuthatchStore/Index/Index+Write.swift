import CSystem

/// Changes of the index. Call them with the index lock held, and after `finishPending`.
extension Index {
  enum Change {
    /// Done; the previous contents of the slot.
    case done(replaced: Slot?)
    /// There is no free slot among the `maxProbeLength` slots, or the index can't be written: the index must grow.
    case full
  }

  /// The numbers of used slots. They are read from the file, so they may be damaged.
  var counters: IndexCounters {
    func number(_ index: Int) -> Int {
      Int(truncatingIfNeeded: nhs_load64(base + IndexLayout.counters + index * 8))
    }
    return IndexCounters(
      occupied: number(0), meta: number(1), body: number(2), thumb: number(3), answer: number(4))
  }

  /// Whether so many slots are taken that searches become long.
  var isCrowded: Bool { counters.occupied > slotCount / 4 * 3 }

  /// The bytes that count against the disk limit. If the index will grow soon, the larger index counts, too: for a moment both
  /// exist.
  var claim: Int {
    guard counters.occupied > slotCount / 8 * 5 else { return length }
    return length + (isSmall ? length * 2 : length / 4 * 5)
  }

  /// Whether it grows to twice its size, and not by a quarter. It takes less than 1 MiB, and a copy costs more than the room.
  var isSmall: Bool { slotCount < 1 << 15 }

  /// Completes a change of a writer that was killed in the middle. Returns false if nothing can be written now.
  func finishPending() -> Bool {
    guard canWriteHead else { return false }
    guard nhs_load32_acquire(base + IndexLayout.pendingState) == 1 else { return true }
    if let place = Int(exactly: nhs_load64(base + IndexLayout.pendingSlot)), place < slotCount,
      !canWrite(place)
    {
      return false
    }
    if let place = Int(exactly: nhs_load64(base + IndexLayout.pendingEntry)), !canWriteEntry(place) {
      return false
    }
    applyPending()
    return !isBroken
  }

  var canWriteHead: Bool { canWrite(base, IndexLayout.headSize) }

  private func canWriteEntry(_ place: Int) -> Bool {
    place >= packCapacity || canWrite(entry(place), IndexLayout.entrySize)
  }

  /// A replaced or removed record that must still be retired in its pack. If its writer is killed before that, the next process
  /// that changes the index does it; otherwise a rebuilt index would find the record again.
  var retiring: (location: Location, hash: KeyHash)? {
    let number = nhs_load32(base + IndexLayout.retiringPack)
    guard number != 0, canWriteHead else { return nil }
    let offset = Int(nhs_load32(base + IndexLayout.retiringOffset)) << 3
    let at = base + IndexLayout.retiringHash
    let hash = KeyHash(low: nhs_load64(at), high: nhs_load64(at + 8))
    return isBroken ? nil : (Location(pack: number, offset: offset), hash)
  }

  /// Call it when the record is retired.
  func forgetRetiring() { nhs_store32_release(base + IndexLayout.retiringPack, 0) }

  private func noteRetiring(_ slot: Slot) {
    nhs_store64(base + IndexLayout.retiringHash, slot.hash.low)
    nhs_store64(base + IndexLayout.retiringHash + 8, slot.hash.high)
    nhs_store32(base + IndexLayout.retiringOffset, UInt32(truncatingIfNeeded: slot.location.offset >> 3))
    nhs_store32_release(base + IndexLayout.retiringPack, slot.location.pack)
  }

  /// Inserts a record, or replaces the one with its hash, and sets the used bytes of its pack. The replaced record becomes
  /// `retiring`.
  ///
  /// - Parameter only: changes nothing unless the index names this location for the hash; then returns `done` with nil.
  func insert(
    _ hash: KeyHash, _ kind: RecordKind, _ location: Location, used: (place: Int, bytes: Int)? = nil,
    session: UInt32 = 0, only expected: Location? = nil
  ) -> Change {
    var place = place(of: hash)
    var free: Int?
    var isNew = true
    var old: Slot?
    var extendsChain = false
    for _ in 0..<min(IndexLayout.maxProbeLength, slotCount) {
      let slot = ownRead(place)
      if slot.location.pack == Slot.unusedMark {
        if free == nil {
          free = place
          extendsChain = true
        }
        break
      }
      if slot.location.pack == Slot.deletedMark {
        if free == nil { free = place }
      } else if slot.hash == hash {
        free = place
        isNew = false
        old = slot
        break
      }
      place = next(place)
    }
    if let expected, old?.location != expected { return .done(replaced: nil) }
    guard let free else { return .full }
    if isNew, extendsChain, isCrowded { return .full }
    var counters = counters
    if extendsChain { counters.occupied &+= 1 }
    if let kind = old?.kind { counters[kind] &-= 1 }
    counters[kind] &+= 1
    let slot = Slot(hash: hash, location: location, flags: Slot.flags(kind, session: session))
    let retired = old.flatMap { $0.location == location ? nil : $0 }
    // If the disk has no room for the change, it has none for a larger index: growing then throws.
    return change(free, to: slot, counters, used: used, retiring: retired) ? .done(replaced: old) : .full
  }

  /// Inserts a record with a new hash into an unpublished index. Returns its place, or nil if there is no room.
  func place(_ slot: Slot) -> Int? {
    var place = place(of: slot.hash)
    for _ in 0..<min(IndexLayout.maxProbeLength, slotCount) {
      let at = slots + place * IndexLayout.slotSize
      if nhs_load32(at + 20) == Slot.unusedMark {
        store(place, slot)
        return place
      }
      // A damaged index can hold a hash twice; keep one.
      if nhs_load64(at) == slot.hash.low, nhs_load64(at + 8) == slot.hash.high { return place }
      place = next(place)
    }
    return nil
  }

  /// Overwrites a slot of an unpublished index.
  func replace(_ place: Int, _ slot: Slot) { store(place, slot) }

  /// Sets the counters of an unpublished index.
  func set(_ counters: IndexCounters) {
    for (index, number) in counters.numbers.enumerated() {
      nhs_store64(base + IndexLayout.counters + index * 8, number)
    }
  }

  /// The result of a removal.
  enum Removal { case absent, removed, unwritable }

  /// Removes a record if it is at `expected`. If `expected` is nil, removes it wherever it is; it then becomes `retiring`.
  func remove(_ hash: KeyHash, at expected: Location? = nil) -> Removal {
    var place = place(of: hash)
    for _ in 0..<min(IndexLayout.maxProbeLength, slotCount) {
      let slot = ownRead(place)
      if slot.location.pack == Slot.unusedMark { return .absent }
      if slot.location.pack != Slot.deletedMark, slot.hash == hash {
        guard expected == nil || expected == slot.location else { return .absent }
        return deleteSlot(place, slot, retires: expected == nil) ? .removed : .unwritable
      }
      place = next(place)
    }
    return .absent
  }

  /// Deletes a slot. Returns false if it can't be written; then the slot stays.
  @discardableResult
  func deleteSlot(_ place: Int, _ slot: Slot, retires: Bool = false) -> Bool {
    var counters = counters
    if let kind = slot.kind { counters[kind] &-= 1 }
    return change(place, to: .deleted, counters, used: nil, retiring: retires ? slot : nil)
  }

  /// Reads a slot; call it with the index lock held. If no writer can have produced its values, the index is damaged, and a
  /// record may be missing. Then the result is `Slot.deleted`, and the index is marked as replaced, so that the next change
  /// rebuilds it from the packs.
  func ownRead(_ place: Int) -> Slot {
    let at = slots + place * IndexLayout.slotSize
    let slot = load(at)
    guard isPossible(slot, at: place, version: nhs_load32(at + 16)) else {
      markReplaced()
      return .deleted
    }
    return slot
  }

  /// Returns whether a writer can have produced these values and has completed the change.
  @inline(__always)
  private func isPossible(_ slot: Slot, at place: Int, version: UInt32) -> Bool {
    // No change is pending, so an odd version would never be completed.
    guard version & 1 == 0, slot.flags >> 16 == version >> 1 & 0xFFFF else { return false }
    let isBlank = slot.hash.low | slot.hash.high == 0 && slot.location.offset == 0
    switch slot.location.pack {
    case Slot.unusedMark: return isBlank && version == 0
    // A reader may set the visited bit of a slot that was just deleted.
    case Slot.deletedMark: return isBlank
    default:
      let distance = place - self.place(of: slot.hash)
      return slot.kind != nil && (distance < 0 ? distance + slotCount : distance) < IndexLayout.maxProbeLength
    }
  }

  /// Write-ahead change: stores the new slot in the pending area, sets the pending flag, applies the change, clears the flag. A
  /// kill at any point leaves the old or the new state. Returns false if it can't be written now, or a part didn't reach the
  /// file; then the next owner of the lock completes it from the pending area.
  private func change(
    _ place: Int, to slot: Slot, _ counters: IndexCounters, used: (place: Int, bytes: Int)?,
    retiring: Slot? = nil
  ) -> Bool {
    guard canWrite(place), canWriteHead, used.map({ canWriteEntry($0.place) }) ?? true else { return false }
    let image = base + IndexLayout.pendingImage
    nhs_store64(base + IndexLayout.pendingSlot, UInt64(place))
    nhs_store64(image, slot.hash.low)
    nhs_store64(image + 8, slot.hash.high)
    nhs_store32(image + 20, slot.location.pack)
    nhs_store32(image + 24, UInt32(truncatingIfNeeded: slot.location.offset >> 3))
    nhs_store32(image + 28, slot.flags)
    let numbers = base + IndexLayout.pendingCounters
    nhs_store64(numbers, UInt64(truncatingIfNeeded: counters.occupied))
    nhs_store64(numbers + 8, UInt64(truncatingIfNeeded: counters.meta))
    nhs_store64(numbers + 16, UInt64(truncatingIfNeeded: counters.body))
    nhs_store64(numbers + 24, UInt64(truncatingIfNeeded: counters.thumb))
    nhs_store64(numbers + 32, UInt64(truncatingIfNeeded: counters.answer))
    nhs_store64(base + IndexLayout.pendingEntry, used.map { UInt64($0.place) } ?? .max)
    nhs_store64(base + IndexLayout.pendingUsed, UInt64(used?.bytes ?? 0))
    // Note it before the change. If this process is killed in between, the index still names the record, so it isn't retired.
    if let retiring { noteRetiring(retiring) }
    nhs_store32_release(base + IndexLayout.pendingState, 1)
    applyPending()
    return !isBroken
  }

  private func applyPending() {
    let image = base + IndexLayout.pendingImage
    if let place = Int(exactly: nhs_load64(base + IndexLayout.pendingSlot)), place < slotCount {
      store(place, load(image))
    }
    for index in 0..<5 {
      nhs_store64(
        base + IndexLayout.counters + index * 8, nhs_load64(base + IndexLayout.pendingCounters + index * 8))
    }
    if let place = Int(exactly: nhs_load64(base + IndexLayout.pendingEntry)), place < packCapacity {
      nhs_store64(entry(place) + 8, nhs_load64(base + IndexLayout.pendingUsed))
    }
    nhs_store32_release(base + IndexLayout.pendingState, 0)
  }

  private func store(_ place: Int, _ slot: Slot) {
    let at = slots + place * IndexLayout.slotSize
    let odd = nhs_load32(at + 16) | 1
    nhs_store32(at + 16, odd)
    nhs_fence_release()
    nhs_store64(at, slot.hash.low)
    nhs_store64(at + 8, slot.hash.high)
    nhs_store32(at + 20, slot.location.pack)
    nhs_store32(at + 24, UInt32(truncatingIfNeeded: slot.location.offset >> 3))
    let even = odd &+ 1
    nhs_store32(at + 28, slot.flags & 0xFFFF | even << 15)
    nhs_store32_release(at + 16, even)
  }
}

/// The table of packs, and the counters for sequence and pack numbers.
extension Index {
  func entry(_ place: Int) -> UnsafeMutableRawPointer {
    base + IndexLayout.tableStart + place * IndexLayout.entrySize
  }

  /// All packs in the order in which they are dropped.
  var packs: [PackEntry] {
    (0..<packCapacity).compactMap(readEntry).sorted { ($0.turn, $0.number) < ($1.turn, $1.number) }
  }

  /// Returns the entry of a pack, or nil if the table has none.
  func entry(of number: UInt32) -> PackEntry? {
    for place in 0..<packCapacity where nhs_load32(entry(place)) == number {
      if let found = readEntry(place) { return found }
    }
    return nil
  }

  /// Returns nil for an empty or damaged entry.
  private func readEntry(_ place: Int) -> PackEntry? {
    let at = entry(place)
    let number = nhs_load32(at)
    let words = nhs_load32(at + 4)
    guard number != 0, let family = Family(rawValue: UInt16(truncatingIfNeeded: words)),
      let state = PackEntry.State(rawValue: UInt16(truncatingIfNeeded: words >> 16)),
      let used = Int(exactly: nhs_load64(at + 8)), let capacity = Int(exactly: nhs_load64(at + 16)),
      used <= 1 << 46, capacity <= 1 << 46
    else { return nil }
    let turn = nhs_load32(at + 24)
    // A damaged number must not look like a full disk: all other packs would be dropped for it.
    return PackEntry(
      place: place, number: number, family: family, state: state, used: min(used, capacity),
      capacity: capacity, turn: turn == 0 ? number : turn)
  }

  /// Adds a pack. Returns nil if the table is full.
  func add(_ pack: PackHeader, _ state: PackEntry.State, used: Int) -> Int? {
    for place in 0..<packCapacity where nhs_load32(entry(place)) == 0 {
      guard canWriteEntry(place) else { return nil }
      let at = entry(place)
      nhs_store64(at + 8, UInt64(used))
      nhs_store64(at + 16, UInt64(pack.capacity))
      nhs_store32(at + 24, pack.turn)
      nhs_store32(at + 4, UInt32(pack.family.rawValue) | UInt32(state.rawValue) << 16)
      nhs_store32_release(at, pack.number)
      return place
    }
    return nil
  }

  func set(_ place: Int, _ family: Family, _ state: PackEntry.State) {
    guard canWriteEntry(place) else { return }
    nhs_store32(entry(place) + 4, UInt32(family.rawValue) | UInt32(state.rawValue) << 16)
  }

  func set(_ place: Int, used: Int) {
    if canWriteEntry(place) { nhs_store64(entry(place) + 8, UInt64(used)) }
  }

  func set(_ place: Int, capacity: Int) {
    if canWriteEntry(place) { nhs_store64(entry(place) + 16, UInt64(capacity)) }
  }

  func drop(_ entry: PackEntry) {
    guard canWriteEntry(entry.place), canWriteHead else { return }
    nhs_store32_release(self.entry(entry.place), 0)
    haveOthersLook()
  }

  /// Makes all processes that use the index check for dropped packs and for losses.
  func haveOthersLook() {
    if canWriteHead { _ = nhs_add32(base + IndexLayout.drops, 1) }
  }

  /// Returns 0 if no number can be taken now.
  func takeSequence() -> UInt64 {
    guard canWriteHead else { return 0 }
    let sequence = nhs_add64(base + IndexLayout.nextSequence, 1)
    return isBroken ? 0 : sequence
  }

  /// Returns a pack number, never 0 or all ones, which have a meaning in slots. Nil if none can be taken now.
  func takePackNumber() -> UInt32? {
    guard canWriteHead else { return nil }
    while true {
      let number = UInt32(truncatingIfNeeded: nhs_add64(base + IndexLayout.nextPack, 1))
      if isBroken { return nil }
      if number != 0, number != .max { return number }
    }
  }

  func set(limit: Int) { nhs_store64(base + IndexLayout.limit, UInt64(truncatingIfNeeded: limit)) }
  /// Raises the next sequence number to at least `wanted`. Never lowers it, even if other processes take numbers meanwhile.
  func raise(nextSequence wanted: UInt64) {
    let next = nextSequence
    if next < wanted { _ = nhs_add64(base + IndexLayout.nextSequence, wanted - next) }
  }

  /// Continues the sequence numbers of the previous index. If that index was deleted, this one was made from the packs and
  /// doesn't count the records that are only in memory; without this, a later record would look older than those. Needs no
  /// lock.
  func continueSequence(after old: Index) {
    // Skip 1024 numbers, because other threads may still take some from the old index. A damaged number isn't copied.
    let wanted = old.nextSequence &+ 1024
    guard old.nextSequence > nextSequence, wanted &- nextSequence < 1 << 40, canWriteHead else { return }
    raise(nextSequence: wanted)
  }
  /// Continues the sequence and pack numbers of an index that this one replaces, and copies `clearedBefore`. Damaged numbers
  /// aren't copied. Call it with the index lock held.
  func continueAllNumbers(after old: Index) {
    continueSequence(after: old)
    if old.nextPack > nextPack, old.nextPack <= UInt64(UInt32.max) { set(nextPack: old.nextPack) }
    if old.clearedBefore > clearedBefore, old.clearedBefore < nextSequence {
      set(clearedBefore: old.clearedBefore)
    }
  }

  /// Skips to pack numbers that almost certainly were never given.
  func skipPackNumbers() {
    let next = nextPack &+ .random(in: 1...1 << 24)
    if next < 1 << 30 { set(nextPack: next) }
  }

  func set(clearedBefore: UInt64) { nhs_store64(base + IndexLayout.clearedBefore, clearedBefore) }
  func set(nextSequence: UInt64) { nhs_store64(base + IndexLayout.nextSequence, nextSequence) }
  func set(nextPack: UInt64) { nhs_store64(base + IndexLayout.nextPack, nextPack) }
  var nextSequence: UInt64 { nhs_load64(base + IndexLayout.nextSequence) }
  var nextPack: UInt64 { nhs_load64(base + IndexLayout.nextPack) }

  /// Begins a session, in which every payload is verified once more.
  func beginSession() {
    let next = session + 1
    if next > 0xFFF, canWrite(slots, slotCount * IndexLayout.slotSize) {
      // The session numbers start again at 1: delete the notes of earlier sessions, which would count as notes of the new one.
      for place in 0..<slotCount {
        let at = slots + place * IndexLayout.slotSize + 28
        let flags = nhs_load32(at)
        if flags & 0xFFF0 != 0 { _ = nhs_swap32(at, flags, flags & ~0xFFF0) }
      }
    }
    nhs_store32(base + IndexLayout.session, next > 0xFFF ? 1 : next)
  }

  func set(session: UInt32) { nhs_store32(base + IndexLayout.session, session) }

  /// Marks the index as replaced: all processes that have it mapped then look for a new one.
  func markReplaced(isCleared: Bool = false) {
    if canWriteHead { nhs_store32_release(base + IndexLayout.isReplaced, isCleared ? 2 : 1) }
  }
}
