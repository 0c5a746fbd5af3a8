import CSystem
import Synchronization

/// Makes indexes: a larger one, an empty one, one from the packs. Call everything with the index lock held; the caller then
/// switches to the new index.
struct IndexRebuild {
  let directory: StoreDirectory
  let locks: DirectoryLocks
  let boot: KeyHash
  let openPacks: OpenPacks
  let retired: RetiredRecords
  let checker: PayloadChecker
  let broken: BrokenMappings

  private static let leastSlots = 2048
  private static let leastPacks = 256

  /// Returns the number of slots for this many records, in whole pages. Three of five slots are then taken; when three of four
  /// are taken, the index grows again.
  private static func slots(for records: Int) -> Int { max(leastSlots, (records / 3 * 5 + 127) & ~127) }

  /// Returns the highest number of slots for this many records. Random keys need at most a quarter of these slots. Without the
  /// limit, keys that were chosen to collide would make the index grow forever.
  private static func mostSlots(for records: Int) -> Int { max(1 << 17, records * 8) }

  /// Returns whether half of the slots would be enough.
  func isOversized(_ index: Index) -> Bool {
    Self.slots(for: min(max(0, index.counters.live), index.slotCount)) <= index.slotCount / 2
  }

  /// Makes a larger copy of an index, publishes it, and returns it and whether the next change must rebuild it from the packs.
  /// Returns nil if growing can't make room: the keys collide.
  func grown(_ old: Index, packs: Int? = nil) throws(StoreFault) -> (index: Index, isToBeReplaced: Bool)? {
    guard !old.isBroken else { throw broken.failure(of: old) }
    let present = Set(old.packs.map(\.number))
    let live = min(max(0, old.counters.live), old.slotCount)
    var slots = Self.slots(for: live)
    if packs == nil, slots > old.slotCount, old.isSmall { slots = old.slotCount * 2 }
    // A search finds no room although there are enough slots: the keys collide, or the counters are damaged.
    if packs == nil, slots <= old.slotCount, !old.isCrowded { slots = old.slotCount * 2 }
    guard slots <= Self.mostSlots(for: live) else { return nil }
    while true {
      let made = try emptyIndex(
        slots: slots, packs: max(packs ?? old.packCapacity, old.packCapacity),
        isLean: old.isLean.load(ordering: .relaxed))
      for entry in old.packs {
        copy(entry, to: made)
      }
      made.set(nextSequence: old.nextSequence)
      made.set(nextPack: old.nextPack)
      made.set(limit: old.limit)
      made.set(session: old.session)
      made.set(clearedBefore: old.clearedBefore)
      made.takeOverRemovals(of: old)
      made.set(hasEarlier: old.hasEarlier)
      // Undamaged slots fit into so many slots. If these don't, slots are damaged and share one place.
      let isLast = slots > old.slotCount && slots * 2 > Self.mostSlots(for: live)
      let isWhole = takeOver(old, into: made, packs: present, leavesOut: isLast)
      if isWhole || isLast {
        let isDamaged = old.isReplaced
        // Otherwise the copy would lack records and counters of removals.
        guard !old.isBroken else { throw broken.failure(of: old) }
        try publish(made, insteadOf: old)
        // A rebuild finds records in the packs that got no slot here or were lost in the old index.
        return (made, !isWhole || isDamaged)
      }
      slots *= 2
    }
  }

  private func emptyIndex(slots: Int, packs: Int, isLean: Bool) throws(StoreFault) -> Index {
    try explaining("can't create an index") { () throws(SystemFault) in
      try Index.make(directory, boot: boot, slots: slots, packs: packs, isLean: isLean)
    }
  }

  private func publish(_ made: Index, insteadOf old: Index?, isCleared: Bool = false) throws(StoreFault) {
    // The index is memory of this process, so there is no file.
    guard !directory.isReading else { return }
    guard !made.isBroken else { throw broken.failure(of: made) }
    // Until the new index has its name, the lock file names none. If this process is killed in between, the next one looks for it.
    let file = locks.file
    file.index = 0
    try explaining("can't rename index.new to index") { () throws(SystemFault) in
      try directory.replace("index", by: "index.new")
    }
    old?.markReplaced(isCleared: isCleared)
    file.index = made.identity
  }

  /// Makes an empty index that continues the numbers of the old one.
  func cleared(_ old: Index) throws(StoreFault) -> Index {
    let made = try emptyIndex(
      slots: Self.leastSlots, packs: Self.leastPacks, isLean: old.isLean.load(ordering: .relaxed))
    made.set(nextSequence: old.nextSequence)
    made.set(nextPack: old.nextPack)
    made.set(limit: old.limit)
    made.set(clearedBefore: old.nextSequence)
    guard !old.isBroken else { throw broken.failure(of: old) }
    try publish(made, insteadOf: old, isCleared: true)
    return made
  }

