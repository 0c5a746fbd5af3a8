import CSystem
import Glibc
import NuthatchBase
import Synchronization

/// Appends records of one family to packs and publishes them in the index. Its lock allows one thread at a time, hence
/// Sendable. Take it before the index lock.
final class PackAppender: @unchecked Sendable {
  let family: Family
  private let directory: StoreDirectory
  private let locks: DirectoryLocks
  private let openPacks: OpenPacks
  private let changer: IndexChanger
  private let retired: RetiredRecords
  private let due: DueRemovals
  private let killed: KilledWriters
  private let lock = WordLock()
  // Guarded by `lock`: the pack that this process appends to, or nil.
  private(set) var writer: PackWriter?
  // The largest size of a new pack to try: smaller after the disk had no room for one, larger after it had.
  private var fitting = Int.max
  // The turn of new packs (`PackHeader`).
  private let turn = Atomic<UInt32>(0)
  private let large: LargeRecord

  init(
    _ family: Family, _ directory: StoreDirectory, _ locks: DirectoryLocks, _ openPacks: OpenPacks,
    _ changer: IndexChanger, _ retired: RetiredRecords, _ due: DueRemovals, _ killed: KilledWriters
  ) {
    self.family = family
    self.directory = directory
    self.locks = locks
    self.openPacks = openPacks
    self.changer = changer
    self.retired = retired
    self.due = due
    self.killed = killed
    large = LargeRecord(directory: directory, locks: locks, openPacks: openPacks, changer: changer)
  }

  /// The result of an attempt to append a record.
  enum Appending {
    /// Nil if the record may not replace the stored one, or was removed meanwhile.
    case done(Lease?)
    /// There is no room for a new pack of this many bytes.
    case needsRoom(Int)
  }

  /// Appends and publishes a record. It gets a new sequence number unless it has one.
  ///
  /// - Parameter mayExceed: whether a new pack may exceed the disk limit.
  func append(
    _ header: inout RecordHeader, _ key: [UInt8], _ parts: [UnsafeRawBufferPointer],
    replacing: Replaceable, mayExceed: Bool
  ) throws(StoreFault) -> Appending {
    try locked { () throws(StoreFault) in
      try appendLocked(&header, key, parts, replacing: replacing, mayExceed: mayExceed)
    }
  }

  private func appendLocked(
    _ header: inout RecordHeader, _ key: [UInt8], _ parts: [UnsafeRawBufferPointer],
    replacing: Replaceable, mayExceed: Bool
  ) throws(StoreFault) -> Appending {
    if changer.current.limits.needsOwnPack(header) {
      return try large.append(&header, key, parts, replacing: replacing)
    }
    var fault = StoreFault(.io, "a record was written, but its pack can't be mapped or was deleted")
    var removed: Lease?
    // A concurrent `clear` can delete a pack between writing and publishing; then use the next one.
    for _ in 0..<3 {
      removed = nil
      let room = RecordHeader.size + key.count + 128 + header.payloadLength
      guard let writer = try writer(with: room, for: header, mayExceed: mayExceed) else {
        return .needsRoom(capacity(room))
      }
      // Pin the pack before publishing the record: after that, any process may drop the pack.
      guard let pin = openPacks.pin(writer.header) else {
        self.writer = nil
        continue
      }
      if header.sequence == 0 { header.sequence = changer.takeSequence() }
      guard header.sequence != 0 else { throw IndexChanger.indexIsFull }
      let location = Location(pack: writer.header.number, offset: writer.end)
      let before = changer.losses
      var end: Int?
      func write() throws(StoreFault) -> Int {
        try explaining("can't write a record to its pack") { () throws(SystemFault) in
          try key.span.bytes.withUnsafeBytes { (bytes) throws(SystemFault) in
            try writer.append(header, key: bytes, parts)
          }
        }.end
      }
      let outcome: Outcome
      do throws(StoreFault) {
        if case .moved(let old) = replacing {
          // Write it with the index lock held. Otherwise a removal could come between writing and publishing; if this process
          // were killed then, the copy would remain.
          outcome = try changer.changing { (index) throws(StoreFault) -> Outcome in
            guard
              index.find(header.hash)?.slot.location == old
                || end != nil && replacing.isPublished(header, location, index)
            else { return .unwanted }
            if end == nil { end = try write() }
            return try publish(
              index, header, location, writer: writer, end: end ?? location.offset, replacing: replacing)
          }
        } else {
          let written = try write()
          end = written
          outcome = try changer.changing { (index) throws(StoreFault) -> Outcome in
            try publish(index, header, location, writer: writer, end: written, replacing: replacing)
          }
        }
      } catch {
        if end != nil, changer.hasLost(since: before) {
          // The index in the file may contain this change, and then the next process that changes the index completes it. That
          // process, or the next writer of the pack, treats the record like one of a killed writer.
          self.writer = nil
          throw error
        }
        // The commit fails, so a later writer of the pack must not publish the record. Its bytes stay, because a shorter record
        // in its place would leave a part of it behind.
        if let record = pin.pack.record(at: location.offset), record.header.hash == header.hash {
          retired.add(location, header.hash)
          writer.advance(to: record.end)
        }
        if end != nil { throw error }
        guard error.kind == .io else { throw error }
        // The disk may have a bad block here: let no process append to this pack any more.
        changer.current.follow(error)
        fault = error
        try seal()
        continue
      }
      switch outcome {
      case .published: return .done(Lease(pin, header, at: location.offset))
      case .unwanted: return .done(nil)
      case .packIsGone:
        if case .moved = replacing { return .done(nil) }
        self.writer = nil
        removed = Lease(pin, header, at: location.offset)
      }
    }
    // The last pack, too, was deleted before the record was published. The record counts as stored and removed.
    if let removed { return .done(removed) }
    throw fault
  }

