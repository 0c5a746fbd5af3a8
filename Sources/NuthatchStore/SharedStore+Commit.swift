import CSystem
import Glibc
import Synchronization

extension SharedStore {
  /// Appends a record and makes it the one that its key finds. It survives this process from then on.
  func commit(
    _ key: RecordKey, _ shape: PayloadShape, _ parts: [UnsafeRawBufferPointer]
  ) throws(StoreFault) -> Lease {
    guard let lease = try commit(key, shape, parts, replacing: .any) else {
      throw StoreFault(.io, "the record can't be read back")
    }
    return lease
  }

  /// The same, unless it may not replace the one that is there. Nil then.
  ///
  /// - Parameter sequence: what it has had, and with it its identity, since it was made; 0 for a new one.
  @discardableResult
  func commit(
    _ key: RecordKey, _ shape: PayloadShape, _ parts: [UnsafeRawBufferPointer], sequence: UInt64 = 0,
    replacing: Replaceable
  ) throws(StoreFault) -> Lease? {
    let header = RecordHeader(
      kind: key.kind, shape: shape, keyLength: key.bytes.count, hash: key.hash, sequence: sequence,
      payloadLength: try Self.length(key, parts, limits), payloadChecksum: try Self.checksum(parts))
    return try append(header, key.bytes, parts, replacing: replacing)
  }

  /// Which record of its key another one may replace.
  enum Replaceable {
    case any
    /// The one that is there: it is moved, and nothing is lost when somebody was faster.
    case moved(Location)
    case earlier
    /// The answer to an earlier question, if nothing was removed since.
    case askedBefore(Moment)

    /// When the record's answer was asked for; nil for what is no answer.
    var moment: Moment? { if case .askedBefore(let moment) = self { moment } else { nil } }
  }

  private static func checksum(_ parts: [UnsafeRawBufferPointer]) throws(StoreFault) -> UInt64 {
    if parts.count == 1 { return nhs_hash64(parts[0].baseAddress, parts[0].count, 0) }
    guard let hasher = nhs_hasher_new() else { throw StoreFault(.outOfMemory, "no memory for a checksum") }
    defer { nhs_hasher_free(hasher) }
    for part in parts where !part.isEmpty { nhs_hasher_add(hasher, part.baseAddress, part.count) }
    return nhs_hasher_value(hasher)
  }

  static func length(
    _ key: RecordKey, _ parts: [UnsafeRawBufferPointer], _ limits: Limits
  ) throws(StoreFault) -> Int {
    guard (1...Int(UInt16.max)).contains(key.bytes.count) else {
      throw StoreFault(.invalid, "a key has 1 to 65,535 bytes")
    }
    var length = 0
    for part in parts {
      let (sum, overflow) = length.addingReportingOverflow(part.count)
      guard !overflow else { throw StoreFault(.tooLarge, "the record is too large") }
      length = sum
    }
    guard length <= limits.longestAtAll else {
      throw StoreFault(.tooLarge, "the record is larger than a quarter of the limit")
    }
    return length
  }

  /// What came of an attempt to append a record.
  enum Appending {
    /// Nil when the new record can't be had, or may not replace the one that is there.
    case done(Lease?)
    /// There is no room for a new pack of so many bytes.
    case needsRoom(Int)
  }

  /// Appends and publishes, with a new sequence unless there is one. Nil when the new record can't be had, or may not
  /// replace the one that is there.
  func append(
    _ header: RecordHeader, _ key: [UInt8], _ parts: [UnsafeRawBufferPointer], replacing: Replaceable
  ) throws(StoreFault) -> Lease? {
    var header = header
    let family = header.kind.family
    // What is moved makes room itself, for its pack is dropped afterwards.
    let isMove = if case .moved = replacing { true } else { false }
    var mayExceed = isMove
    for attempt in 0... {
      let appending = try withAppender(of: family) { () throws(StoreFault) in
        try append(&header, key, parts, replacing: replacing, mayExceed: mayExceed)
      }
      switch appending {
      case .done(let lease):
        if !isMove { lookAround(after: header.payloadLength) }
        if !isMove, lease != nil { countWritten(header) }
        return lease
      case .needsRoom(let bytes): try makeRoom(for: bytes)
      }
      // Others have taken the room, or append to all that there is. One pack of its own a process may have in any case.
      mayExceed = attempt >= 2 && !needsOwnPack(header)
      guard attempt < 8 else { break }
    }
    throw StoreFault(.noSpace, "other processes write to all that the limit of the cache leaves room for")
  }

