import Glibc

/// Puts in order what killed processes have left: records that were written and not published, packs that were begun, room that
/// was reserved.
struct KilledWriters {
  let directory: StoreDirectory
  let locks: DirectoryLocks
  let openPacks: OpenPacks
  let changer: IndexChanger
  let retired: RetiredRecords
  let checker: PayloadChecker

  /// What the first one who opens the directory does: leftovers of killed writers go, packs that the index doesn't know,
  /// and records that nobody has published, are taken in, and packs that aren't there any more are forgotten.
  func tidy(_ index: Index) throws(StoreFault) {
    var index = index
    let names = try doing("listing the packs") { () throws(SystemFault) in
      try directory.system.names(directory.packs)
    }
    for name in names where PackName.number(name, "tmp") != nil {
      do { try directory.system.unlink(directory.packs, name) } catch {}
    }
    let present = Set(names.compactMap(PackName.number))
    if let highest = present.filter({ $0 <= PackName.lastGiven }).max(), UInt64(highest) >= index.nextPack {
      index.set(nextPack: UInt64(highest) + 1)
      locks.file.lastPack = UInt64(highest)
    }
    let known = index.packs
    let gone = Set(known.map(\.number)).subtracting(present)
    if !gone.isEmpty {
      index.giveUp(packs: gone)
      for entry in known where gone.contains(entry.number) { index.drop(entry) }
    }
    for number in present.subtracting(known.map(\.number)).sorted() {
      index = try takeIn(number, index)
    }
    for entry in index.packs where entry.state == .open && takesMore(entry) {
      // What can't be taken in now stays as it is: the next one who appends to the pack tries again.
      try? takeInLeftBehind(entry, index)
      giveBackTail(entry)
    }
  }

  /// A pack that the index doesn't know.
  private func takeIn(_ number: UInt32, _ index: Index) throws(StoreFault) -> Index {
    guard let pin = openPacks.pin(number), var scan = try? PackScan(pin.pack, directory) else { return index }
    // Before its records: an index that grows takes over what is in packs that it knows.
    var place = 0
    let state: PackEntry.State = pin.pack.header.isEarlier ? .sealed : .open
    var index = try changer.register(index, pin.pack.header, state, used: PackHeader.size) { place = $0 }
    if pin.pack.header.isEarlier { index.set(hasEarlier: true) }
    while let record = scan.next() {
      index.raise(nextSequence: record.header.sequence &+ 1)
      guard !record.isRetired else { continue }
      index = try admit(record, Location(pack: number, offset: record.offset), index)
    }
    index.set(place, used: scan.end)
    return index
  }

  /// Lets the index name a record, unless it names a newer one of the same key; of two, the other is retired.
  func admit(_ record: RecordHeader.Found, _ location: Location, _ index: Index) throws(StoreFault) -> Index {
    var index = index
    let hash = record.header.hash
    if index.find(hash)?.slot.location != location {
      let there: RecordHeader.Found?
      // Of two, one of which can't be had now, nobody knows which is the later one.
      do throws(SystemFault) { there = try openPacks.record(of: hash, in: index) } catch { return index }
      if let there {
        guard !there.outdates(record) else {
          retired.add(location, hash)
          return index
        }
        guard there.isRetired || checker.isIntact(location) else { return index }
      }
    }
    if case .done = try changer.insertOrGrow(&index, record.header, location) {
      changer.finishRetiring(index)
    } else {
      retired.add(location, hash)
    }
    return index
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
    guard entry.state == .open, let pack = openPacks.pin(entry.number)?.pack,
      pack.record(at: (entry.used + 7) & ~7) != nil
    else { return nil }
    return pack
  }

  /// Where a pack that nobody writes to ends. A record that was complete when its writer died, but not published, is
  /// published when it is the newest of its key, and retired when it isn't.
  func takeIn(_ index: Index, _ entry: PackEntry, _ pack: Pack) throws(SystemFault) -> Int {
    // Before the scan: it may be this process's own record, whose caller was told that it couldn't be kept.
    retired.settle()
    var scan = try PackScan(pack, directory)
    while let record = scan.next() {
      // Whoever wrote it had it from an index that counted further, unless that is damaged now.
      index.raise(nextSequence: record.header.sequence &+ 1)
      let location = Location(pack: entry.number, offset: record.offset)
      guard record.offset >= entry.used, !record.isRetired, !retired.isPending(location) else { continue }
      guard checker.isIntact(record, pack) else {
        // The writer was killed half-way.
        retired.add(location, record.header.hash)
        continue
      }
      let isNamed = index.find(record.header.hash)?.slot.location == location
      if record.header.kind == .answer, !isNamed {
        // It may have been removed since it was asked for, while its writer was there still: the counters that the writer would have
        // compared aren't in the record. Its caller hasn't been told that it is kept.
        retired.add(location, record.header.hash)
      } else if let there = try openPacks.record(of: record.header.hash, in: index), there.outdates(record) {
        // Who moved it was killed before the index knew: of two that are the same, one is enough.
        if !isNamed { retired.add(location, record.header.hash) }
      } else if case .done(let old) = index.insert(record.header.hash, record.header.kind, location) {
        if let old, old.location != location { changer.finishRetiring(index) }
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

  /// Removes what killed writers had begun to make, takes in what they had written, and gives back what they had reserved. While
  /// any process has the directory open, none opens it as the first one, which does the same.
  func tidyAfterKilled() {
    removeUnfinished()
    guard let index = changer.current.index else { return }
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
    try? changer.changing { index in
      for entry in index.packs where numbers.contains(entry.number) { try? takeInLeftBehind(entry, index) }
    }
  }

  private func removeUnfinished() {
    var numbers: [UInt32] {
      ((try? directory.system.names(directory.packs)) ?? []).compactMap { PackName.number($0, "tmp") }
    }
    // Mostly there are none, or those that are being made.
    guard !numbers.isEmpty else { return }
    // Not essential: the next one looks again. Whoever makes one begins while he changes the index, and so has it locked.
    try? changer.changing { _ in
      for number in numbers {
        _ = PackWriter.keepingOthersOut(directory, number, "tmp") {
          do { try directory.system.unlink(directory.packs, PackName.of(number, "tmp")) } catch {}
        }
      }
    }
  }

  /// Whether a pack's file takes more than the table of packs says, since somebody appends to it, or was killed. To look at the
  /// pack itself is slow.
  private func takesMore(_ entry: PackEntry) -> Bool {
    guard let (fd, status) = try? directory.openFile(directory.packs, PackName.of(entry.number), O_RDONLY)
    else { return false }
    directory.system.close(fd)
    return status.allocated > Int64(entry.cost) + (64 << 10)
  }

  /// What a killed writer had reserved. May be called by anybody, for a pack that takes more than it should.
  private func giveBackTail(_ entry: PackEntry) {
    guard let (fd, _) = try? directory.openFile(directory.packs, PackName.of(entry.number), O_RDWR) else {
      return
    }
    defer { directory.system.close(fd) }
    guard (try? directory.system.tryLock(fd, 0, .exclusive)) ?? false else { return }
    defer { directory.system.unlock(fd, 0) }
    guard let pin = openPacks.pin(entry.number), var scan = try? PackScan(pin.pack, directory) else { return }
    while scan.next() != nil {}
    guard !pin.pack.isBroken else { return }
    let end = (max(scan.end, entry.used) + 4095) & ~4095
    guard end < pin.pack.bytes.count else { return }
    do { try directory.system.punch(fd, Int64(end), Int64(pin.pack.bytes.count - end)) } catch {}
  }
}
