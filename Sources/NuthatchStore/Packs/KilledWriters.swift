import Glibc

/// Cleans up after killed processes: unpublished records, unfinished packs, reserved room.
struct KilledWriters {
  let directory: StoreDirectory
  let locks: DirectoryLocks
  let openPacks: OpenPacks
  let changer: IndexChanger
  let retired: RetiredRecords
  let checker: PayloadChecker

  /// Deletes unfinished packs of killed writers, adds packs that the index doesn't know, publishes unpublished records, and
  /// removes entries of missing packs. The first process that opens the directory calls it, with the index lock held.
  func tidy(_ index: Index) throws(StoreFault) {
    var index = index
    let names = try explaining("can't list the packs") { () throws(SystemFault) in
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
      index.deleteSlots(packs: gone)
      for entry in known where gone.contains(entry.number) { index.drop(entry) }
    }
    for number in present.subtracting(known.map(\.number)).sorted() {
      index = try addPack(number, index)
    }
    for entry in index.packs where entry.state == .open && takesMore(entry) {
      // If that fails now, the next process that appends to the pack tries again.
      try? publishLeftovers(entry, index)
      freeUnusedRoom(entry)
    }
  }

  /// Adds a pack that the index doesn't know.
  private func addPack(_ number: UInt32, _ index: Index) throws(StoreFault) -> Index {
    guard let pin = openPacks.pin(number), var scan = try? PackScan(pin.pack, directory) else { return index }
    // Register the pack before its records: an index that grows copies only records of packs that it knows.
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

  /// Indexes a record unless the index has a newer one with its key. The older one is retired.
  func admit(_ record: RecordHeader.Found, _ location: Location, _ index: Index) throws(StoreFault) -> Index {
    var index = index
    let hash = record.header.hash
    if index.find(hash)?.slot.location != location {
      let there: RecordHeader.Found?
      // If one of the two can't be read now, it isn't known which is newer.
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

  /// Publishes the records that killed writers left unpublished. A removal calls this first: otherwise a later scan could bring
  /// back a record that is older than the removal. Call it with the index lock held; the caller keeps using `index`.
  func publishLeftovers(_ index: Index) throws(StoreFault) {
    for entry in index.packs { try publishLeftovers(entry, index) }
  }

  /// Does the same for one pack. Before it is done, the table of packs shows fewer bytes than the pack takes.
  func publishLeftovers(_ entry: PackEntry, _ index: Index) throws(StoreFault) {
    guard let pack = packWithMore(entry) else { return }
    _ = try PackWriter.keepingOthersOut(directory, entry.number) { () throws(StoreFault) in
      do throws(SystemFault) { _ = try publishComplete(index, entry, pack) } catch {
        // Another process has dropped the pack and was killed before it changed the index. Its records are gone.
        guard error.number == ENOENT else { throw StoreFault(error, "can't read a pack") }
      }
    }
  }

  /// Returns the pack if there is a record behind the end that the table of packs names. A retired record counts, too: it takes
  /// room, and a valid one may follow it.
  private func packWithMore(_ entry: PackEntry) -> Pack? {
    guard entry.state == .open, let pack = openPacks.pin(entry.number)?.pack,
      pack.record(at: (entry.used + 7) & ~7) != nil
    else { return nil }
    return pack
  }

  /// Publishes each complete record that a killed writer left unpublished, if it is the newest of its key; otherwise retires it.
  /// Returns the end of the pack's records. Call it with the index lock and the pack's file locked.
  func publishComplete(_ index: Index, _ entry: PackEntry, _ pack: Pack) throws(SystemFault) -> Int {
    // Do this before the scan: an unpublished record may be one of this process, whose commit failed.
    retired.retryFailed()
    var scan = try PackScan(pack, directory)
    while let record = scan.next() {
      // This changes something only if the index is damaged: its writer took the number from the index.
      index.raise(nextSequence: record.header.sequence &+ 1)
      let location = Location(pack: entry.number, offset: record.offset)
      guard record.offset >= entry.used, !record.isRetired, !retired.isPending(location) else { continue }
      guard checker.isIntact(record, pack) else {
        // The writer was killed in the middle of it.
        retired.add(location, record.header.hash)
        continue
      }
      let isNamed = index.find(record.header.hash)?.slot.location == location
      if record.header.kind == .answer, !isNamed {
        // The answer may have been removed between its request and now: the counters that its writer would have compared aren't
        // in the record. No caller was told that it is stored.
        retired.add(location, record.header.hash)
      } else if let there = try openPacks.record(of: record.header.hash, in: index), there.outdates(record) {
        // The index names a newer record, or a copy: a process was killed while it moved the record. Keep only the named one.
        if !isNamed { retired.add(location, record.header.hash) }
      } else if case .done(let old) = index.insert(record.header.hash, record.header.kind, location) {
        if let old, old.location != location { changer.finishRetiring(index) }
      } else {
        // The index has no room for it. If it stayed unpublished, it could be found again after a later removal. The next change
        // rebuilds the index, which then has room for the record, or retires it.
        index.markReplaced()
      }
    }
    // If a part couldn't be read, the end isn't known.
    guard !pack.isBroken else { throw SystemFault(EIO) }
    let end = max(scan.end, min(entry.used, pack.header.capacity))
    index.set(entry.place, used: end)
    return (end + 7) & ~7
  }

  /// Deletes unfinished packs of killed writers, publishes their records, and frees the room that they reserved. `tidy` does
  /// the same, but runs only when a process opens a directory that no other process has open.
  func tidyAfterKilled() {
    removeUnfinished()
    guard let index = changer.current.index else { return }
    let packs = index.packs.filter { $0.state == .open && takesMore($0) }
    publishLeftovers(of: packs)
    for entry in packs { freeUnusedRoom(entry) }
  }

  /// Publishes the records that killed writers left in some packs. If that fails, a later call tries again. Locks the index only
  /// if there are such records: usually another process is just writing to these packs.
  func publishLeftovers(of packs: [PackEntry]) {
    let hasSome = packs.contains { !PackWriter.isBusy(directory, $0.number) && packWithMore($0) != nil }
    guard hasSome else { return }
    let numbers = Set(packs.map(\.number))
    try? changer.changing { index in
      for entry in index.packs where numbers.contains(entry.number) { try? publishLeftovers(entry, index) }
    }
  }

  private func removeUnfinished() {
    var numbers: [UInt32] {
      ((try? directory.system.names(directory.packs)) ?? []).compactMap { PackName.number($0, "tmp") }
    }
    // Usually there are none, or only packs that are being made.
    guard !numbers.isEmpty else { return }
    // If this fails, a later call tries again. A writer creates and locks its file with the index lock held, so a file that isn't
    // locked here was left by a killed writer.
    try? changer.changing { _ in
      for number in numbers {
        _ = PackWriter.keepingOthersOut(directory, number, "tmp") {
          do { try directory.system.unlink(directory.packs, PackName.of(number, "tmp")) } catch {}
        }
      }
    }
  }

  /// Returns whether a pack's file takes more room than the table of packs says, because a process appends to it or was killed.
  /// This is faster than a scan of the pack.
  private func takesMore(_ entry: PackEntry) -> Bool {
    guard let (fd, status) = try? directory.openFile(directory.packs, PackName.of(entry.number), O_RDONLY)
    else { return false }
    directory.system.close(fd)
    return status.allocated > Int64(entry.cost) + (64 << 10)
  }

  /// Frees the room that a killed writer reserved in a pack for which `takesMore` is true. Does nothing while a process appends
  /// to it. Needs no lock.
  private func freeUnusedRoom(_ entry: PackEntry) {
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
