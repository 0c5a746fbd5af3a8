import CSystem
import Glibc
import Synchronization

/// Keeps to the limit: the oldest pack goes, and what was visited in it is appended again. When less is wanted, of the last pack to
/// go so much is appended again as may be left.
///
/// Only one process at a time drops packs (`DirectoryLocks.dropping`); that lock is taken before those of the appenders.
final class Eviction: Sendable {
  private let directory: StoreDirectory
  private let locks: DirectoryLocks
  private let openPacks: OpenPacks
  private let changer: IndexChanger
  private let killed: KilledWriters
  private let appenders: [PackAppender]
  private let counts: StoreCounts
  // Bytes appended since this process looked last what others have done. So many at first that the first record makes this
  // process look: there may be processes that keep no more than one each.
  private let appended = Atomic(Int.max / 2)
  // When it looks in any case, on the monotonic clock.
  private let nextLook = Atomic<Int64>(0)

  init(
    _ directory: StoreDirectory, _ locks: DirectoryLocks, _ openPacks: OpenPacks, _ changer: IndexChanger,
    _ killed: KilledWriters, _ appenders: [PackAppender], _ counts: StoreCounts
  ) {
    self.directory = directory
    self.locks = locks
    self.openPacks = openPacks
    self.changer = changer
    self.killed = killed
    self.appenders = appenders
    self.counts = counts
  }

  /// Looks now and then, after a record, whether the directory is still the one that has the name, and what killed writers left.
  func lookAround(after bytes: Int) {
    let (often, now) = (max(changer.current.limits.packCapacity / 8, 128 << 10), nhs_monotonic_ns())
    let isMuch = appended.wrappingAdd(bytes, ordering: .relaxed).newValue > often
    guard isMuch || now >= nextLook.load(ordering: .relaxed) else { return }
    appended.store(0, ordering: .relaxed)
    nextLook.store(now + FailedTouches.pause, ordering: .relaxed)
    changer.current.lookForDeletion()
    killed.tidyAfterKilled()
  }

  /// Drops packs until there is room for another one. To be called before it is made, without an appender's lock.
  ///
  /// What other processes append to isn't dropped, so that there may be no room afterwards.
  func makeRoom(for bytes: Int) throws(StoreFault) {
    changer.current.lookForDeletion()
    mendLimit()
    killed.tidyAfterKilled()
    let limits = changer.current.limits
    try locks.dropping { () throws(StoreFault) in
      try mendTable()
      shrinkIndex(limits)
      var attempts = Attempts()
      var spared = Limits.leastSecondChances
      // Ends when enough is gone or nothing is left that could go; the count is for damaged tables.
      for _ in 0..<10_000 {
        guard let index = changer.current.index, limits.usage(index) + bytes > Limits.low(limits.disk),
          let victim = victim(index, attempts)
        else { return }
        var chances = Chances(bytes: 0, onlyUsed: true)
        if attempts.count(victim.number) { chances.bytes = max(victim.used / 2, min(victim.used, spared)) }
        let before = chances.bytes
        if try drop(victim, index, &chances) { attempts.forget(victim.number) }
        spared = max(0, spared - (before - chances.bytes))
      }
    }
  }

  /// Makes the index anew when it has room for far more than there is. To be called by who drops packs. Not essential.
  private func shrinkIndex(_ limits: Limits) {
    guard let index = changer.current.index, index.length > limits.disk / 8, changer.isOversized(index) else {
      return
    }
    try? changer.changing { (index) throws(StoreFault) in
      if changer.isOversized(index) { _ = try changer.grown(index, packs: index.packCapacity) }
    }
  }

  /// The limit is kept in a file with a checksum, too. By a damaged one in the index nearly everything would be dropped.
  private func mendLimit() {
    guard let kept = Limits.kept(directory), kept != changer.current.index?.limit else { return }
    // Read again: who sets another one keeps it while nobody else changes the index. Not essential: the next one looks again.
    try? changer.changing { index in if let kept = Limits.kept(directory) { index.set(limit: kept) } }
  }

  /// Has the table of packs name what is there, once, and no larger than it is, before anything is dropped for what it says.
  /// To be called by who drops packs. Not essential, and not done where the index can't be written.
  ///
  /// - Throws: `busy`.
  private func mendTable() throws(StoreFault) {
    do throws(StoreFault) { try changeTable() } catch { if error.kind == .busy { throw error } }
  }

