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
    if let writer = appenders[family.place].writer {
      if writer.hasRoom(keyLength: keyLength, payloadLength: payloadLength) { return writer }
      try seal(family)
    }
    let room = Self.room(keyLength: keyLength, payloadLength: payloadLength)
    let found = try changing { (index) throws(StoreFault) -> PackWriter? in
      if let adopted = try adopt(index, family, room: room) { return adopted }
      let capacity = capacity(of: family, room: room)
      guard mayExceed || hasRoom(index, for: capacity, family) else { return nil }
      return try newPack(index, family, room: room)
    }
    appenders[family.place].writer = found
    isTidyingDue.store(true, ordering: .relaxed)
    return found
  }

  /// Whether a pack can be made without going beyond the limit. To be called by the index's changer.
  private func hasRoom(_ index: Index, for bytes: Int, _ family: Family) -> Bool {
    let limits = limits
    return usage(index, limits).hasRoom(for: bytes, family, limits)
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
      if let entry = index.packs.first(where: { $0.number == writer.header.number }) {
        index.set(entry.place, family, .sealed)
      }
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
          return try PackWriter.make(directory, family, number, capacity: capacity)
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
  private func takePackNumber(_ index: Index) -> UInt32? {
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
    if let place = index.add(pack: header.number, header.family, state, used: used, capacity: header.capacity)
    {
      placed(place)
      return index
    }
    guard let larger = try grown(index, packs: index.packCapacity * 4) else { throw Self.hasNoRoom }
    index = larger
    guard
      let place = index.add(pack: header.number, header.family, state, used: used, capacity: header.capacity)
    else {
      throw StoreFault(.io, "the table of packs has no room")
    }
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
    for entry in index.packs where entry.state == .open {
      guard let pack = shelf.pin(entry.number)?.pack, let next = pack.record(at: (entry.used + 7) & ~7),
        !next.isRetired
      else { continue }
      _ = try PackWriter.keepingOthersOut(directory, entry.number) { () throws(StoreFault) in
        do throws(SystemFault) { _ = try takeIn(index, entry, pack) } catch {
          // Somebody dropped it, and was killed before the index knew: what it had is gone.
          guard error.number == ENOENT else { throw StoreFault(error, "looking at a pack") }
        }
      }
    }
  }

  /// Where a pack that nobody writes to ends. A record that was complete when its writer died, but not published, is
  /// published when it is the newest of its key, and retired when it isn't.
  private func takeIn(_ index: Index, _ entry: PackEntry, _ pack: Pack) throws(SystemFault) -> Int {
    var scan = try PackScan(pack, directory)
    while let record = scan.next() {
      // Whoever wrote it had it from an index that counted further, unless that is damaged now.
      index.raise(nextSequence: record.header.sequence &+ 1)
      guard record.offset >= entry.used, !record.isRetired else { continue }
      let location = Location(pack: entry.number, offset: record.offset)
      guard isIntact(record, pack) else {
        // The writer was killed half-way.
        retire(location, record.header.hash)
        continue
      }
      if let current = try named(record.header.hash, index), current.outdates(record) {
        // Who moved it was killed before the index knew: of two that are the same, one is enough.
        if index.find(record.header.hash)?.slot.location != location { retire(location, record.header.hash) }
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

  /// A record in a pack of its own, which gets its name when it is complete.
  func appendLarge(
    _ header: inout RecordHeader, _ key: [UInt8], _ parts: [UnsafeRawBufferPointer], replacing: Replaceable
  ) throws(StoreFault) -> Appending {
    if header.sequence == 0 { header.sequence = takeSequence() }
    guard header.sequence != 0 else { throw Self.indexIsFull }
    // Somebody's `clear` may remove the pack before it is published; then it is made once more.
    for _ in 0..<3 {
      let (pack, file): (PackHeader, UnfinishedPack)
      switch try writeLarge(header, key, parts) {
      case .made(let header, let unpublished): (pack, file) = (header, unpublished)
      case .needsRoom(let bytes): return .needsRoom(bytes)
      }
      defer { withExtendedLifetime(file) {} }
      do throws(StoreFault) {
        // Held before anybody knows of the record: once it is published, its pack may be dropped at any moment.
        if let pin = pin(pack) {
          switch try publishLarge(header, pack, replacing: replacing) {
          case .published: return .done(Lease(pin, header, at: PackHeader.size))
          case .unwanted:
            discard(pack)
            return .done(nil)
          case .packIsGone: break
          }
        }
      } catch {
        discard(pack)
        throw error
      }
      discard(pack)
    }
    throw StoreFault(.io, "packs can't be mapped, or vanish while they are written")
  }

  /// Removes what killed writers had begun to make, and gives back what they had reserved. While any process has the
  /// directory open, none opens it as the first one, which does the same.
  func tidyAfterKilled() {
    isTidyingDue.store(false, ordering: .relaxed)
    removeUnfinished()
    if let index { for entry in index.packs where entry.state == .open { giveBackTail(entry, index) } }
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

  /// Removes a pack whose record nobody knows of. Should that fail, then there is a record more than anybody was promised.
  private func discard(_ pack: PackHeader) {
    do { try system.unlink(directory.packs, PackName.of(pack.number)) } catch {}
    giveUpRoom(of: pack.number)
    shelf.drop { $0 == pack.number }
  }

  /// Gives back what was reserved for a pack. Not essential: who drops packs does the same.
  private func giveUpRoom(of number: UInt32) {
    try? changing { index in
      if let entry = index.packs.first(where: { $0.number == number }) { index.drop(entry) }
    }
  }

  private enum LargePack {
    /// As long as the file is open, no other process takes the pack over or drops it.
    case made(PackHeader, UnfinishedPack)
    case needsRoom(Int)
  }

  /// Makes the pack of a large record, which nobody knows of yet. The table of packs names the pack already, so that its room
  /// counts.
  private func writeLarge(
    _ header: RecordHeader, _ key: [UInt8], _ parts: [UnsafeRawBufferPointer]
  ) throws(StoreFault) -> LargePack {
    guard
      let extent = RecordHeader.extent(
        at: PackHeader.size, keyLength: key.count, payloadLength: header.payloadLength)
    else { throw StoreFault(.tooLarge, "the record is too large") }
    let family = header.kind.family
    let capacity = (extent.end + 4095) & ~4095
    for _ in 0..<100 {
      var needsRoom = false
      // By the index in use: one that was replaced gives numbers that the new one gives, too.
      let begun = try changing { (index) throws(StoreFault) -> (file: UnfinishedPack, pack: PackHeader)? in
        needsRoom = !hasRoom(index, for: capacity, family)
        guard !needsRoom else { return nil }
        guard let number = takePackNumber(index) else { throw Self.indexIsFull }
        let file = try doing("making a pack") { () throws(SystemFault) -> UnfinishedPack? in
          do throws(SystemFault) { return try UnfinishedPack(directory, number) } catch
            where error.number == EEXIST
          { return nil }
        }
        guard let file else { return nil }
        let pack = PackHeader(
          family: family, number: number, capacity: capacity, salt: .random(in: .min ... .max))
        isTidyingDue.store(true, ordering: .relaxed)
        _ = try register(index, pack, .open, used: PackHeader.size)
        return (file, pack)
      }
      if needsRoom { return .needsRoom(capacity) }
      guard let (file, pack) = begun else { continue }
      var head = [UInt8](repeating: 0, count: extent.payload - PackHeader.size)
      head.withUnsafeMutableBytes { bytes in
        key.withUnsafeBytes { header.encode(into: bytes, key: $0, at: PackHeader.size, salt: pack.salt) }
      }
      do throws(StoreFault) {
        let isMade = try doing("writing a large record") { () throws(SystemFault) in
          try makeLarge(file, pack, head, parts, at: extent.payload)
        }
        if isMade { return .made(pack, file) }
      } catch {
        giveUpRoom(of: pack.number)
        throw error
      }
      giveUpRoom(of: pack.number)
    }
    throw StoreFault(.io, "no number of a pack is free")
  }

  /// False when there is a pack of this number.
  private func makeLarge(
    _ file: UnfinishedPack, _ pack: PackHeader, _ head: [UInt8], _ parts: [UnsafeRawBufferPointer],
    at payload: Int
  ) throws(SystemFault) -> Bool {
    do throws(SystemFault) { try system.reserve(file.fd, 0, Int64(pack.capacity)) } catch
      where error.number == EOPNOTSUPP
    {
      try system.resize(file.fd, Int64(pack.capacity))
    }
    try system.write(pack.encoded, to: file.fd, at: 0)
    try system.write(head, to: file.fd, at: Int64(PackHeader.size))
    try system.writeAll(file.fd, parts, Int64(payload))
    do throws(SystemFault) { try file.finish() } catch  where error.number == EEXIST { return false }
    return true
  }

  /// Says that a large record's pack is whole. An index that was made anew meanwhile doesn't name it.
  private func seal(_ pack: PackHeader, at end: Int, _ index: Index) throws(StoreFault) -> Index {
    guard let entry = index.packs.first(where: { $0.number == pack.number }) else {
      return try register(index, pack, .sealed, used: end)
    }
    index.set(entry.place, used: end)
    index.set(entry.place, pack.family, .sealed)
    return index
  }

  private func publishLarge(
    _ header: RecordHeader, _ pack: PackHeader, replacing: Replaceable
  ) throws(StoreFault) -> Outcome {
    let location = Location(pack: pack.number, offset: PackHeader.size)
    return try changing { (index) throws(StoreFault) -> Outcome in
      let isThere = try doing("looking at a large record") { () throws(SystemFault) in
        try directory.isThere(directory.packs, PackName.of(pack.number))
      }
      guard isThere else { return .packIsGone }
      if let moment = replacing.moment, !index.isCurrent(moment) { return .unwanted }
      if isPublished(header, location, index, replacing) { return .published }
      switch replacing {
      case .moved(let old): guard index.find(header.hash)?.slot.location == old else { return .unwanted }
      default: guard try mayReplace(header, replacing, index) else { return .unwanted }
      }
      let extent = RecordHeader.extent(
        at: location.offset, keyLength: header.keyLength, payloadLength: header.payloadLength)
      var index = try seal(pack, at: extent?.end ?? pack.capacity, index)
      for _ in 0..<8 {
        if case .done = index.insert(header.hash, header.kind, location) {
          finishRetiring(index)
          return .published
        }
        guard let larger = try grown(index) else { break }
        index = larger
      }
      throw Self.hasNoRoom
    }
  }
}
