import CSystem
import Glibc
import Synchronization

/// Keeping to the limit: the oldest pack goes, and what was visited in it is appended again.
extension SharedStore {
  /// How much there is of what, with what is reserved.
  struct Usage {
    var total = 0
    var bulk = 0

    /// Whether a pack can be made without going beyond a limit.
    func hasRoom(for bytes: Int, _ family: Family, _ limits: Limits) -> Bool {
      total + bytes <= limits.disk && !isTooMuchBulk(with: bytes, family, limits.bulk)
    }

    func isTooMuchBulk(with bytes: Int, _ family: Family, _ limit: Int) -> Bool {
      family == .bulk && bulk + bytes > limit
    }
  }

  func usage(_ index: Index, _ limits: Limits) -> Usage {
    // An index that takes more than half is one of times when there was more: it is made anew.
    let usage = Usage(total: Limits.others + min(index.claim, limits.disk / 2))
    return index.packs.reduce(into: usage) {
      $0.total += $1.claim
      if $1.family == .bulk { $0.bulk += $1.claim }
    }
  }

  /// Drops packs until there is room for another one. To be called before it is made, without a family's lock.
  ///
  /// What other processes append to isn't dropped, so that there may be no room afterwards.
  func makeRoom(for bytes: Int, _ family: Family) throws(StoreFault) {
    followLock()
    mendLimit()
    tidyAfterKilled()
    let limits = limits
    try locks.dropping { () throws(StoreFault) in
      try mendTable()
      shrinkIndex(limits)
      var attempts = Attempts()
      var spared = Limits.leastSecondChances
      // Ends when enough is gone or nothing is left that could go; the count is for damaged tables.
      for _ in 0..<10_000 {
        guard let index else { return }
        let usage = usage(index, limits)
        let isTooMuch = usage.total + bytes > Limits.low(limits.disk)
        guard isTooMuch || usage.isTooMuchBulk(with: bytes, family, Limits.low(limits.bulk)),
          let victim = victim(index, onlyBulk: !isTooMuch, attempts)
        else { return }
        var chances = 0
        if attempts.count(victim.number) { chances = max(victim.used / 2, min(victim.used, spared)) }
        let before = chances
        if try drop(victim, index, sparing: &chances) { attempts.forget(victim.number) }
        spared = max(0, spared - (before - max(0, chances)))
      }
    }
  }

  /// Makes the index anew when it has room for far more than there is. To be called by who drops packs. Not essential.
  private func shrinkIndex(_ limits: Limits) {
    guard let index, index.length > limits.disk / 8, isOversized(index) else { return }
    try? changing { (index) throws(StoreFault) in
      if isOversized(index) { _ = try grown(index, packs: index.packCapacity) }
    }
  }

  /// The limit is kept in a file with a checksum, too. By a damaged one in the index nearly everything would be dropped.
  private func mendLimit() {
    guard let kept = Limits.kept(directory), kept != index?.limit else { return }
    // Read again: who sets another one keeps it while nobody else changes the index. Not essential: the next one looks again.
    try? changing { index in if let kept = Limits.kept(directory) { index.set(limit: kept) } }
  }

  /// Has the table of packs name what is there, once, and no larger than it is, before anything is dropped for what it says.
  /// To be called by who drops packs. Not essential, and not done where the index can't be written.
  ///
  /// - Throws: `busy`.
  private func mendTable() throws(StoreFault) {
    do throws(StoreFault) { try changeTable() } catch { if error.kind == .busy { throw error } }
  }

  private func changeTable() throws(StoreFault) {
    try changing { index in
      var kept: [UInt32: PackEntry] = [:]
      var gone: Set<UInt32> = []
      for entry in index.packs {
        let size: Int64
        do throws(SystemFault) {
          let (fd, status) = try directory.openFile(directory.packs, PackName.of(entry.number), O_RDONLY)
          system.close(fd)
          size = status.size
        } catch {
          // What is being made has its room already.
          guard error.number == ENOENT, !PackWriter.isBusy(directory, entry.number) else { continue }
          gone.insert(entry.number)
          index.drop(entry)
          continue
        }
        if let other = kept[entry.number] {
          index.drop(entry.used > other.used ? other : entry)
          if entry.used <= other.used { continue }
        }
        kept[entry.number] = entry
        if Int64(entry.capacity) != size, size <= 1 << 46 { index.set(entry.place, capacity: Int(size)) }
      }
      if !gone.isEmpty { index.giveUp(packs: gone) }
    }
  }

  /// Which packs have been chosen before and are still there.
  private struct Attempts {
    private var counts: [UInt32: Int] = [:]

    func of(_ number: UInt32) -> Int { counts[number] ?? 0 }

    /// Whether it is the first one.
    mutating func count(_ number: UInt32) -> Bool {
      counts[number, default: 0] += 1
      return counts[number] == 1
    }

    mutating func forget(_ number: UInt32) { counts[number] = nil }
  }

  /// The oldest bulk pack that nobody appends to; without one, of the small ones. Whoever had a second chance goes before
  /// anything of the other family does.
  private func victim(_ index: Index, onlyBulk: Bool, _ attempts: Attempts) -> PackEntry? {
    let packs = index.packs.filter { attempts.of($0.number) < 2 }
    for family in [Family.bulk, .small] where family == .bulk || !onlyBulk {
      for attempt in 0..<2 {
        let oldest = packs.first {
          $0.family == family && attempts.of($0.number) == attempt
            && ($0.state == .sealed || !PackWriter.isBusy(directory, $0.number))
        }
        if let oldest { return oldest }
      }
    }
    return nil
  }

