import Synchronization

/// Keeps records in memory until they must be written to the packs of a `DiskStore`: `spill=pressure`. Lookups search memory
/// first.
final class MemoryFirstStore: RecordStore {
  let disk: DiskStore
  private let memory: MemoryTier

  init(_ disk: DiskStore) {
    self.disk = disk
    memory = disk.memory
  }

  func finish(flushes: Bool) {
    // Records that can't be written are lost. The store is closing, so there is no caller that could get the error.
    if flushes { do { try flush() } catch {} }
    disk.finish(flushes: flushes)
  }

  // MARK: Finding

  func lookup(_ key: RecordKey, checking most: Int) -> Lookup {
    // If another process has cleared the directory, this removes the records in memory, too.
    disk.current.followOthers()
    if let own = privateRecord(of: key) { return own.isLatest ? .found(own.lease) : .nothing }
    let known = key.bytes.withUnsafeBytes { disk.reader.lookupVerified(key.kind, key.hash, $0) }
    return known.map { .found($0) } ?? disk.reader.lookup(key, checking: most)
  }

  /// Returns the record that is only in memory. `isLatest` is true if it is certain that the packs have no later answer. Nil if
  /// there is no record, or it is an answer that was removed since or has a later one in a pack.
  private func privateRecord(of key: RecordKey) -> (lease: Lease, isLatest: Bool)? {
    guard !disk.due.take(key.hash), let lease = memory.find(.record, key) else { return nil }
    guard key.kind == .answer, let entry = (lease.pin as? MemoryPin)?.entry, let moment = entry.moment else {
      return (lease, true)
    }
    // Whether the answer was removed or replaced; nil if this is unknown now.
    let isGone = disk.moments.isCurrent(moment) ? disk.reader.hasLaterAnswer(key, than: moment.number) : true
    guard isGone == true else { return (lease, isGone == false) }
    memory.remove(entry)
    return nil
  }

  func has(_ key: RecordKey) -> Bool { privateRecord(of: key) != nil || disk.has(key) }

  func holds(_ key: RecordKey) -> Bool { privateRecord(of: key) != nil || disk.holds(key) }

  func touch(_ key: RecordKey) -> Bool { memory.touch(.record, key) || disk.touch(key) }

  func mark(of key: RecordKey) -> RecordMark? {
    disk.current.followOthers()
    guard let own = privateRecord(of: key) else { return disk.mark(of: key) }
    return own.isLatest ? RecordMark(index: 0, pack: 0, offset: own.lease.sequence) : nil
  }

  func isCurrent(_ mark: RecordMark, _ key: RecordKey) -> Bool {
    isPrivateNow(mark, key) ?? disk.isCurrent(mark, key)
  }

  /// Returns whether the key's record in memory has this mark; nil if it has none in memory. Doesn't follow other processes,
  /// and removes nothing.
  private func isPrivateNow(_ mark: RecordMark, _ key: RecordKey) -> Bool? {
    guard let lease = memory.find(.record, key) else { return nil }
    guard !disk.due.take(key.hash), mark == RecordMark(index: 0, pack: 0, offset: lease.sequence) else {
      return false
    }
    return disk.current.reading { index, shard in
      guard !disk.current.isOutdated(index) else { return false }
      guard let moment = (lease.pin as? MemoryPin)?.entry.moment else { return true }
      guard index.isCurrent(moment) else { return false }
      guard let found = index.find(key.hash) else { return true }
      // The record's pack isn't mapped: report false.
      let pin = shard.held(found.slot.location.pack)
      return pin?._withUnsafeGuaranteedRef { pin in
        guard let record = pin.pack.record(at: found.slot.location.offset), record.header.hash == key.hash
        else { return false }
        return record.header.shape.question <= moment.number
      } ?? false
    } ?? false
  }

  func forEach(_ kind: RecordKind?, _ body: (RecordKey, Lease) -> Bool) throws(StoreFault) {
    let unwritten = memory.unwritten()
    var seen: Set<RecordKey> = []
    for record in unwritten where kind == nil || kind == record.key.kind {
      seen.insert(record.key)
      if !body(record.key, MemoryPin(record).lease) { return }
    }
    try disk.forEach(kind) { key, lease in seen.contains(key) || body(key, lease) }
  }

  // MARK: Keeping

  func commit(
    _ key: RecordKey, _ shape: PayloadShape, _ parts: [UnsafeRawBufferPointer], asked moment: Moment?
  ) throws(StoreFault) -> Lease? {
    guard let moment else {
      memory.remove(.value, key)
      if let lease = try commitPrivately(key, shape, parts) { return lease }
      return try memory.writing.withLock(orThrow: disk.locks.busy(.index)) { () throws(StoreFault) in
        let lease = try disk.write(key, shape, parts)
        memory.remove(.record, key)
        return lease
      }
    }
    let inPacks = disk.reader.find(key)?.lease.shape.question
    guard disk.moments.isCurrent(moment), inPacks ?? 0 <= moment.number,
      privateRecord(of: key)?.lease.shape.question ?? 0 <= moment.number
    else { return nil }
    // A record in memory may be lost. Then an older one in the packs would be found again, so replace one there.
    if inPacks == nil, let lease = try commitPrivately(key, shape, parts, moment) { return lease }
    return try memory.writing.withLock(orThrow: disk.locks.busy(.index)) { () throws(StoreFault) in
      let lease = try disk.write(key, shape, parts, replacing: .askedBefore(moment))
      // Removes an older record from memory, which would hide the new one. A later one stays.
      _ = privateRecord(of: key)
      return lease
    }
  }