  private func changeTable() throws(StoreFault) {
    try changer.changing { index in
      var kept: [UInt32: PackEntry] = [:]
      var gone: Set<UInt32> = []
      for entry in index.packs {
        let size: Int64
        do throws(SystemFault) {
          let (fd, status) = try directory.openFile(directory.packs, PackName.of(entry.number), O_RDONLY)
          directory.system.close(fd)
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
  private func victim(_ index: Index, _ attempts: Attempts) -> PackEntry? {
    let packs = index.packs.filter { attempts.of($0.number) < 2 }
    for family in [Family.bulk, .small] {
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

  /// Drops packs until no more than this is left, and of the last one only as much as must go. No second chances beyond that:
  /// the caller wants the room.
  func trim(to bytes: Int) throws(StoreFault) {
    try directory.checkWritable()
    // A trim goes by what the table says that packs take.
    killed.tidyAfterKilled()
    for appender in appenders { try appender.sealNow() }
    try locks.dropping { () throws(StoreFault) in
      try mendTable()
      var attempts = Attempts()
      for _ in 0..<1_000_000 {
        guard let index = changer.current.index else { return }
        let used = index.packs.reduce(0) { $0 + $1.cost }
        guard used > bytes, let victim = victim(index, attempts) else {
          // Of zeros there are no packs.
          if index.isBroken { throw changer.failure }
          return
        }
        _ = attempts.count(victim.number)
        let room = bytes - (used - victim.cost)
        if try room > bytes / 20 ? shrink(victim, index, to: room) : drop(victim, index) {
          attempts.forget(victim.number)
        }
      }
    }
  }

  /// Drops a pack, and puts another one in its place with what was used last of it, in no more than so many bytes.
  private func shrink(_ victim: PackEntry, _ index: Index, to bytes: Int) throws(StoreFault) -> Bool {
    // What a pack takes is whole pages.
    var chances = Chances(bytes: bytes - PackHeader.size - 4095, onlyUsed: false)
    return try appenders[victim.family.place].taking(turn: victim.turn) { () throws(StoreFault) in
      try drop(victim, index, &chances)
    }
  }

  /// Removes everything, also what other processes append to: they go on in new packs.
  func clear() throws(StoreFault) {
    for appender in appenders { try appender.sealNow() }
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
    try changer.changing { (index) throws(StoreFault) in
      // Files first: what is left of an interrupted clear is an index that names nothing, not packs that come back.
      try removePacks()
      try changer.clear(index)
    }
  }

  private func removePacks() throws(StoreFault) {
    try doing("removing the packs") { () throws(SystemFault) in
      for number in try directory.packNumbers() {
        // A folder that has a pack's name isn't ours.
        do throws(SystemFault) { try directory.system.unlink(directory.packs, PackName.of(number)) } catch
          where error.number == ENOENT || error.number == EISDIR
        {}
      }
    }
  }

  /// What may be appended again of a pack that is dropped.
  private struct Chances {
    /// So many bytes are left.
    var bytes: Int
    /// What wasn't used since it was written gets none.
    let onlyUsed: Bool
  }

  private func drop(_ entry: PackEntry, _ index: Index) throws(StoreFault) -> Bool {
    var none = Chances(bytes: 0, onlyUsed: true)
    return try drop(entry, index, &none)
  }

  /// Drops one pack. False when it has got a second chance, or another process has begun to append to it.
  private func drop(
    _ entry: PackEntry, _ index: Index, _ chances: inout Chances
  ) throws(StoreFault) -> Bool {
    var isGone = false
    // Who took it over meanwhile would lose what was kept a moment ago, and leave it in the index.
    let isFree = try PackWriter.keepingOthersOut(directory, entry.number) { () throws(StoreFault) in
      guard let now = index.entry(of: entry.number) else { return }
      isGone = try dropLocked(now, index, &chances)
    }
    return isFree && isGone
  }

  private func dropLocked(
    _ entry: PackEntry, _ index: Index, _ chances: inout Chances
  ) throws(StoreFault) -> Bool {
    var records: [(hash: KeyHash, offset: Int)] = []
    let limits = changer.current.limits
    let pin = openPacks.pin(entry.number)
    var isRead = false
    // All of it: an index that was made anew may know more of the pack than the one before, also of what is retired.
    if let pin, var scan = try? PackScan(pin.pack, directory) {
      isRead = true
      var candidates: [Candidate] = []
      while let record = scan.next() {
        records.append((record.header.hash, record.offset))
        guard chances.bytes > 0, !record.isRetired, let found = index.find(record.header.hash),
          found.slot.location == Location(pack: entry.number, offset: record.offset)
        else { continue }
        let isUsed = found.slot.flags & Slot.visited != 0
        guard isUsed || !chances.onlyUsed else { continue }
        if !limits.needsOwnPack(record.header) {
          candidates.append(Candidate(record: record, isUsed: isUsed))
        } else if chances.onlyUsed, record.offset == PackHeader.size, record.end >= entry.used {
          index.unvisit(found.place)
          return false
        }
      }
      move(candidates, from: pin.pack, &chances)
    }
    // Then nothing could be moved, and the pack may be others' now.
    guard !directory.isDeleted else { throw StoreDirectory.deleted }
    counts.droppedPacks.wrappingAdd(1, ordering: .relaxed)
    counts.droppedBytes.wrappingAdd(entry.cost, ordering: .relaxed)
    // The file first: there may be no room to change the index before.
    try doing("removing a pack") { () throws(SystemFault) in
      do throws(SystemFault) { try directory.system.unlink(directory.packs, PackName.of(entry.number)) } catch
        where error.number == ENOENT
      {}
    }
    var removed = 0
    try changer.changing { (index) throws(StoreFault) in
      for record in records
      where index.remove(record.hash, at: Location(pack: entry.number, offset: record.offset)) == .removed {
        removed += 1
      }
      // Nobody knows what was in a pack that can't be read, or was removed by somebody who then was killed.
      if !isRead { index.giveUp(packs: [entry.number]) }
      if let now = index.entry(of: entry.number) { index.drop(now) }
      changer.current.forgetDropped(index)
    }
    counts.droppedRecords.wrappingAdd(removed, ordering: .relaxed)
    return true
  }

  /// A record that may be appended again.
  private struct Candidate {
    let record: RecordHeader.Found
    let isUsed: Bool

    /// Elsewhere there may be one unit more before the payload.
    var length: Int { record.end - record.offset + 8 }
  }

  /// Appends records again, in the order in which they stand in their pack: those that were used first of all, then the newest,
  /// as many as may be.
  private func move(_ candidates: [Candidate], from pack: Pack, _ chances: inout Chances) {
    guard !candidates.isEmpty,
      let fd = try? directory.openFile(directory.packs, PackName.of(pack.header.number), O_RDONLY).0
    else { return }
    defer { directory.system.close(fd) }
    var chosen = candidates
    if !chances.onlyUsed {
      let least = chances.bytes / 20
      var left = chances.bytes
      var isDone = false
      chosen = candidates.sorted {
        ($0.isUsed ? 1 : 0, $0.record.offset) > ($1.isUsed ? 1 : 0, $1.record.offset)
      }
      .filter { candidate in
        guard !isDone, candidate.length <= left else {
          // Older ones fill what a large one leaves, but not to the last byte.
          isDone = left < least
          return false
        }
        left -= candidate.length
        return true
      }
      .sorted { $0.record.offset < $1.record.offset }
    }
    for candidate in chosen {
      guard candidate.length <= chances.bytes else { return chances.bytes = 0 }
      chances.bytes -= candidate.length
      move(candidate.record, from: pack, fd)
    }
  }

  /// Appends a record again, if it is still good and wanted. That it can't be is no reason to keep its pack.
  private func move(_ record: RecordHeader.Found, from pack: Pack, _ fd: Int32) {
    let start = record.offset + RecordHeader.size
    let key = Array(pack.bytes[start..<start + record.header.keyLength])
    let location = Location(pack: pack.header.number, offset: record.offset)
    guard let memory = malloc(max(1, record.header.payloadLength)) else { return }
    defer { free(memory) }
    let payload = UnsafeMutableRawBufferPointer(start: memory, count: record.header.payloadLength)
    guard (try? directory.system.readAll(fd, payload, Int64(record.payload))) ?? false,
      nhs_hash64(memory, payload.count, 0) == record.header.payloadChecksum
    else { return }
    var header = record.header
    // It makes room itself, for its pack is dropped afterwards.
    _ = try? appenders[header.kind.family.place].append(
      &header, key, [UnsafeRawBufferPointer(payload)], replacing: .moved(location), mayExceed: true)
  }
}
