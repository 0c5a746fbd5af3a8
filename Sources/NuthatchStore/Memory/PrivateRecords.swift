import CSystem
import Glibc
import Synchronization

/// Records that are in memory only, until they have to go: `spill=pressure`.
extension SharedStore {
  /// Keeps a record in memory, and writes to packs what has to make room for it. Nil when it is too large for that, or
  /// has no sequence because the index can't be written.
  func commitPrivately(
    _ key: RecordKey, _ shape: PayloadShape, _ parts: [UnsafeRawBufferPointer], _ moment: Moment? = nil
  ) throws(StoreFault) -> Lease? {
    let length = try Self.length(key, parts, limits)
    // Asked before: the tier lets go of the one before also when it doesn't take this one, which has to be in a pack then.
    guard MemoryEntry.cost(length, key) <= memory.limits.largest, memory.limits.items > 0 else { return nil }
    guard let payload = PrivateMemory(parts, count: length) else {
      throw StoreFault(.outOfMemory, "no memory for the record")
    }
    // Without one it would seem earlier than what is in the packs, and give way to that.
    let sequence = takeSequence()
    guard sequence != 0 else { return nil }
    let entry = MemoryEntry(
      .record, key, payload, payload.bytes, shape, sequence: sequence, privateBytes: length, moment: moment)
    guard remember(entry) else { return nil }
    // Not by way of the table, from which it may be gone again.
    return MemoryPin(entry).lease
  }

  /// Writes records to packs and takes them out of memory.
  ///
  /// - Parameter loses: takes out also what couldn't be written: the room is wanted. Else it stays.
  /// - Returns: the first reason for which a record couldn't be written.
  @discardableResult
  private func write(_ records: [MemoryEntry], loses: Bool) -> StoreFault? {
    var fault: StoreFault?
    for record in records {
      do throws(StoreFault) {
        try spills.patiently(locks.busy(.index)) { () throws(StoreFault) in
          // Somebody may have removed it, or put another one in its place.
          guard memory.contains(record) else { return }
          try write(record)
          memory.remove(record)
        }
      } catch {
        fault = fault ?? error
        guard memory.contains(record) else { continue }
        spillCounts.failures.wrappingAdd(1, ordering: .relaxed)
        if loses {
          spillCounts.lost.wrappingAdd(1, ordering: .relaxed)
          memory.remove(record)
        } else {
          memory.stay(record)
        }
      }
    }
    return fault
  }

  /// To be called while `spills` is held.
  private func write(_ record: MemoryEntry) throws(StoreFault) {
    // Another process, or a larger record that went to a pack at once, may have a later one. The same one is there if
    // room couldn't be made after it was written.
    if let moment = record.moment {
      guard current(record.key)?.lease.shape.question != record.shape.question,
        try commit(record.key, record.shape, [record.bytes], replacing: .askedBefore(moment)) != nil
      else { return }
    } else {
      let there = current(record.key)?.lease.sequence ?? 0
      guard there <= record.sequence else { return }
      if there < record.sequence {
        try commit(
          record.key, record.shape, [record.bytes], sequence: record.sequence, replacing: .earlier)
      }
    }
    spillCounts.spills.wrappingAdd(1, ordering: .relaxed)
    spillCounts.bytes.wrappingAdd(record.bytes.count, ordering: .relaxed)
  }

  /// The record of a key in the packs.
  func current(_ key: RecordKey) -> (lease: Lease, location: Location)? {
    for _ in 0..<8 {
      guard let index = currentForReading(), let found = index.find(key.hash) else { return nil }
      if let lease = lookup(key, at: found.slot.location) { return (lease, found.slot.location) }
    }
    return nil
  }

  /// Writes all records that are in memory only. Those that can't be written stay there.
  func flush() throws(StoreFault) {
    if let fault = write(memory.unwritten(), loses: false) { throw fault }
  }

  /// Makes room in memory: half of what is taken, or all. What only this process has becomes everybody's in any case, so
  /// that another one finds it after the first sign.
  func relieve(_ level: MemoryPressure) {
    spillCounts.add(level)
    switch level {
    case .warning:
      let half = memory.statistics.bytes / 2
      write(memory.unwritten(), loses: false)
      write(memory.shrink(to: half), loses: false)
    case .critical:
      write(memory.shrink(to: 0), loses: true)
      leavePages()
      for family in Family.allCases {
        // Not essential: the next sign finds it again.
        try? withAppender(of: family) { appenders[family.place].writer?.closeWindow() }
      }
    }
  }

  /// Of packs and index nothing needs to be in this process's memory until it is read again.
  private func leavePages() {
    shelf.forEach { $0.leavePages() }
    index?.leavePages()
  }

  /// The same, and from now on as little as can be.
  func stayLean() {
    isLean.store(true, ordering: .relaxed)
    index?.isLean.store(true, ordering: .relaxed)
    leavePages()
  }

  /// Keeps something in memory. False when it is too large for that.
  func remember(_ entry: MemoryEntry) -> Bool {
    let (isKept, leaving) = memory.keep(entry)
    write(leaving, loses: true)
    return isKept
  }
}

/// What the callers of a store that spills under pressure see: memory first, then the packs.
extension SharedStore {
  /// What isn't found without more ado.
  @inline(never)
  func recordSlowly(of key: RecordKey, checking most: Int = .max) -> Lookup {
    if spill == .pressure {
      // Another process may have cleared the directory, and with it what is in memory.
      followOthers()
      let found = privateRecord(of: key) ?? key.bytes.withUnsafeBytes { known(key.kind, key.hash, $0) }
      if let found { return .found(found) }
    }
    return lookupSlowly(key, checking: most)
  }

