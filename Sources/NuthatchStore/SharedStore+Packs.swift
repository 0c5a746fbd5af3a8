import CSystem
import Glibc
import Synchronization

/// Which pack this process appends to. All of it is called with the family's lock held.
extension SharedStore {
  /// A writer with room: the one there is, one that another process left behind, or a new one. Nil when a new one would go
  /// beyond the limit, unless that may be.
  func writer(
    _ family: Family, keyLength: Int, payloadLength: Int, mayExceed: Bool = false
  ) throws(StoreFault) -> PackWriter? {
    let appender = appenders[family.place]
    if let writer = appender.writer {
      if writer.hasRoom(keyLength: keyLength, payloadLength: payloadLength) { return writer }
      try seal(family)
    }
    let room = Self.room(keyLength: keyLength, payloadLength: payloadLength)
    let found = try changing { (index) throws(StoreFault) -> PackWriter? in
      // What others began isn't as old as what takes the turn of a dropped pack.
      if appender.turn.load(ordering: .relaxed) == 0, let adopted = try adopt(index, family, room: room) {
        return adopted
      }
      let capacity = capacity(of: family, room: room)
      guard mayExceed || hasRoom(index, for: capacity) else { return nil }
      return try newPack(index, family, room: room)
    }
    appender.writer = found
    return found
  }

  /// Whether a pack can be made without going beyond the limit. To be called by the index's changer.
  func hasRoom(_ index: Index, for bytes: Int) -> Bool {
    let limits = limits
    return usage(index, limits) + bytes <= limits.disk
  }

  /// What a record takes in a pack, at most.
  static func room(keyLength: Int, payloadLength: Int) -> Int {
    RecordHeader.size + keyLength + 128 + payloadLength
  }

  /// How large a new pack is to be.
  func capacity(of family: Family, room: Int) -> Int {
    max(Self.leastCapacity(room), min(limits.packCapacity, appenders[family.place].fitting))
  }

  private static func leastCapacity(_ room: Int) -> Int {
    max(Limits.leastPack, (PackHeader.size + room + 4095) & ~4095)
  }

  /// Ends this process's pack of a family.
  func seal(_ family: Family) throws(StoreFault) {
    guard let writer = appenders[family.place].writer else { return }
    appenders[family.place].writer = nil
    writer.giveBackTail()
    try changing { (index) throws(StoreFault) in
      guard !writer.isElsewhere else { return }
      if let entry = index.entry(of: writer.header.number) { index.set(entry.place, family, .sealed) }
    }
  }

  /// A smaller one where the disk has no room for more.
  private func newPack(_ index: Index, _ family: Family, room: Int) throws(StoreFault) -> PackWriter {
    // By a damaged limit so much would be reserved that the disk is full.
    if let kept = Limits.kept(directory), kept != index.limit { index.set(limit: kept) }
    let appender = appenders[family.place]
    let least = Self.leastCapacity(room)
    var capacity = capacity(of: family, room: room)
    while true {
      do throws(StoreFault) {
        let writer = try newPack(index, family, capacity: capacity)
        // The next one may be larger again.
        appender.fitting = min(limits.packCapacity, capacity) * 4
        return writer
      } catch {
        guard error.kind == .noSpace else { throw error }
        appender.fitting = capacity
        guard capacity > least else { throw error }
        capacity = max(least, capacity / 4 & ~4095)
      }
    }
  }

  private func newPack(_ index: Index, _ family: Family, capacity: Int) throws(StoreFault) -> PackWriter {
    let writer = try doing("making a pack") { () throws(SystemFault) -> PackWriter in
      for _ in 0..<100 {
        do throws(SystemFault) {
          guard let number = takePackNumber(index) else { throw SystemFault(ENOSPC) }
          return try PackWriter.make(
            directory, family, number, capacity: capacity,
            turn: appenders[family.place].turn.load(ordering: .relaxed))
        } catch  where error.number == EEXIST {
          // The index was made when this pack wasn't understood, or its numbers are damaged.
        }
      }
      throw SystemFault(EEXIST)
    }
    _ = try register(index, writer.header, .open, used: PackHeader.size) { writer.place = $0 }
    return writer
  }

