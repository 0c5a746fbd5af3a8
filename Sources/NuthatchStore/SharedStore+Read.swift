import CSystem
import Glibc

extension SharedStore {
  /// The record, in place. Whatever doesn't match is a miss.
  func lookup(_ key: RecordKey) -> Lease? {
    let lease = find(key)
    counts.add(lease == nil ? .misses : .hits)
    return lease
  }

  private func find(_ key: RecordKey) -> Lease? {
    // What a slot says may be overtaken by a writer before the record is read; then the slot says something new.
    for _ in 0..<8 {
      guard let index = currentForReading(), let found = index.find(key.hash) else { return nil }
      if let lease = lease(index, found, key) {
        index.visit(found)
        return lease
      }
      guard let now = currentForReading(), now === index else { continue }
      guard let again = index.find(key.hash), again.slot.location != found.slot.location else { return nil }
    }
    return nil
  }

  /// The record, if this is where the index says that it is. Counts neither as a hit nor as a miss.
  func lookup(_ key: RecordKey, at location: Location) -> Lease? {
    guard let index = currentForReading(), let found = index.find(key.hash), found.slot.location == location
    else {
      return nil
    }
    return lease(index, found, key)
  }

  private func lease(_ index: Index, _ found: Index.Found, _ key: RecordKey) -> Lease? {
    guard let pin = shelf.pin(found.slot.location.pack),
      let record = pin.pack.record(at: found.slot.location.offset), !record.isRetired,
      record.header.kind == key.kind, record.header.keyLength == key.bytes.count,
      let base = pin.pack.bytes.baseAddress,
      key.bytes.withUnsafeBytes({ bytes in
        guard let wanted = bytes.baseAddress else { return false }
        return memcmp(base + record.offset + RecordHeader.size, wanted, bytes.count) == 0
      })
    else { return nil }
    let session = index.session
    if found.slot.session != session {
      guard isIntact(record, pin.pack) else { return nil }
      index.markChecked(found, session: session)
    }
    return Lease(pin, record)
  }

  /// Whether the payload's checksum holds. Read from the file, because an error of the disk is an error there, while
  /// through the mapping it would end the process.
  func isIntact(_ record: RecordHeader.Found, _ pack: Pack) -> Bool {
    let length = record.header.payloadLength
    guard length > 0 else { return record.header.payloadChecksum == nhs_hash64(pack.bytes.baseAddress, 0, 0) }
    guard let (fd, _) = try? directory.openFile(directory.packs, PackName.of(pack.header.number), O_RDONLY)
    else {
      return false
    }
    defer { system.close(fd) }
    let chunk = min(length, 1 << 20)
    guard let memory = malloc(chunk), let hasher = nhs_hasher_new() else { return false }
    defer {
      free(memory)
      nhs_hasher_free(hasher)
    }
    var done = 0
    while done < length {
      let buffer = UnsafeMutableRawBufferPointer(start: memory, count: min(chunk, length - done))
      guard let isWhole = try? system.readAll(fd, buffer, Int64(record.payload + done)), isWhole else {
        return false
      }
      nhs_hasher_add(hasher, memory, buffer.count)
      done += buffer.count
    }
    return nhs_hasher_value(hasher) == record.header.payloadChecksum
  }

  /// Sets the visited bit as a hit does. False when there is no such record.
  func touch(_ key: RecordKey) -> Bool {
    guard let index = currentForReading(), let found = index.find(key.hash) else { return false }
    index.visit(found)
    return true
  }
}

extension Lease {
  @inline(__always)
  init(_ pin: PackPin, _ record: RecordHeader.Found) {
    self.pin = pin
    unsafeBytes = UnsafeRawBufferPointer(
      rebasing: pin.pack.bytes[record.payload..<record.payload + record.header.payloadLength])
    shape = record.header.shape
    sequence = record.header.sequence
  }
}