  private func append(
    _ header: inout RecordHeader, _ key: [UInt8], _ parts: [UnsafeRawBufferPointer],
    replacing: Replaceable, mayExceed: Bool
  ) throws(StoreFault) -> Appending {
    let family = header.kind.family
    if needsOwnPack(header) { return try appendLarge(&header, key, parts, replacing: replacing) }
    var fault = StoreFault(.io, "packs can't be mapped, or vanish while they are written")
    // A pack can be dropped by somebody's `clear` between writing to it and publishing; then the next one takes it.
    for _ in 0..<3 {
      let writer = try writer(
        family, keyLength: key.count, payloadLength: header.payloadLength, mayExceed: mayExceed)
      guard let writer else {
        let room = Self.room(keyLength: key.count, payloadLength: header.payloadLength)
        return .needsRoom(capacity(of: family, room: room))
      }
      // Held before anybody knows of the record: once it is published, its pack may be dropped at any moment.
      guard let pin = pin(writer.header) else {
        appenders[family.place].writer = nil
        continue
      }
      if header.sequence == 0 { header.sequence = takeSequence() }
      guard header.sequence != 0 else { throw Self.indexIsFull }
      let location = Location(pack: writer.header.number, offset: writer.end)
      let before = losses
      var end: Int?
      func write() throws(StoreFault) -> Int {
        try doing("writing a record") { () throws(SystemFault) in
          try key.withBytes { (bytes) throws(SystemFault) in try writer.append(header, key: bytes, parts) }
        }.end
      }
      let outcome: Outcome
      do throws(StoreFault) {
        if case .moved(let old) = replacing {
          // While nobody else changes the index: who removed it between writing and publishing would leave a copy behind,
          // should this process be killed then.
          outcome = try changing { (index) throws(StoreFault) -> Outcome in
            guard
              index.find(header.hash)?.slot.location == old
                || end != nil && isPublished(header, location, index, replacing)
            else { return .unwanted }
            if end == nil { end = try write() }
            return try publish(
              index, header, location, writer: writer, end: end ?? location.offset, replacing: replacing)
          }
        } else {
          let written = try write()
          end = written
          outcome = try changing { (index) throws(StoreFault) -> Outcome in
            try publish(index, header, location, writer: writer, end: written, replacing: replacing)
          }
        }
      } catch {
        if end != nil, hasLost(since: before) {
          // The index in the file may name the change, and then the next process that changes the index finishes it. That
          // process, or the next writer of the pack, finds the record as a killed writer leaves it.
          appenders[family.place].writer = nil
          throw error
        }
        // The caller is told that it isn't there, so that a later writer of the pack must not find it. It stays where it is,
        // because a shorter record in its place would leave a rest of it behind.
        if let record = pin.pack.record(at: location.offset), record.header.hash == header.hash {
          retire(location, header.hash)
          writer.advance(to: record.end)
        }
        if end != nil { throw error }
        guard error.kind == .io else { throw error }
        // A bad place of the disk, perhaps: nobody shall append here any more.
        fault = error
        try seal(family)
        continue
      }
      switch outcome {
      case .published: return .done(Lease(pin, header, at: location.offset))
      case .unwanted: return .done(nil)
      case .packIsGone:
        if case .moved = replacing { return .done(nil) }
        appenders[family.place].writer = nil
      }
    }
    throw fault
  }

  private func countWritten(_ header: RecordHeader) {
    let room = RecordHeader.size + header.keyLength + 16 + header.payloadLength
    counts.add(.commits)
    counts.add(
      header.kind.family == .bulk ? .writtenBulk : .writtenSmall,
      UInt64(needsOwnPack(header) ? (PackHeader.size + room + 4095) & ~4095 : room))
  }