  /// Runs `body` with the appender's lock held.
  ///
  /// - Throws: `readOnly`; `busy` if another thread holds the lock for too long because it waits for another process.
  private func locked<Result>(_ body: () throws(StoreFault) -> Result) throws(StoreFault) -> Result {
    try directory.checkWritable()
    return try lock.withLock(orThrow: locks.busy(.index), body)
  }

  /// Ends appending to this process's pack.
  func sealNow() throws(StoreFault) { try locked { () throws(StoreFault) in try seal() } }

  /// Runs `body`. Records that are appended meanwhile go to a new pack with this turn (`PackHeader`).
  func taking<Result>(
    turn: UInt32, _ body: () throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result {
    try sealNow()
    self.turn.store(turn, ordering: .relaxed)
    let result: Result
    do throws(StoreFault) { result = try body() } catch {
      // If this fails, too, later records go to that pack, and are only dropped earlier.
      try? endTurn()
      throw error
    }
    try endTurn()
    return result
  }

  private func endTurn() throws(StoreFault) {
    turn.store(0, ordering: .relaxed)
    try sealNow()
  }

  /// Unmaps the window. Does nothing if the lock isn't free in time; the next memory pressure signal tries again.
  func closeWindow() { try? locked { writer?.closeWindow() } }

  /// Releases the pack and the room reserved in it. If the lock isn't free in time, the next process that opens the directory
  /// frees that room.
  func release() {
    try? locked {
      writer?.freeUnusedRoom()
      writer = nil
    }
  }

  /// The result of publishing a written record.
  enum Outcome {
    case published
    /// The record may not replace the stored one, or was removed meanwhile.
    case unwanted
    case packIsGone
  }

  /// Publishes a written record in the index. Call it with the index lock held.
  private func publish(
    _ index: Index, _ header: RecordHeader, _ location: Location, writer: PackWriter, end: Int,
    replacing: Replaceable
  ) throws(StoreFault) -> Outcome {
    guard let place = place(of: writer, index) else { return .packIsGone }
    let isRemoved = replacing.moment.map { !index.isCurrent($0) || due.take($0) } ?? false
    if !isRemoved, replacing.isPublished(header, location, index) {
      writer.advance(to: end)
      index.set(place, used: end)
      return .published
    }
    guard !isRemoved, try replacing.allows(header, index, openPacks) else {
      writer.advance(to: end)
      index.set(place, used: end)
      withdraw(header, location, index)
      return .unwanted
    }
    var only: Location?
    if case .moved(let location) = replacing { only = location }
    var index = index
    let inserted = try changer.insertOrGrow(&index, header, location, used: (place, end), only: only)
    guard case .done(let replaced) = inserted else { throw IndexChanger.hasNoRoom }
    // Even if only the index has grown, the bytes in the pack are used.
    writer.advance(to: end)
    if only != nil, replaced == nil {
      index.set(place, used: end)
      withdraw(header, location, index)
      return .unwanted
    }
    changer.finishRetiring(index)
    return .published
  }

  /// Retires a record that must not be published, and removes it from the index: a scan of the packs may have indexed it
  /// meanwhile. Call it with the index lock held.
  private func withdraw(_ header: RecordHeader, _ location: Location, _ index: Index) {
    _ = index.remove(header.hash, at: location)
    retired.add(location, header.hash)
  }

  private func place(of writer: PackWriter, _ index: Index) -> Int? {
    if writer.place >= 0, writer.place < index.packCapacity,
      nhs_load32(index.entry(writer.place)) == writer.header.number
    {
      return writer.place
    }
    guard let entry = index.entry(of: writer.header.number) else { return nil }
    writer.place = entry.place
    return entry.place
  }

  // MARK: The pack

  /// Returns a writer with room: the present one, one for a pack that another process began and left, or one for a new pack.
  /// Nil if a new pack would exceed the limit and `mayExceed` is false.
  func writer(
    with room: Int, for header: RecordHeader, mayExceed: Bool
  ) throws(StoreFault) -> PackWriter? {
    if let writer {
      if writer.hasRoom(keyLength: header.keyLength, payloadLength: header.payloadLength) { return writer }
      try seal()
    }
    writer = try changer.changing { (index) throws(StoreFault) -> PackWriter? in
      // Moved records keep the turn of their old pack, so they go to a new pack, which has that turn.
      var writer = turn.load(ordering: .relaxed) == 0 ? try adopt(index, room) : nil
      if writer == nil {
        guard mayExceed || changer.current.limits.hasRoom(index, for: capacity(room)) else { return nil }
        writer = try newPack(index, room)
      }
      // Map it now: without the index lock, other processes may delete it.
      if let writer { _ = openPacks.pin(writer.header) }
      return writer
    }
    return writer
  }

  /// Returns the size of a new pack.
  private func capacity(_ room: Int) -> Int {
    max(Self.leastCapacity(room), min(changer.current.limits.packCapacity, fitting))
  }

  private static func leastCapacity(_ room: Int) -> Int {
    max(Limits.leastPack, (PackHeader.size + room + 4095) & ~4095)
  }

  private func seal() throws(StoreFault) {
    guard let writer else { return }
    self.writer = nil
    writer.freeUnusedRoom()
    try changer.changing { (index) throws(StoreFault) in
      if let entry = index.entry(of: writer.header.number) { index.set(entry.place, family, .sealed) }
    }
  }

  /// Makes a new pack, or a smaller one if the disk has no room.
  private func newPack(_ index: Index, _ room: Int) throws(StoreFault) -> PackWriter {
    // With a damaged limit, a pack could be so large that it fills the disk.
    if let kept = Limits.kept(directory), kept != index.limit { index.set(limit: kept) }
    let least = Self.leastCapacity(room)
    var capacity = self.capacity(room)
    while true {
      do throws(StoreFault) {
        let writer = try newPack(index, capacity: capacity)
        // The next one may be larger again.
        fitting = min(changer.current.limits.packCapacity, capacity) * 4
        return writer
      } catch {
        guard error.kind == .noSpace else { throw error }
        fitting = capacity
        guard capacity > least else { throw error }
        capacity = max(least, capacity / 4 & ~4095)
      }
    }
  }

  private func newPack(_ index: Index, capacity: Int) throws(StoreFault) -> PackWriter {
    let writer = try explaining("can't create a pack") { () throws(SystemFault) -> PackWriter in
      for _ in 0..<100 {
        do throws(SystemFault) {
          guard let number = locks.file.takePackNumber(index) else { throw SystemFault(ENOSPC) }
          return try PackWriter.make(
            directory, family, number, capacity: capacity, turn: turn.load(ordering: .relaxed))
        } catch  where error.number == EEXIST {
          // A pack has this number: the index was made by a version that can't read it, or its numbers are damaged.
        }
      }
      throw SystemFault(EEXIST)
    }
    _ = try changer.register(index, writer.header, .open, used: PackHeader.size) { writer.place = $0 }
    return writer
  }

  private func adopt(_ index: Index, _ room: Int) throws(StoreFault) -> PackWriter? {
    for entry in index.packs
    where entry.family == family && entry.state == .open && entry.capacity - entry.used >= room {
      guard let pin = openPacks.pin(entry.number), !PackWriter.isBusy(directory, entry.number) else {
        continue
      }
      let writer: PackWriter?
      do throws(StoreFault) {
        writer = try explaining("can't reserve room in a pack") { () throws(SystemFault) in
          // A pack that can't be read isn't adopted.
          try PackWriter.adopt(directory, entry, pin.pack) {
            try? killed.publishComplete(index, entry, pin.pack)
          }
        }
      } catch {
        // There may still be room for a small new pack.
        guard error.kind == .noSpace else { throw error }
        continue
      }
      if let writer, writer.hasRoom(keyLength: 0, payloadLength: room) { return writer }
    }
    return nil
  }
}