  /// Keeps a record in memory. Writes other records to packs if memory needs room. Returns nil if the record is too large, or gets
  /// no sequence number because the index can't be written.
  private func commitPrivately(
    _ key: RecordKey, _ shape: PayloadShape, _ parts: [UnsafeRawBufferPointer], _ moment: Moment? = nil
  ) throws(StoreFault) -> Lease? {
    let length = try disk.length(key, parts)
    // Check this first: the tier removes the previous record even if it refuses this one, which must then go to a pack.
    guard MemoryEntry.cost(length, key) <= memory.limits.largest, memory.limits.items > 0 else { return nil }
    guard let payload = PrivateMemory(parts, count: length) else {
      throw StoreFault(.outOfMemory, "there is no memory for a record of \(length) bytes")
    }
    // Without a sequence number it would look older than the records in the packs.
    let sequence = disk.changer.takeSequence()
    guard sequence != 0 else { return nil }
    let entry = MemoryEntry(
      .record, key, payload, payload.bytes, shape, sequence: sequence, privateBytes: length, moment: moment)
    guard remember(entry) else { return nil }
    // Don't look it up: another thread may already have removed it from the table.
    return MemoryPin(entry).lease
  }

  func remember(_ entry: MemoryEntry) -> Bool {
    let (isKept, leaving) = memory.keep(entry)
    write(leaving, loses: true)
    return isKept
  }

  // MARK: Writing

  /// Writes records to packs and removes them from memory.
  ///
  /// - Parameter loses: also removes records that couldn't be written, because the memory is needed. Otherwise they stay.
  /// - Returns: the first error.
  @discardableResult
  private func write(_ records: [MemoryEntry], loses: Bool) -> StoreFault? {
    var fault: StoreFault?
    for record in records {
      do throws(StoreFault) {
        try memory.writing.withLock(orThrow: disk.locks.busy(.index)) { () throws(StoreFault) in
          // It may have been removed or replaced meanwhile.
          guard memory.contains(record) else { return }
          try write(record)
          memory.remove(record)
        }
      } catch {
        fault = fault ?? error
        guard memory.contains(record) else { continue }
        memory.spills.failures.wrappingAdd(1, ordering: .relaxed)
        if error.kind == .io { disk.lookForDeletion() }
        // If the directory was deleted, keep the record: it can be written when the directory is reopened.
        if loses, !disk.directory.isDeleted {
          memory.spills.lost.wrappingAdd(1, ordering: .relaxed)
          memory.remove(record)
        } else {
          memory.stay(record)
        }
      }
    }
    return fault
  }

  /// Call it with the lock held.
  private func write(_ record: MemoryEntry) throws(StoreFault) {
    // The packs may have a later record, from another process or because it was too large for memory. They may have this record
    // if making room failed after it was written.
    if let moment = record.moment {
      guard disk.reader.find(record.key)?.lease.shape.question != record.shape.question,
        try disk.write(record.key, record.shape, [record.bytes], replacing: .askedBefore(moment)) != nil
      else { return }
    } else {
      let there = disk.reader.find(record.key)?.lease.sequence ?? 0
      guard there <= record.sequence else { return }
      if there < record.sequence {
        try disk.write(
          record.key, record.shape, [record.bytes], sequence: record.sequence, replacing: .earlier)
      }
    }
    memory.spills.spills.wrappingAdd(1, ordering: .relaxed)
    memory.spills.bytes.wrappingAdd(record.bytes.count, ordering: .relaxed)
  }

  func flush() throws(StoreFault) {
    if let fault = write(memory.unwritten(), loses: false) { throw fault }
  }

  /// Frees memory. At a warning, too, all records that are only in memory are written, so that other processes find them.
  func relieve(_ level: MemoryPressure) {
    switch level {
    case .warning:
      let half = memory.statistics.bytes / 2
      write(memory.unwritten(), loses: false)
      write(memory.shrink(to: half), loses: false)
    case .critical:
      write(memory.shrink(to: 0), loses: true)
    }
    disk.relieveMappings(level)
  }

  // MARK: Removing

  func remove(_ key: RecordKey) throws(StoreFault) -> Bool {
    memory.remove(.value, key)
    return try memory.writing.withLock(orThrow: disk.locks.busy(.index)) { () throws(StoreFault) in
      // Remove it from the packs first: otherwise a lookup could find an older record there.
      do throws(StoreFault) {
        let wasThere = try disk.remove(key)
        return memory.remove(.record, key) || wasThere
      } catch {
        memory.remove(.record, key)
        throw error
      }
    }
  }

  func remove(_ groups: [RecordGroup], _ keys: [RecordKey]) throws(StoreFault) -> [RemovedRecord] {
    for key in keys { memory.remove(.value, key) }
    return try memory.writing.withLock(orThrow: disk.locks.busy(.index)) { () throws(StoreFault) in
      var removed = try disk.remove(groups, keys)
      let known = Set(removed.map(\.key))
      // The records in memory have been misses since the removal was counted.
      for entry in memory.unwritten()
      where keys.contains(entry.key) || entry.key.group.map({ groups.contains($0) }) == true {
        guard memory.remove(entry), !known.contains(entry.key) else { continue }
        removed.append(
          RemovedRecord(
            key: entry.key, form: entry.shape.form, payload: Array(entry.bytes.prefix(1 << 16))))
      }
      return removed
    }
  }

  func clear() throws(StoreFault) {
    try memory.writing.withLock(orThrow: disk.locks.busy(.index)) { () throws(StoreFault) in try disk.clear()
    }
  }
}