  /// Does something with a family's appender, as the only thread.
  ///
  /// - Throws: `readOnly`; `busy` when another thread has it for too long, because that one waits for another process.
  func withAppender<Result>(
    of family: Family, _ body: () throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result {
    try checkWritable()
    return try familyLocks[family.place].patiently(locks.busy(.index), body)
  }

  /// Whether a record is too long for a pack that others are in.
  func needsOwnPack(_ header: RecordHeader) -> Bool {
    RecordHeader.size + header.keyLength + 64 + header.payloadLength > limits.longest
  }

  /// What became of a record that was written.
  enum Outcome {
    case published
    /// The record that is there stays.
    case unwanted
    case packIsGone
  }

  /// To be called by the index's changer.
  private func publish(
    _ index: Index, _ header: RecordHeader, _ location: Location, writer: PackWriter, end: Int,
    replacing: Replaceable
  ) throws(StoreFault) -> Outcome {
    guard let place = place(of: writer, index) else { return .packIsGone }
    let isRemoved = replacing.moment.map { !index.isCurrent($0) || due.take($0) } ?? false
    if !isRemoved, isPublished(header, location, index, replacing) {
      writer.advance(to: end)
      index.set(place, used: end)
      return .published
    }
    guard !isRemoved, try mayReplace(header, replacing, index) else {
      writer.advance(to: end)
      index.set(place, used: end)
      takeBack(header, location, index)
      return .unwanted
    }
    var only: Location?
    if case .moved(let location) = replacing { only = location }
    var index = index
    let inserted = try insertOrGrow(&index, header, location, used: (place, end), only: only)
    guard case .done(let replaced) = inserted else { throw Self.hasNoRoom }
    // Growing the index may have moved nothing but the index itself; the bytes are used in any case.
    writer.advance(to: end)
    if only != nil, replaced == nil {
      index.set(place, used: end)
      takeBack(header, location, index)
      return .unwanted
    }
    finishRetiring(index)
    return .published
  }

  /// To be called by the index's changer. What is moved is looked at when it is inserted.
  func mayReplace(
    _ header: RecordHeader, _ replacing: Replaceable, _ index: Index
  ) throws(StoreFault) -> Bool {
    switch replacing {
    case .any, .moved: true
    case .earlier: try isLatest(header, index)
    case .askedBefore(let moment): try mayReplace(header, moment, index)
    }
  }

  /// Whether the index names a record already, which must not seem to be in its own way then: what changes the index is done
  /// once more when it is made anew at that moment.
  func isPublished(
    _ header: RecordHeader, _ location: Location, _ index: Index, _ replacing: Replaceable
  ) -> Bool {
    if case .any = replacing { return false }
    return index.find(header.hash)?.slot.location == location
  }

  /// Retires a record that isn't to be published; whoever looked through the packs may have found it meanwhile. To be called
  /// by the index's changer.
  private func takeBack(_ header: RecordHeader, _ location: Location, _ index: Index) {
    _ = index.remove(header.hash, at: location)
    retire(location, header.hash)
  }

  /// Retires what was replaced or removed, by this one or by one who was killed meanwhile. To be called by the index's changer:
  /// who looks through the packs must not find it again.
  func finishRetiring(_ index: Index) {
    guard let (location, hash) = index.retiring else { return }
    let isNamed = index.find(hash)?.slot.location == location
    guard !index.isBroken else { return }
    if !isNamed { retire(location, hash) }
    if settle() { index.forgetRetiring() }
  }

  /// Whether no record of the same key is as late as this one, which has its sequence from before; sees to it that later
  /// ones get higher ones also when the index was made anew meanwhile. To be called by the index's changer.
  func isLatest(_ header: RecordHeader, _ index: Index) throws(StoreFault) -> Bool {
    index.raise(nextSequence: header.sequence &+ 1)
    guard header.sequence >= index.clearedBefore else { return false }
    let record = try doing("looking at a pack") { () throws(SystemFault) in try named(header.hash, index) }
    guard let record, !record.isRetired else { return true }
    return record.header.sequence < header.sequence
  }

  /// The record that the index names, if it is there. That its pack can't be had at the moment is an error: nobody knows then
  /// whether it is later than another one.
  func named(_ hash: KeyHash, _ index: Index) throws(SystemFault) -> RecordHeader.Found? {
    guard let location = index.find(hash)?.slot.location else { return nil }
    var pack = shelf.pin(location.pack)?.pack
    if pack == nil {
      do throws(SystemFault) { pack = try Pack(location.pack, directory, shelf.pinned) } catch {
        // It can't be read for good; as if it weren't there.
        guard error.number != EIO else { return nil }
        throw error
      }
    }
    guard let record = pack?.record(at: location.offset), record.header.hash == hash else {
      if let pack, pack.isBroken { throw SystemFault(EIO) }
      return nil
    }
    return record
  }

  /// Inserts, into a larger index when there is no room, which then is the index. To be called by the index's changer.
  func insertOrGrow(
    _ index: inout Index, _ header: RecordHeader, _ location: Location,
    used: (place: Int, bytes: Int)? = nil, only: Location? = nil
  ) throws(StoreFault) -> Index.Change {
    for _ in 0..<8 {
      let change = index.insert(header.hash, header.kind, location, used: used, only: only)
      if case .done = change { return change }
      guard let larger = try grown(index) else { break }
      index = larger
    }
    return .full
  }

  private func place(of writer: PackWriter, _ index: Index) -> Int? {
    guard !writer.isElsewhere else { return nil }
    if writer.place >= 0, writer.place < index.packCapacity,
      nhs_load32(index.entry(writer.place)) == writer.header.number
    {
      return writer.place
    }
    guard let entry = index.entry(of: writer.header.number) else { return nil }
    writer.place = entry.place
    return entry.place
  }

  /// Takes a record out. False when there was none. When it throws `io`, the record is out, but an index that is made anew
  /// could bring it back.
  func remove(_ key: RecordKey) throws(StoreFault) -> Bool {
    var wasThere = false
    try changing { (index) throws(StoreFault) in
      try takeInLeftBehind(index)
      switch index.remove(key.hash) {
      case .absent: break
      case .removed: wasThere = true
      case .unwritable: throw Self.indexIsFull
      }
      finishRetiring(index)
    }
    guard settle() else { throw StoreFault(.io, "a removed record can't be marked in its pack") }
    return wasThere
  }

  /// Marks a record in its pack, so that no new index brings it back. Only if there is one of this hash: a damaged
  /// index must not make us write into somebody's payload.
  func retire(_ location: Location, _ hash: KeyHash) {
    guard !directory.isReading else { return }
    if !isRetired(location, hash) { retirements.with { unsettled[location] = hash } }
  }

  /// Whether a record should be retired, but couldn't be yet.
  func isToBeRetired(_ location: Location) -> Bool {
    retirements.with { unsettled[location] != nil }
  }

  /// Retires what couldn't be retired before. False when something is left.
  @discardableResult
  func settle() -> Bool {
    retirements.with {
      if !unsettled.isEmpty { unsettled = unsettled.filter { !isRetired($0.key, $0.value) } }
      return unsettled.isEmpty
    }
  }

  /// Whether the record is retired now, or isn't there.
  private func isRetired(_ location: Location, _ hash: KeyHash) -> Bool {
    guard let pin = shelf.pin(location.pack) else { return isNoPack(location.pack) }
    // What isn't found in a pack that can be read isn't there.
    guard let record = pin.pack.record(at: location.offset), record.header.hash == hash, !record.isRetired
    else { return !pin.pack.isBroken }
    var mark = [UInt8](repeating: 0, count: 4)
    mark.withUnsafeMutableBytes { $0.store(RecordHeader.retired, at: 0) }
    do throws(SystemFault) {
      let (fd, _) = try directory.openFile(directory.packs, PackName.of(location.pack), O_RDWR)
      defer { system.close(fd) }
      try system.write(mark, to: fd, at: Int64(location.offset))
      return true
    } catch {
      return error.number == ENOENT
    }
  }

  /// Whether there is no pack of this number, or only a file that nobody takes for one: nothing will come back from it. That it
  /// can't be opened or read at the moment says nothing.
  private func isNoPack(_ number: UInt32) -> Bool {
    do throws(SystemFault) { return try Pack(number, directory, shelf.pinned) == nil } catch { return false }
  }
}