  /// Makes the index from the packs.
  func fromPacks(insteadOf old: Index?) throws(StoreFault) -> Index {
    do throws(StoreFault) {
      return try indexOfPacks(insteadOf: old)
    } catch  where error.kind == .noSpace {
      // Delete the old index: it can't be used any more, and the new one needs its room.
      do { try directory.system.unlink(directory.root, "index") } catch {}
      return try indexOfPacks(insteadOf: old)
    }
  }

  private func indexOfPacks(insteadOf old: Index?) throws(StoreFault) -> Index {
    let numbers = try explaining("can't list the packs") { () throws(SystemFault) in
      try directory.packNumbers()
    }
    retired.retryFailed()
    var records: [(header: RecordHeader, location: Location)] = []
    var packs: [(header: PackHeader, used: Int)] = []
    for number in numbers {
      guard let pin = openPacks.pin(number), var scan = try? PackScan(pin.pack, directory) else { continue }
      while let record = scan.next() {
        let location = Location(pack: number, offset: record.offset)
        if !record.isRetired, !retired.isPending(location) { records.append((record.header, location)) }
      }
      // If a part of the pack couldn't be read, its end isn't known; then nothing is appended to it.
      let isBroken = pin.pack.isBroken
      packs.append((pin.pack.header, isBroken ? pin.pack.header.capacity : scan.end))
    }
    var places = Self.leastPacks
    while places / 2 < packs.count { places *= 2 }
    var slots = Self.slots(for: records.count)
    while true {
      let made = try emptyIndex(
        slots: slots, packs: places, isLean: old?.isLean.load(ordering: .relaxed) ?? false)
      for pack in packs {
        // Mark the pack as open, so that the next writer appends to it, or as sealed if it is full.
        let isFull = pack.header.isEarlier || pack.header.capacity - pack.used < 1 << 16
        _ = made.add(pack.header, isFull ? .sealed : .open, used: pack.used)
      }
      made.set(hasEarlier: packs.contains { $0.header.isEarlier })
      made.set(nextSequence: firstSequence(after: records.lazy.map(\.header.sequence).max() ?? 0))
      let last = UInt64(numbers.last { $0 <= PackName.lastGiven } ?? 0)
      made.set(nextPack: max(last, locks.file.lastPack) + 1)
      let isLast = slots * 2 > Self.mostSlots(for: records.count)
      if let losers = fill(made, records, leavesOut: isLast) {
        // Do this before publishing. If this process were killed in between, an older record could come back when the newer one
        // is removed.
        for loser in losers where !isHalfWritten(loser.location) {
          retired.add(loser.location, loser.header.hash)
        }
        try publish(made, insteadOf: old)
        return made
      }
      slots *= 2
    }
  }

  /// Returns the first sequence number of a new index. It is far above the numbers in the packs, because other processes may
  /// have records with higher numbers in memory only.
  private func firstSequence(after last: UInt64) -> UInt64 {
    let file = locks.file
    let first = max(last, file.firstSequence) &+ (file.isNew && directory.isNew ? 1 : 1 << 32)
    file.firstSequence = first
    return first
  }

  /// Returns whether a process may be writing the record at this moment. That process then publishes or retires it.
  private func isHalfWritten(_ location: Location) -> Bool {
    !checker.isIntact(location) && PackWriter.isBusy(directory, location.pack)
  }

  // MARK: Filling

  /// Copies the slots of another index whose packs are in `packs`. Returns false if there isn't enough room: with `leavesOut`
  /// the rest is left out, otherwise the copy is unusable.
  private func takeOver(
    _ old: Index, into made: Index, packs: Set<UInt32>, leavesOut: Bool
  ) -> Bool {
    let isLean = made.isLean.load(ordering: .relaxed)
    var counters = IndexCounters()
    var isWhole = true
    var isPresent = (number: Slot.unusedMark, answer: false)
    for place in 0..<old.slotCount {
      // Both indexes are read once from front to back, so read parts can be unmapped.
      if isLean, place & 0xFFFF == 0xFFFF {
        old.unmapPages()
        made.unmapPages()
      }
      var slot = old.ownRead(place)
      guard slot.location.pack != Slot.unusedMark, slot.location.pack != Slot.deletedMark,
        let kind = slot.kind
      else {
        continue
      }
      // Remember the last look into the set: there are few packs, so the next slot is often of the same one.
      if isPresent.number != slot.location.pack {
        isPresent = (slot.location.pack, packs.contains(slot.location.pack))
      }
      guard isPresent.answer else { continue }
      slot.flags &= 0xFFFF
      guard made.place(slot) != nil else {
        guard leavesOut else { return false }
        isWhole = false
        continue
      }
      counters.occupied += 1
      counters[kind] += 1
    }
    made.set(counters)
    return isWhole
  }