  /// The record that is in memory only. Nil also for an answer that was removed since, or has a later one in a pack.
  func privateRecord(of key: RecordKey) -> Lease? {
    guard !due.take(key.hash), let lease = memory.find(.record, key) else { return nil }
    guard key.kind == .answer, let entry = (lease.pin as? MemoryPin)?.entry, let moment = entry.moment,
      !isCurrent(moment) || hasLaterAnswer(key, than: moment.number)
    else { return lease }
    memory.remove(entry)
    return nil
  }

  /// Whether a key has the record with this mark in memory, and no other; nil when it has none there. Follows nobody, and
  /// takes nothing out.
  func isPrivateNow(_ mark: RecordMark, _ key: RecordKey) -> Bool? {
    guard let lease = memory.find(.record, key) else { return nil }
    guard !due.take(key.hash), mark == RecordMark(index: 0, pack: 0, offset: lease.sequence) else {
      return false
    }
    return reading { index, _, shard in
      guard !isOutdated(index) else { return false }
      guard let moment = (lease.pin as? MemoryPin)?.entry.moment else { return true }
      guard index.isCurrent(moment) else { return false }
      guard let found = index.find(key.hash) else { return true }
      // A record in a pack that isn't mapped has to be looked at more closely.
      let pin = shard.held(found.slot.location.pack)
      return pin?._withUnsafeGuaranteedRef { pin in
        guard let record = pin.pack.record(at: found.slot.location.offset), record.header.hash == key.hash
        else { return false }
        return record.header.shape.question <= moment.number
      } ?? false
    } ?? false
  }

  func keep(
    _ key: RecordKey, _ shape: PayloadShape, _ parts: [UnsafeRawBufferPointer]
  ) throws(StoreFault) -> Lease {
    memory.remove(.value, key)
    guard spill == .pressure else { return try commit(key, shape, parts) }
    if let lease = try commitPrivately(key, shape, parts) { return lease }
    return try spills.patiently(locks.busy(.index)) { () throws(StoreFault) in
      let lease = try commit(key, shape, parts)
      memory.remove(.record, key)
      return lease
    }
  }

  /// Keeps an answer. Nil when it was removed since it was asked for, or when a later one is there.
  func keep(
    _ key: RecordKey, _ form: UInt8, _ payload: UnsafeRawBufferPointer, asked moment: Moment
  ) throws(StoreFault) -> Lease? {
    let shape = PayloadShape(form: form, question: moment.number)
    guard spill == .pressure else {
      return try commit(key, shape, [payload], replacing: .askedBefore(moment))
    }
    let inPacks = current(key)?.lease.shape.question
    guard isCurrent(moment), inPacks ?? 0 <= moment.number,
      privateRecord(of: key)?.shape.question ?? 0 <= moment.number
    else { return nil }
    // A record in memory may be lost, and an earlier one in the packs would be found again. So the packs' one is replaced.
    if inPacks == nil, let lease = try commitPrivately(key, shape, [payload], moment) { return lease }
    return try spills.patiently(locks.busy(.index)) { () throws(StoreFault) in
      let lease = try commit(key, shape, [payload], replacing: .askedBefore(moment))
      // Not one that was asked for later. An earlier one would hide what the packs have now.
      _ = privateRecord(of: key)
      return lease
    }
  }

  /// Removes a record from memory and packs. False when there was none.
  func drop(_ key: RecordKey) throws(StoreFault) -> Bool {
    memory.remove(.value, key)
    guard spill == .pressure else { return try remove(key) }
    return try spills.patiently(locks.busy(.index)) { () throws(StoreFault) in
      // From the packs first: else somebody could find there what came before the private one.
      do throws(StoreFault) {
        let wasThere = try remove(key)
        return memory.remove(.record, key) || wasThere
      } catch {
        memory.remove(.record, key)
        throw error
      }
    }
  }

  /// Removes groups of answers and records from memory and packs. What was there.
  func drop(_ groups: [RecordGroup], _ keys: [RecordKey]) throws(StoreFault) -> [RemovedRecord] {
    for key in keys { memory.remove(.value, key) }
    guard spill == .pressure else { return try remove(groups, keys) }
    return try spills.patiently(locks.busy(.index)) { () throws(StoreFault) in
      var removed = try remove(groups, keys)
      let known = Set(removed.map(\.key))
      // Those in memory are no hits any more from the moment on that the removal was counted.
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

  func dropAll() throws(StoreFault) {
    try spills.patiently(locks.busy(.index)) { () throws(StoreFault) in
      defer { memory.removeAll { _ in true } }
      let posts = due.posted?.all ?? []
      // From the packs first, as above.
      try clear()
      due.remove(posts)
    }
  }

  func visit(_ key: RecordKey) -> Bool {
    if spill == .pressure, memory.touch(.record, key) { return true }
    return touch(key)
  }

  func walk(_ kind: RecordKind?, _ body: (RecordKey, Lease) -> Bool) throws(StoreFault) {
    let unwritten = spill == .pressure ? memory.unwritten() : []
    var seen: Set<RecordKey> = []
    for record in unwritten where kind == nil || kind == record.key.kind {
      seen.insert(record.key)
      if !body(record.key, MemoryPin(record).lease) { return }
    }
    try forEach(kind) { key, lease in seen.contains(key) || body(key, lease) }
  }
}