  /// Nil when the index can't be written.
  func takePackNumber(_ index: Index) -> UInt32? {
    guard index.canWriteHead else { return nil }
    // A damaged one would give numbers again: others have the packs mapped that had them, and would look there. Or it would
    // leave no numbers to give: none is skipped that far.
    let (last, next) = (locks.file.lastPack, index.nextPack)
    if next <= last || next > UInt64(PackName.lastGiven) || last > 0 && next - last > 1 << 25 {
      index.set(nextPack: last + 1)
    }
    guard let number = index.takePackNumber() else { return nil }
    locks.file.lastPack = UInt64(number)
    return number
  }

  /// Puts a pack into the table, which grows when it is full.
  func register(
    _ index: Index, _ header: PackHeader, _ state: PackEntry.State, used: Int,
    _ placed: (Int) -> Void = { _ in }
  ) throws(StoreFault) -> Index {
    var index = index
    var place = index.add(header, state, used: used)
    if place == nil {
      guard let larger = try grown(index, packs: index.packCapacity * 4) else { throw Self.hasNoRoom }
      index = larger
      place = index.add(header, state, used: used)
    }
    guard let place else { throw StoreFault(.io, "the table of packs has no room") }
    placed(place)
    return index
  }

  /// What holds a pack that this process writes. Nil when it can't be mapped.
  func pin(_ pack: PackHeader) -> PackPin? {
    if let pin = shelf.pin(pack.number) {
      if pin.pack.header.salt == pack.salt { return pin }
      // One that is gone had the same number: damage gave it twice.
      shelf.drop { $0 == pack.number }
    }
    guard let pin = shelf.pin(pack.number), pin.pack.header.salt == pack.salt else { return nil }
    return pin
  }

  private func adopt(_ index: Index, _ family: Family, room: Int) throws(StoreFault) -> PackWriter? {
    for entry in index.packs
    where entry.family == family && entry.state == .open && entry.capacity - entry.used >= room {
      guard let pin = shelf.pin(entry.number), !PackWriter.isBusy(directory, entry.number) else { continue }
      let writer: PackWriter?
      do throws(StoreFault) {
        writer = try doing("reserving room in a pack") { () throws(SystemFault) in
          // What can't be read is left alone.
          try PackWriter.adopt(directory, entry, pin.pack) { try? takeIn(index, entry, pin.pack) }
        }
      } catch {
        // There may be room for a small one.
        guard error.kind == .noSpace else { throw error }
        continue
      }
      if let writer, writer.hasRoom(keyLength: 0, payloadLength: room) { return writer }
    }
    return nil
  }

  /// Takes in what killed writers had written and not published. It is older than what is done from now on, so a removal must
  /// not leave it to be found later. To be called by the index's changer, who then goes on with the same index.
  func takeInLeftBehind(_ index: Index) throws(StoreFault) {
    for entry in index.packs { try takeInLeftBehind(entry, index) }
  }

  /// The same in one pack. Until it is done, the table of packs says less than the pack takes.
  func takeInLeftBehind(_ entry: PackEntry, _ index: Index) throws(StoreFault) {
    guard let pack = packWithMore(entry) else { return }
    _ = try PackWriter.keepingOthersOut(directory, entry.number) { () throws(StoreFault) in
      do throws(SystemFault) { _ = try takeIn(index, entry, pack) } catch {
        // Somebody dropped it, and was killed before the index knew: what it had is gone.
        guard error.number == ENOENT else { throw StoreFault(error, "looking at a pack") }
      }
    }
  }

  /// The pack, when there is a record where its records end by the table. One that is retired counts, because it takes room, and
  /// because one that isn't may stand behind it.
  private func packWithMore(_ entry: PackEntry) -> Pack? {
    guard entry.state == .open, let pack = shelf.pin(entry.number)?.pack,
      pack.record(at: (entry.used + 7) & ~7) != nil
    else { return nil }
    return pack
  }

