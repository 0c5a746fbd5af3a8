import CSystem
import Glibc
import Synchronization

/// Keeps the disk limit by dropping the oldest packs. Records that were hit since they were written get a second chance: they
/// are appended again. A trim appends again as much of the last dropped pack as its limit allows.
///
/// Only one process at a time drops packs (`DirectoryLocks.dropping`). Take that lock before an appender's lock.
final class Eviction: Sendable {
  private let directory: StoreDirectory
  private let locks: DirectoryLocks
  private let openPacks: OpenPacks
  private let changer: IndexChanger
  private let killed: KilledWriters
  private let appenders: [PackAppender]
  private let counts: StoreCounts
  // Bytes appended since this process last checked the directory. The initial value makes the first record check: each of many
  // processes may store only one record.
  private let appended = Atomic(Int.max / 2)
  // The time of the next check in any case (monotonic clock, ns).
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

  /// Call it after each stored record of this many bytes. At intervals it checks whether the directory was deleted, and cleans
  /// up after killed writers.
  func housekeep(after bytes: Int) {
    let (often, now) = (max(changer.current.limits.packCapacity / 8, 128 << 10), nhs_monotonic_ns())
    let isMuch = appended.wrappingAdd(bytes, ordering: .relaxed).newValue > often
    guard isMuch || now >= nextLook.load(ordering: .relaxed) else { return }
    appended.store(0, ordering: .relaxed)
    nextLook.store(now + FailedAccesses.pause, ordering: .relaxed)
    changer.current.lookForDeletion()
    killed.tidyAfterKilled()
  }

  /// Drops packs until there is room for a new one of this size. Call it before the pack is made, without an appender's lock.
  ///
  /// Packs that other processes append to aren't dropped, so there may be no room afterwards.
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
      // Ends when enough packs are dropped or none can be. The count ends the loop if the table is damaged.
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

  /// Rebuilds the index if it is much too large for its records. A failure does no harm. Call it with the lock for dropping
  /// packs held.
  private func shrinkIndex(_ limits: Limits) {
    guard let index = changer.current.index, index.length > limits.disk / 8, changer.isOversized(index) else {
      return
    }
    try? changer.changing { (index) throws(StoreFault) in
      if changer.isOversized(index) { _ = try changer.grown(index, packs: index.packCapacity) }
    }
  }

  /// The limit is also stored in a file with a checksum. With a damaged limit in the index, nearly everything would be dropped.
  private func mendLimit() {
    guard let kept = Limits.kept(directory), kept != changer.current.index?.limit else { return }
    // Read it again: another process may have changed the limit while it held the index lock. If this fails, the next call tries
    // again.
    try? changer.changing { index in if let kept = Limits.kept(directory) { index.set(limit: kept) } }
  }

