import CSystem
import Glibc

extension SharedStore {
  /// A record that was looked up in this session before. Nil when that has to be looked at more closely.
  ///
  /// Of few instructions, so that the processor looks for the next record while it waits for this one.
  @inline(__always)
  func known(_ kind: RecordKind, _ hash: KeyHash, _ name: UnsafeRawBufferPointer) -> Lease? {
    let shard = shelf.ownShard
    shard.lock()
    let held = known(hash, shard)
    shard.unlock()
    guard let held else { return nil }
    let pin = held.pin.takeRetainedValue()
    return pin.match(at: held.offset, kind, name).map { Lease(pin, $0) }
  }

  /// Where a record is that was looked up in this session, with its pack, retained. To be called by who stands in the shard.
  @inline(__always)
  private func known(_ hash: KeyHash, _ shard: Shard) -> (pin: Unmanaged<PackPin>, offset: Int)? {
    guard let pointer = UnsafeRawPointer(bitPattern: currentIndex.load(ordering: .acquiring)) else {
      return nil
    }
    return Unmanaged<Index>.fromOpaque(pointer)._withUnsafeGuaranteedRef { index in
      var slot = nhs_slot()
      guard !isOutdated(index), !due.areAny,
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

  /// - Parameter most: how long a payload may be that is checked.
  @inline(never)
  func lookupSlowly(_ key: RecordKey, checking most: Int = .max) -> Lookup {
    guard !due.take(key.hash) else { return .nothing }
    let sight = look(key.hash)
    if let found = sight.found {
      return take(sight, found, key, most) ?? lookAgain(key, after: found.slot.location, most)
    }
    return sight.isOutdated ? lookAgain(key, after: nil, most) : .nothing
  }

  /// What a slot says may be overtaken by a writer before the record is read; then the slot says something new.
  private func lookAgain(_ key: RecordKey, after location: Location?, _ most: Int) -> Lookup {
    var tried = location
    for _ in 0..<8 {
      if let index, isOutdated(index) { catchUp() }
      // If it can't be caught up with, the old one has to do.
      let sight = look(key.hash, isLenient: true)
      guard let found = sight.found else { return .nothing }
      if found.slot.location == tried {
        // Nobody takes over what it retains.
        sight.pin?.release()
        break
      }
      if let result = take(sight, found, key, most) { return result }
      tried = found.slot.location
    }
    // The index names what isn't there: somebody may have deleted everything.
    followLock()
    return .nothing
  }

  /// What a reader saw of the index.
  fileprivate struct Sight {
    /// The index's identity.
    var index: UInt64 = 0
    var session: UInt32 = 0
    var found: Index.Found?
    /// Retained.
    var pin: Unmanaged<PackPin>?
    var isOutdated = false
  }

  /// Finds a key and holds its pack, all while standing in a shard.
  private func look(_ hash: KeyHash, isLenient: Bool = false) -> Sight {
    reading { index, _, shard in
      var sight = Sight()
      guard isLenient || !isOutdated(index) else {
        sight.isOutdated = true
        return sight
      }
      // Its successor can't be opened at the moment, and everything was removed.
      if isLenient, index.isCleared { return sight }
      // One that broke has zeros, and what this process alone wrote since.
      guard let found = index.find(hash), !index.isBroken else { return sight }
      sight.index = index.identity
      sight.session = index.session
      sight.found = found
      sight.pin = shard.held(found.slot.location.pack)?.retain()
      return sight
    } ?? Sight()
  }

  /// The record, if it is where the index says that it is.
  func lookup(_ key: RecordKey, at location: Location) -> Lease? {
    let sight = look(key.hash, isLenient: true)
    guard let found = sight.found else { return nil }
    let lease = take(sight, found, key)?.lease
    return found.slot.location == location ? lease : nil
  }

  /// What the sight leads to; nil when it isn't what is looked for. Takes over what the sight retains.
  private func take(_ sight: Sight, _ found: Index.Found, _ key: RecordKey, _ most: Int = .max) -> Lookup? {
    guard let pin = sight.pin?.takeRetainedValue() ?? shelf.open(found.slot.location.pack) else { return nil }
    let isChecked = found.slot.session == sight.session && !pin.isDistrusted
    let match =
      isChecked
      ? key.bytes.withUnsafeBytes { pin.match(at: found.slot.location.offset, key.kind, $0) }
      : checkedMatch(pin, found.slot.location.offset, key, most)
    guard let match else { return nil }
    if !isChecked {
      guard match.length <= most else { return .unchecked(match.length) }
      note(sight) { $0.markChecked(found, session: sight.session) }
    }
    if found.slot.flags & Slot.visited == 0 { note(sight) { $0.visit(found) } }
    // What was mapped when it broke may be zeros; a reader who looks again finds it mapped anew.
    return pin.pack.isBroken ? nil : .found(Lease(pin, match))
  }

  /// The record, whose payload's checksum holds. All of it is read from the file before anything is touched in memory,
  /// because an error of the disk is an error there, while through the mapping it would end the process. Mostly by one call.
  /// A payload that is longer than `most` is left unchecked.
  private func checkedMatch(_ pin: PackPin, _ offset: Int, _ key: RecordKey, _ most: Int) -> nhs_record? {
    let head = RecordHeader.size + key.bytes.count
    guard offset >= 0, head <= pin.bytes.count - offset,
      let fd = checkedFile.take(pin.pack.header.number, directory)
    else { return nil }
    var isHere = false
    let match = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 64) { buffer -> nhs_record? in
      var (count, wasOne) = (0, true)
      while count < head {
        wasOne = count == 0
        let some = UnsafeMutableRawBufferPointer(
          rebasing: buffer.prefix(min(buffer.count, pin.bytes.count - offset - count)))
        guard let read = try? system.read(fd, some, Int64(offset + count)), read > 0 else { return nil }
        count += read
      }
      guard let match = key.bytes.withUnsafeBytes({ pin.match(at: offset, key.kind, $0) }) else { return nil }
      // Larger ones, and those whose header came in pieces, are read once more.
      let begin = match.payload - offset
      guard wasOne, begin + match.length <= count else { return match }
      isHere = true
      return nhs_hash64(buffer.baseAddress.map { $0 + begin }, match.length, 0) == match.checksum
        ? match : nil
    }
    checkedFile.giveBack(pin.pack.header.number, fd, directory)
    guard let match,
      isHere || match.length > most || isIntact(pin.pack, match.payload, match.length, match.checksum)
    else {
      return nil
    }
    return match
  }

  /// Writes something down about what was seen, if the index is still the same.
  private func note(_ sight: Sight, _ body: (Index) -> Void) {
    reading { index, _, _ in
      if index.identity == sight.index { body(index) }
    }
  }

  /// Whether the payload's checksum holds. Read from the file, because an error of the disk is an error there, while
  /// through the mapping it would end the process.
  func isIntact(_ record: RecordHeader.Found, _ pack: Pack) -> Bool {
    isIntact(pack, record.payload, record.header.payloadLength, record.header.payloadChecksum)
  }

  private func isIntact(_ pack: Pack, _ offset: Int, _ length: Int, _ checksum: UInt64) -> Bool {
    guard length > 0 else { return checksum == nhs_hash64(pack.bytes.baseAddress, 0, 0) }
    guard let fd = checkedFile.take(pack.header.number, directory) else { return false }
    defer { checkedFile.giveBack(pack.header.number, fd, directory) }
    // Most records fit the stack, and need no hasher that takes pieces.
    if length <= 32 << 10 {
      return withUnsafeTemporaryAllocation(byteCount: length, alignment: 64) { buffer in
        guard let isWhole = try? system.readAll(fd, buffer, Int64(offset)), isWhole else { return false }
        return nhs_hash64(buffer.baseAddress, length, 0) == checksum
      }
    }
    let chunk = min(length, 1 << 20)
    guard let memory = malloc(chunk), let hasher = nhs_hasher_new() else { return false }
    defer {
      free(memory)
      nhs_hasher_free(hasher)
    }
    var done = 0
    while done < length {
      let buffer = UnsafeMutableRawBufferPointer(start: memory, count: min(chunk, length - done))
      guard let isWhole = try? system.readAll(fd, buffer, Int64(offset + done)), isWhole else {
        return false
      }
      nhs_hasher_add(hasher, memory, buffer.count)
      done += buffer.count
    }
    return nhs_hasher_value(hasher) == checksum
  }

  /// Sets the visited bit as a hit does. False when there is no such record.
  func touch(_ key: RecordKey) -> Bool {
    guard let index = currentForReading(), let found = index.find(key.hash) else { return false }
    index.visit(found)
    return true
  }
}

extension Lease {
  /// What `match` found, which lies in the pack.
  @inline(__always)
  init(_ pin: PackPin, _ record: nhs_record) {
    self.pin = pin
    unsafeBytes = UnsafeRawBufferPointer(
      start: pin.bytes.baseAddress.map { $0 + record.payload }, count: record.length)
    shape = PayloadShape(record)
    sequence = record.sequence
  }

  /// What was written a moment ago, of which nothing needs to be read for that. Nil when the pack is too short for it.
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