  /// Drops packs until no more than this is left. No second chances: the caller wants the room.
  func trim(to bytes: Int) throws(StoreFault) {
    followLock()
    for family in Family.allCases {
      try withAppender(of: family) { () throws(StoreFault) in try seal(family) }
    }
    try locks.dropping { () throws(StoreFault) in
      try mendTable()
      var attempts = Attempts()
      for _ in 0..<1_000_000 {
        guard let index else { return }
        guard index.packs.reduce(0, { $0 + $1.cost }) > bytes,
          let victim = victim(index, onlyBulk: false, attempts)
        else {
          // Of zeros there are no packs.
          if index.isBroken { throw failure(of: index) }
          return
        }
        _ = attempts.count(victim.number)
        var chances = 0
        if try drop(victim, index, sparing: &chances) { attempts.forget(victim.number) }
      }
    }
  }

  /// Removes everything, also what other processes append to: they go on in new packs.
  func clear() throws(StoreFault) {
    followLock()
    for family in Family.allCases {
      try withAppender(of: family) { () throws(StoreFault) in try seal(family) }
    }
    try locks.dropping { () throws(StoreFault) in
      do throws(StoreFault) { try clearInTurn() } catch {
        guard error.kind == .noSpace else { throw error }
        // Without room nothing can be said of it in the index; afterwards there is some.
        try removePacks()
        try clearInTurn()
      }
    }
  }

  private func clearInTurn() throws(StoreFault) {
    try changing { (index) throws(StoreFault) in
      // Files first: what is left of an interrupted clear is an index that names nothing, not packs that come back.
      try removePacks()
      try clearedIndex(index)
    }
  }

  private func removePacks() throws(StoreFault) {
    try doing("removing the packs") { () throws(SystemFault) in
      for number in try packNumbers() {
        // A folder that has a pack's name isn't ours.
        do throws(SystemFault) { try system.unlink(directory.packs, PackName.of(number)) } catch
          where error.number == ENOENT || error.number == EISDIR
        {}
      }
    }
  }

  /// Drops one pack. False when it has got a second chance, or another process has begun to append to it.
  ///
  /// - Parameter chances: so many bytes of what was used in it are appended again at most; what is left of them.
  private func drop(_ entry: PackEntry, _ index: Index, sparing chances: inout Int) throws(StoreFault) -> Bool
  {
    var isGone = false
    // Who took it over meanwhile would lose what was kept a moment ago, and leave it in the index.
    let isFree = try PackWriter.keepingOthersOut(directory, entry.number) { () throws(StoreFault) in
      guard let now = index.packs.first(where: { $0.number == entry.number }) else { return }
      isGone = try dropLocked(now, index, sparing: &chances)
    }
    return isFree && isGone
  }

  private func dropLocked(
    _ entry: PackEntry, _ index: Index, sparing chances: inout Int
  ) throws(StoreFault) -> Bool {
    var records: [(hash: KeyHash, offset: Int)] = []
    let pin = shelf.pin(entry.number)
    var isRead = false
    // All of it: an index that was made anew may know more of the pack than the one before, also of what is retired.
    if let pin, var scan = try? PackScan(pin.pack, directory) {
      isRead = true
      while let record = scan.next() {
        let location = Location(pack: entry.number, offset: record.offset)
        if chances > 0, !record.isRetired, let found = index.find(record.header.hash),
          found.slot.location == location, found.slot.flags & Slot.visited != 0
        {
          if !needsOwnPack(record.header) {
            chances -= record.end - record.offset
            if chances >= 0 { move(record, location, pin.pack) }
          } else if record.offset == PackHeader.size, record.end >= entry.used {
            index.unvisit(found.place)
            return false
          }
        }
        records.append((record.header.hash, record.offset))
      }
    }
    counts.add(.droppedPacks)
    counts.add(.droppedBytes, UInt64(entry.cost))
    // The file first: there may be no room to change the index before.
    try doing("removing a pack") { () throws(SystemFault) in
      do throws(SystemFault) { try system.unlink(directory.packs, PackName.of(entry.number)) } catch
        where error.number == ENOENT
      {}
    }
    var removed = 0
    try changing { (index) throws(StoreFault) in
      for record in records
      where index.remove(record.hash, at: Location(pack: entry.number, offset: record.offset)) == .removed {
        removed += 1
      }
      // Nobody knows what was in a pack that can't be read, or was removed by somebody who then was killed.
      if !isRead { index.giveUp(packs: [entry.number]) }
      if let now = index.packs.first(where: { $0.number == entry.number }) { index.drop(now) }
      forgetDropped(index)
    }
    counts.add(.droppedRecords, UInt64(removed))
    return true
  }

  /// Appends a record again, if it is still good and wanted. That it can't be is no reason to keep its pack.
  private func move(_ record: RecordHeader.Found, _ location: Location, _ pack: Pack) {
    let key = Array(
      pack.bytes[
        record.offset + RecordHeader.size..<record.offset + RecordHeader.size + record.header.keyLength])
    guard let memory = malloc(max(1, record.header.payloadLength)),
      let (fd, _) = try? directory.openFile(directory.packs, PackName.of(location.pack), O_RDONLY)
    else { return }
    defer {
      free(memory)
      system.close(fd)
    }
    let payload = UnsafeMutableRawBufferPointer(start: memory, count: record.header.payloadLength)
    guard (try? system.readAll(fd, payload, Int64(record.payload))) ?? false,
      nhs_hash64(memory, payload.count, 0) == record.header.payloadChecksum,
      (try? append(record.header, key, [UnsafeRawBufferPointer(payload)], replacing: .moved(location))) != nil
    else { return }
    counts.add(.survivors)
  }
}
