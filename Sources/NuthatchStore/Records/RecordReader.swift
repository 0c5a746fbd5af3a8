import CSystem

/// Finds the record of a key in the packs: the index names its place, and the record's own key is compared.
///
/// A lookup takes one search of the index, one shard and one C call.
final class RecordReader: Sendable {
  private let current: CurrentIndex
  private let openPacks: OpenPacks
  private let checker: PayloadChecker
  private let due: DueRemovals

  init(_ current: CurrentIndex, _ openPacks: OpenPacks, _ checker: PayloadChecker, _ due: DueRemovals) {
    self.current = current
    self.openPacks = openPacks
    self.checker = checker
    self.due = due
  }

  /// Returns a record that was verified in this session, or nil if the lookup needs more steps (`lookup`).
  ///
  /// It has few instructions, so that the processor can begin the next lookup while it waits for this record's memory.
  @inline(__always)
  func lookupVerified(_ kind: RecordKind, _ hash: KeyHash, _ name: UnsafeRawBufferPointer) -> Lease? {
    let shard = openPacks.ownShard
    shard.lock()
    let held = placeOfVerified(hash, shard)
    shard.unlock()
    guard let held else { return nil }
    let pin = held.pin.takeRetainedValue()
    return pin.match(at: held.offset, kind, name).map { Lease(pin, $0) }
  }

  /// Returns the place of a record that was verified in this session, with its pack, retained. Call it with the shard's lock
  /// held.
  @inline(__always)
  private func placeOfVerified(_ hash: KeyHash, _ shard: ReaderShard) -> (
    pin: Unmanaged<PackPin>, offset: Int
  )? {
    current.seen { index in
      var slot = nhs_slot()
      guard !current.isOutdated(index), !due.areAny,
        nhs_find_slot(
          index.slots, index.slotCount, hash.low, hash.high, &slot) == 1,
        slot.flags & Slot.visited != 0, slot.flags >> 4 & 0xFFF == index.session,
        let pin = shard.held(slot.pack), !pin._withUnsafeGuaranteedRef({ $0.isDistrusted })
      else { return nil }
      let offset = Int(slot.offset) << 3
      pin._withUnsafeGuaranteedRef { $0.prefetch(offset) }
      return (pin.retain(), offset)
    }
  }

  /// - Parameter most: the length in bytes up to which a payload is verified.
  @inline(never)
  func lookup(_ key: RecordKey, checking most: Int) -> Lookup {
    guard !due.take(key.hash) else { return .nothing }
    let sight = look(key.hash)
    if let found = sight.found {
      return take(sight, found, key, most) ?? lookAgain(key, after: found.slot.location, most)
    }
    return sight.isOutdated ? lookAgain(key, after: nil, most) : .nothing
  }

  /// Tries again while the slot has new contents: a writer may change it before the record is read.
  private func lookAgain(_ key: RecordKey, after location: Location?, _ most: Int) -> Lookup {
    var tried = location
    for _ in 0..<8 {
      if let index = current.index, current.isOutdated(index) { current.catchUp() }
      // If this fails, use the old index.
      let sight = look(key.hash, isLenient: true)
      guard let found = sight.found else { return .nothing }
      if found.slot.location == tried {
        // Nothing else releases this pin.
        sight.pin?.release()
        break
      }
      if let result = take(sight, found, key, most) { return result }
      tried = found.slot.location
    }
    // The index names a record that isn't there: the directory may have been deleted.
    current.lookForDeletion()
    return .nothing
  }

  /// The result of a look at the index.
  private struct Sight {
    /// The identity of the index.
    var index: UInt64 = 0
    var session: UInt32 = 0
    var found: Index.Found?
    /// Retained.
    var pin: Unmanaged<PackPin>?
    var isOutdated = false
  }

  /// Finds a key and retains its pack, with a shard's lock held.
  private func look(_ hash: KeyHash, isLenient: Bool = false) -> Sight {
    current.reading { index, shard in
      var sight = Sight()
      guard isLenient || !current.isOutdated(index) else {
        sight.isOutdated = true
        return sight
      }
      // All records were removed, and the new index can't be opened at the moment.
      if isLenient, index.isCleared { return sight }
      // A broken index reads as zeros and this process's own later writes.
      guard let found = index.find(hash), !index.isBroken else { return sight }
      sight.index = index.identity
      sight.session = index.session
      sight.found = found
      sight.pin = shard.held(found.slot.location.pack)?.retain()
      return sight
    } ?? Sight()
  }

  /// Returns the record if it is where the index says.
  func lookup(_ key: RecordKey, at location: Location) -> Lease? {
    let sight = look(key.hash, isLenient: true)
    guard let found = sight.found else { return nil }
    let lease = take(sight, found, key)?.lease
    return found.slot.location == location ? lease : nil
  }

  /// Returns the record of a sight, or nil if it is another one. Takes ownership of the retained pin.
  private func take(_ sight: Sight, _ found: Index.Found, _ key: RecordKey, _ most: Int = .max) -> Lookup? {
    let isChecked = found.slot.session == sight.session
    // Check this before the record is trusted for the rest of the session.
    if !isChecked { current.checkForReadOnly() }
    guard let pin = sight.pin?.takeRetainedValue() ?? openPacks.open(found.slot.location.pack) else {
      return nil
    }
    let isDistrusted = pin.pack.isDistrusted
    let match =
      isChecked || isDistrusted
      ? key.bytes.withUnsafeBytes { pin.match(at: found.slot.location.offset, key.kind, $0) }
      : checker.match(pin, found.slot.location.offset, key, most)
    guard let match else { return nil }
    if isDistrusted {
      guard match.length <= most else { return .unchecked(match.length) }
    } else if !isChecked {
      guard match.length <= most else { return .unchecked(match.length) }
      note(sight) { $0.markChecked(found, session: sight.session) }
    }
    if found.slot.flags & Slot.visited == 0 { note(sight) { $0.visit(found) } }
    // Bytes mapped before the failure may be zeros. The next lookup maps the pack again.
    let lease = isDistrusted ? Lease(copying: pin, match) : Lease(pin, match)
    return pin.pack.isBroken ? nil : lease.map { .found($0) }
  }