  /// Corrects the table of packs, so that it names each existing pack once, with its true size. Call it before packs are
  /// dropped, with the lock for that held. Does nothing if the index can't be written.
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
          // A pack that is being made has its entry before its file has a pack's name.
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
      if !gone.isEmpty { index.deleteSlots(packs: gone) }
    }
  }

  /// How often each existing pack was chosen.
  private struct Attempts {
    private var counts: [UInt32: Int] = [:]

    func of(_ number: UInt32) -> Int { counts[number] ?? 0 }

    /// Returns whether this is the first time.
    mutating func count(_ number: UInt32) -> Bool {
      counts[number, default: 0] += 1
      return counts[number] == 1
    }

    mutating func forget(_ number: UInt32) { counts[number] = nil }
  }

  /// Returns the oldest bulk pack that no process appends to, else the oldest small pack. A pack that has had its second chance
  /// is dropped before a pack of the other family.
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

  /// Drops packs until at most this many bytes are left, and only the necessary part of the last one. Without further second
  /// chances, because the caller wants the room.
  func trim(to bytes: Int) throws(StoreFault) {
    try directory.checkWritable()
    // A trim uses the sizes in the table of packs; unpublished records would be missing there.
    killed.tidyAfterKilled()
    for appender in appenders { try appender.sealNow() }
    try locks.dropping { () throws(StoreFault) in
      try mendTable()
      var attempts = Attempts()
      for _ in 0..<1_000_000 {
        guard let index = changer.current.index else { return }
        let used = index.packs.reduce(0) { $0 + $1.cost }
        guard used > bytes, let victim = victim(index, attempts) else {
          // A broken index reads as zeros, without packs.
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

  /// Drops a pack and makes another one from its most recently used records, with at most this many bytes.
  private func shrink(_ victim: PackEntry, _ index: Index, to bytes: Int) throws(StoreFault) -> Bool {
    // A pack takes whole pages.
    var chances = Chances(bytes: bytes - PackHeader.size - 4095, onlyUsed: false)
    return try appenders[victim.family.place].taking(turn: victim.turn) { () throws(StoreFault) in
      try drop(victim, index, &chances)
    }
  }

  /// Removes all packs, also those that other processes append to. These processes continue in new packs.
  func clear() throws(StoreFault) {
    for appender in appenders { try appender.sealNow() }
    try locks.dropping { () throws(StoreFault) in
      do throws(StoreFault) { try clearInTurn() } catch {
        guard error.kind == .noSpace else { throw error }
        // On a full disk the index can't be changed first; deleting the packs makes room.
        try removePacks()
        try clearInTurn()
      }
    }
  }

  private func clearInTurn() throws(StoreFault) {
    try changer.changing { (index) throws(StoreFault) in
      // Delete the files first: an interrupted clear then leaves index entries without packs. In the other order it would leave
      // packs whose records a rebuilt index finds again.
      try removePacks()
      try changer.clear(index)
    }
  }

  private func removePacks() throws(StoreFault) {
    try explaining("can't delete the packs") { () throws(SystemFault) in
      for number in try directory.packNumbers() {
        // Skip a folder that has a pack's name: Nuthatch didn't make it.
        do throws(SystemFault) { try directory.system.unlink(directory.packs, PackName.of(number)) } catch
          where error.number == ENOENT || error.number == EISDIR
        {}
      }
    }
  }

  /// How much of a dropped pack may be appended again.
  private struct Chances {
    /// The bytes that remain.
    var bytes: Int
    /// Whether records that weren't hit since they were written are left out.
    let onlyUsed: Bool
  }

  private func drop(_ entry: PackEntry, _ index: Index) throws(StoreFault) -> Bool {
    var none = Chances(bytes: 0, onlyUsed: true)
    return try drop(entry, index, &none)
  }

  /// Drops one pack. Returns false if it isn't dropped: it holds one large record that was hit, another process appends to it,
  /// or the index has it no more.
  private func drop(
    _ entry: PackEntry, _ index: Index, _ chances: inout Chances
  ) throws(StoreFault) -> Bool {
    var isGone = false
    // Exclude other writers: a process that took the pack over now would lose its new record, whose index entry would stay.
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
    // Scan the whole pack, retired records, too: a rebuilt index may name records that the previous index did not.
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
          // A large record has the pack for itself: the pack stays.
          index.unvisit(found.place)
          return false
        }
      }
      move(candidates, from: pin.pack, &chances)
    }
    // If the directory was deleted, nothing could be moved, and the pack may belong to a new directory.
    guard !directory.isDeleted else { throw StoreDirectory.deleted }
    counts.droppedPacks.wrappingAdd(1, ordering: .relaxed)
    counts.droppedBytes.wrappingAdd(entry.cost, ordering: .relaxed)
    // Delete the file first: there may be no room to change the index before.
    try explaining("can't delete a pack") { () throws(SystemFault) in
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
      // The pack's records are unknown if it can't be read, or if a process deleted it and was then killed.
      if !isRead { index.deleteSlots(packs: [entry.number]) }
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

    /// The padding before the payload may be one unit longer at the new place.
    var length: Int { record.end - record.offset + 8 }
  }

  /// Appends records again, within the limit and in their order in the pack. Chooses hit records first, then the newest ones.
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
          // Older records fill the room that a large one leaves. Stop when less than a twentieth is left.
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

  /// Appends a record again if it is intact and still in the index. If that fails, the record is dropped with its pack.
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
    // May exceed the limit: the old pack is dropped afterwards.
    _ = try? appenders[header.kind.family.place].append(
      &header, key, [UnsafeRawBufferPointer(payload)], replacing: .moved(location), mayExceed: true)
  }
}