  private func copy(_ entry: PackEntry, to made: Index) {
    let at = made.entry(entry.place)
    nhs_store64(at + 8, UInt64(entry.used))
    nhs_store64(at + 16, UInt64(entry.capacity))
    nhs_store32(at + 24, entry.turn)
    made.set(entry.place, entry.family, entry.state)
    nhs_store32(at, entry.number)
  }

  /// Inserts the latest record of each key, and returns the others. Returns nil if there isn't enough room; with `leavesOut`,
  /// records without room are returned with the others.
  private func fill(
    _ made: Index, _ records: [(header: RecordHeader, location: Location)], leavesOut: Bool
  ) -> [(header: RecordHeader, location: Location)]? {
    var losers: [(header: RecordHeader, location: Location)] = []
    var inSlot = [Int32](repeating: -1, count: made.slotCount)
    var counters = IndexCounters()
    for (number, record) in records.enumerated() {
      let kind = record.header.kind
      let slot = Slot(hash: record.header.hash, location: record.location, flags: Slot.flags(kind))
      if let found = made.find(slot.hash) {
        let other = Int(inSlot[found.place])
        // A writer may have been killed in the middle of the later one.
        let isLater = records[other].header.sequence < record.header.sequence
        guard isLater ? checker.isIntact(record.location) : !checker.isIntact(records[other].location) else {
          losers.append(record)
          continue
        }
        losers.append(records[other])
        counters[records[other].header.kind] -= 1
        made.replace(found.place, slot)
        inSlot[found.place] = Int32(truncatingIfNeeded: number)
      } else {
        guard let place = made.place(slot) else {
          guard leavesOut else { return nil }
          losers.append(record)
          continue
        }
        counters.occupied += 1
        inSlot[place] = Int32(truncatingIfNeeded: number)
      }
      counters[kind] += 1
    }
    made.set(counters)
    return losers
  }
}

extension Index {
  /// Deletes the slots whose packs aren't in this set.
  func deleteSlots(except packs: Set<UInt32>) {
    for place in 0..<slotCount {
      let slot = ownRead(place)
      if slot.isElsewhere(than: packs) { deleteSlot(place, slot) }
    }
  }

  /// Returns whether a slot names a pack that isn't in this set. Needs no lock.
  func names(except packs: Set<UInt32>) -> Bool {
    (0..<slotCount).contains { read($0)?.isElsewhere(than: packs) ?? false }
  }

  /// Returns whether a slot names a record that was not found at its place. Needs no lock.
  func names(missingIn seen: [UInt32: SeenPack]) -> Bool {
    (0..<slotCount).contains { read($0)?.isMissing(in: seen) ?? false }
  }

  /// Returns the number of records that were not found at their places. Needs no lock.
  func count(missingIn seen: [UInt32: SeenPack]) -> Int {
    (0..<slotCount).count { read($0)?.isMissing(in: seen) ?? false }
  }

  /// Deletes the slots of records that were not found at their places, if the pack still exists. Returns how many.
  func deleteSlots(missingIn seen: [UInt32: SeenPack], if isThere: (UInt32) -> Bool) -> Int {
    var count = 0
    for place in 0..<slotCount {
      let slot = ownRead(place)
      if slot.isMissing(in: seen), isThere(slot.location.pack), deleteSlot(place, slot) { count += 1 }
    }
    return count
  }

  /// Deletes the slots of these packs.
  func deleteSlots(packs: Set<UInt32>) {
    for place in 0..<slotCount {
      let slot = ownRead(place)
      if slot.location.pack != Slot.unusedMark, packs.contains(slot.location.pack) { deleteSlot(place, slot) }
    }
  }
}

extension RecordHeader.Found {
  /// Returns whether another record with this key is obsolete when the index names this one: it is older, or a copy of this one
  /// while this one isn't retired.
  func outdates(_ other: RecordHeader.Found) -> Bool {
    isRetired ? header.sequence > other.header.sequence : header.sequence >= other.header.sequence
  }
}

extension Slot {
  fileprivate func isElsewhere(than packs: Set<UInt32>) -> Bool {
    location.pack != Slot.unusedMark && location.pack != Slot.deletedMark && !packs.contains(location.pack)
  }

  fileprivate func isMissing(in seen: [UInt32: SeenPack]) -> Bool {
    seen[location.pack]?.isMissing(location.offset) ?? false
  }
}