  /// Writes a note into the index, if it is still the same one.
  private func note(_ sight: Sight, _ body: (Index) -> Void) {
    current.reading { index, _ in
      if index.identity == sight.index { body(index) }
    }
  }

  /// Returns the record of a key in the packs.
  func find(_ key: RecordKey) -> (lease: Lease, location: Location)? {
    for _ in 0..<8 {
      guard let index = current.forReading(), let found = index.find(key.hash) else { return nil }
      if let lease = lookup(key, at: found.slot.location) { return (lease, found.slot.location) }
    }
    return nil
  }

  /// Returns whether the packs have the answer to a later request. Nil if this is unknown: the record is being moved or removed
  /// at this moment, or the disk fails.
  func hasLaterAnswer(_ key: RecordKey, than number: UInt64) -> Bool? {
    guard current.reading({ index, _ in index.find(key.hash) != nil }) ?? false else { return false }
    return find(key).map { $0.lease.shape.question > number }
  }

  /// Returns whether the packs have a record of this hash. Reads no record.
  func names(_ hash: KeyHash) -> Bool {
    !due.take(hash) && current.reading { index, _ in index.find(hash) != nil && !index.isBroken } ?? false
  }

  /// Whether there may be answers under keys in the form of version 0.1.
  var hasEarlierAnswers: Bool {
    current.reading { index, _ in index.hasEarlier || index.isBroken } ?? false
  }

  /// Sets the visited bit, as a hit does. Returns false if there is no such record.
  func touch(_ key: RecordKey) -> Bool {
    guard let index = current.forReading(), let found = index.find(key.hash) else { return false }
    index.visit(found)
    return true
  }

  @inline(__always)
  func mark(of hash: KeyHash, bringsUpToDate: Bool) -> RecordMark? {
    guard !due.take(hash) else { return nil }
    var isBehind = false
    let mark = current.reading { index, _ -> RecordMark? in
      isBehind = current.isOutdated(index)
      return isBehind ? nil : Self.mark(of: hash, index)
    }
    guard isBehind, bringsUpToDate, let index = current.forReading() else { return mark ?? nil }
    return Self.mark(of: hash, index)
  }

  @inline(__always)
  private static func mark(of hash: KeyHash, _ index: Index) -> RecordMark? {
    guard let found = index.find(hash) else { return nil }
    index.visit(found)
    return RecordMark(
      index: index.identity, pack: found.slot.location.pack, offset: UInt64(found.slot.location.offset))
  }

  func forEach(_ kind: RecordKind?, _ body: (RecordKey, Lease) -> Bool) throws(StoreFault) {
    guard let index = current.forReading() else { return }
    for entry in index.packs {
      guard let pin = openPacks.pin(entry.number),
        var scan = try? PackScan(pin.pack, openPacks.directory, upTo: entry.used)
      else { continue }
      while let record = scan.next() {
        guard !record.isRetired, kind == nil || kind == record.header.kind else { continue }
        let start = record.offset + RecordHeader.size
        let key = RecordKey(
          record.header.kind, Array(pin.pack.bytes[start..<start + record.header.keyLength]))
        // Look it up: a record that the index doesn't name doesn't count.
        guard let lease = lookup(key, at: Location(pack: entry.number, offset: record.offset)) else {
          continue
        }
        if !body(key, lease) { return }
      }
    }
  }
}

extension Lease {
  /// A lease on the record that `match` found, without a copy.
  @inline(__always)
  init(_ pin: PackPin, _ record: nhs_record) {
    self.pin = pin
    unsafeBytes = UnsafeRawBufferPointer(
      start: pin.bytes.baseAddress.map { $0 + record.payload }, count: record.length)
    shape = PayloadShape(record)
    sequence = record.sequence
  }

  /// A lease on a verified copy of the record that `match` found, for packs whose bytes may change at any moment after a disk
  /// failure. Nil if the checksum is wrong.
  init?(copying pin: PackPin, _ record: nhs_record) {
    let lease = Lease(pin, record)
    guard let memory = PrivateMemory([lease.unsafeBytes], count: lease.count),
      nhs_hash64(memory.bytes.baseAddress, lease.count, 0) == record.checksum
    else { return nil }
    self.init(pin: memory, unsafeBytes: memory.bytes, shape: lease.shape, sequence: lease.sequence)
  }

  /// A lease on a record that was just written, without reading it. Nil if the pack is too short.
  init?(_ pin: PackPin, _ header: RecordHeader, at offset: Int) {
    guard
      let extent = RecordHeader.extent(
        at: offset, keyLength: header.keyLength, payloadLength: header.payloadLength),
      extent.payload + header.payloadLength <= pin.bytes.count
    else { return nil }
    self.pin = pin
    unsafeBytes = UnsafeRawBufferPointer(
      rebasing: pin.bytes[extent.payload..<extent.payload + header.payloadLength])
    shape = header.shape
    sequence = header.sequence
  }
}