  /// Where a pack that nobody writes to ends. A record that was complete when its writer died, but not published, is
  /// published when it is the newest of its key, and retired when it isn't.
  private func takeIn(_ index: Index, _ entry: PackEntry, _ pack: Pack) throws(SystemFault) -> Int {
    // Before the scan: it may be this process's own record, whose caller was told that it couldn't be kept.
    settle()
    var scan = try PackScan(pack, directory)
    while let record = scan.next() {
      // Whoever wrote it had it from an index that counted further, unless that is damaged now.
      index.raise(nextSequence: record.header.sequence &+ 1)
      let location = Location(pack: entry.number, offset: record.offset)
      guard record.offset >= entry.used, !record.isRetired, !isToBeRetired(location) else { continue }
      guard isIntact(record, pack) else {
        // The writer was killed half-way.
        retire(location, record.header.hash)
        continue
      }
      let isNamed = index.find(record.header.hash)?.slot.location == location
      if record.header.kind == .answer, !isNamed {
        // It may have been removed since it was asked for, while its writer was there still: the counters that the writer would have
        // compared aren't in the record. Its caller hasn't been told that it is kept.
        retire(location, record.header.hash)
      } else if let current = try named(record.header.hash, index), current.outdates(record) {
        // Who moved it was killed before the index knew: of two that are the same, one is enough.
        if !isNamed { retire(location, record.header.hash) }
      } else if case .done(let old) = index.insert(record.header.hash, record.header.kind, location) {
        if let old, old.location != location { finishRetiring(index) }
      } else {
        // It would be found again when a later one has been removed. One that is made anew has room for it, or retires it.
        index.markReplaced()
      }
    }
    // Where it ends isn't known when some of it couldn't be read.
    guard !pack.isBroken else { throw SystemFault(EIO) }
    let end = max(scan.end, min(entry.used, pack.header.capacity))
    index.set(entry.place, used: end)
    return (end + 7) & ~7
  }

  /// Looks now and then, after a record, whether the directory is still the one that has the name, and what killed writers left.
  func lookAround(after bytes: Int) {
    let often = max(limits.packCapacity / 8, 128 << 10)
    guard appended.wrappingAdd(bytes, ordering: .relaxed).newValue > often else { return }
    appended.store(0, ordering: .relaxed)
    followLock()
    tidyAfterKilled()
  }

  /// Removes what killed writers had begun to make, takes in what they had written, and gives back what they had reserved. While
  /// any process has the directory open, none opens it as the first one, which does the same.
  func tidyAfterKilled() {
    removeUnfinished()
    guard let index else { return }
    let packs = index.packs.filter { $0.state == .open && takesMore($0) }
    takeInUnpublished(of: packs)
    for entry in packs { giveBackTail(entry) }
  }

  /// Takes in what killed writers left in some packs. The index is locked only when there is something, because many packs are
  /// being written at any moment. Not essential: the next one looks again.
  func takeInUnpublished(of packs: [PackEntry]) {
    let hasSome = packs.contains { !PackWriter.isBusy(directory, $0.number) && packWithMore($0) != nil }
    guard hasSome else { return }
    let numbers = Set(packs.map(\.number))
    try? changing { index in
      for entry in index.packs where numbers.contains(entry.number) { try? takeInLeftBehind(entry, index) }
    }
  }

  private func removeUnfinished() {
    var numbers: [UInt32] {
      ((try? system.names(directory.packs)) ?? []).compactMap { PackName.number($0, "tmp") }
    }
    // Mostly there are none, or those that are being made.
    guard !numbers.isEmpty else { return }
    // Not essential: the next one looks again. Whoever makes one begins while he changes the index, and so has it locked.
    try? changing { _ in
      for number in numbers {
        _ = PackWriter.keepingOthersOut(directory, number, "tmp") {
          do { try system.unlink(directory.packs, PackName.of(number, "tmp")) } catch {}
        }
      }
    }
  }
}
