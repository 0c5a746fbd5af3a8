import Glibc

/// Writes a record into a pack of its own, which gets its name when it is complete. Call everything with the lock of the
/// family's appender held.
struct LargeRecord {
  let directory: StoreDirectory
  let locks: DirectoryLocks
  let openPacks: OpenPacks
  let changer: IndexChanger

  func append(
    _ header: inout RecordHeader, _ key: [UInt8], _ parts: [UnsafeRawBufferPointer], replacing: Replaceable
  ) throws(StoreFault) -> PackAppender.Appending {
    if header.sequence == 0 { header.sequence = changer.takeSequence() }
    guard header.sequence != 0 else { throw IndexChanger.indexIsFull }
    // A concurrent `clear` may delete the pack before it is published; then make it again.
    for _ in 0..<3 {
      let (pack, file): (PackHeader, UnfinishedPack)
      switch try writeLarge(header, key, parts) {
      case .made(let header, let unpublished): (pack, file) = (header, unpublished)
      case .needsRoom(let bytes): return .needsRoom(bytes)
      }
      defer { withExtendedLifetime(file) {} }
      do throws(StoreFault) {
        // Pin the pack before publishing the record: after that, any process may drop the pack.
        if let pin = openPacks.pin(pack) {
          switch try publishLarge(header, pack, replacing: replacing) {
          case .published: return .done(Lease(pin, header, at: PackHeader.size))
          case .unwanted:
            discard(pack)
            return .done(nil)
          case .packIsGone: break
          }
        }
      } catch {
        discard(pack)
        throw error
      }
      discard(pack)
    }
    throw StoreFault(.io, "a record was written, but its pack can't be mapped or was deleted")
  }

  /// Deletes a pack whose record isn't published. If that fails, a record is stored although its commit failed.
  private func discard(_ pack: PackHeader) {
    do { try directory.system.unlink(directory.packs, PackName.of(pack.number)) } catch {}
    freeRoom(of: pack.number)
    openPacks.drop { $0 == pack.number }
  }

  /// Removes a pack from the table of packs, where its room counts. If that fails, the next process that drops packs does it.
  private func freeRoom(of number: UInt32) {
    try? changer.changing { index in
      if let entry = index.entry(of: number) { index.drop(entry) }
    }
  }

  private enum LargePack {
    /// While the file is open, no other process takes over or drops the pack.
    case made(PackHeader, UnfinishedPack)
    case needsRoom(Int)
  }

  /// Makes the pack of a large record without publishing the record. The pack is already in the table of packs, so that its room
  /// counts.
  private func writeLarge(
    _ header: RecordHeader, _ key: [UInt8], _ parts: [UnsafeRawBufferPointer]
  ) throws(StoreFault) -> LargePack {
    guard
      let extent = RecordHeader.extent(
        at: PackHeader.size, keyLength: key.count, payloadLength: header.payloadLength)
    else { throw StoreFault(.tooLarge, "the record is too large") }
    let family = header.kind.family
    let capacity = (extent.end + 4095) & ~4095
    for _ in 0..<100 {
      var needsRoom = false
      // Take the number from the current index: the new index would give a number of a replaced one again.
      let begun = try changer.changing {
        (index) throws(StoreFault) -> (file: UnfinishedPack, pack: PackHeader)? in
        needsRoom = !changer.current.limits.hasRoom(index, for: capacity)
        guard !needsRoom else { return nil }
        guard let number = locks.file.takePackNumber(index) else { throw IndexChanger.indexIsFull }
        let file = try explaining("can't create a pack") { () throws(SystemFault) -> UnfinishedPack? in
          do throws(SystemFault) { return try UnfinishedPack(directory, number) } catch
            where error.number == EEXIST
          { return nil }
        }
        guard let file else { return nil }
        let pack = PackHeader(
          family: family, number: number, capacity: capacity, salt: .random(in: .min ... .max))
        _ = try changer.register(index, pack, .open, used: PackHeader.size)
        return (file, pack)
      }
      if needsRoom { return .needsRoom(capacity) }
      guard let (file, pack) = begun else { continue }
      var head = [UInt8](repeating: 0, count: extent.payload - PackHeader.size)
      head.withUnsafeMutableBytes { bytes in
        key.withUnsafeBytes { header.encode(into: bytes, key: $0, at: PackHeader.size, salt: pack.salt) }
      }
      do throws(StoreFault) {
        let isMade = try explaining("can't write a record to its own pack") { () throws(SystemFault) in
          try makeLarge(file, pack, head, parts, at: extent.payload)
        }
        if isMade { return .made(pack, file) }
      } catch {
        freeRoom(of: pack.number)
        throw error
      }
      freeRoom(of: pack.number)
    }
    throw StoreFault(.io, "can't create a pack: 100 pack numbers in a row are in use")
  }

  /// Returns false if a pack with this number exists.
  private func makeLarge(
    _ file: UnfinishedPack, _ pack: PackHeader, _ head: [UInt8], _ parts: [UnsafeRawBufferPointer],
    at payload: Int
  ) throws(SystemFault) -> Bool {
    do throws(SystemFault) { try directory.system.reserve(file.fd, 0, Int64(pack.capacity)) } catch
      where error.number == EOPNOTSUPP
    {
      try directory.system.resize(file.fd, Int64(pack.capacity))
    }
    try directory.system.write(pack.encoded, to: file.fd, at: 0)
    try directory.system.write(head, to: file.fd, at: Int64(PackHeader.size))
    try directory.system.writeAll(file.fd, parts, Int64(payload))
    do throws(SystemFault) { try file.finish() } catch  where error.number == EEXIST { return false }
    return true
  }

  /// Marks a large record's pack as complete. If the index was rebuilt meanwhile, registers the pack again.
  private func seal(_ pack: PackHeader, at end: Int, _ index: Index) throws(StoreFault) -> Index {
    guard let entry = index.entry(of: pack.number) else {
      return try changer.register(index, pack, .sealed, used: end)
    }
    index.set(entry.place, used: end)
    index.set(entry.place, pack.family, .sealed)
    return index
  }

  private func publishLarge(
    _ header: RecordHeader, _ pack: PackHeader, replacing: Replaceable
  ) throws(StoreFault) -> PackAppender.Outcome {
    let location = Location(pack: pack.number, offset: PackHeader.size)
    return try changer.changing { (index) throws(StoreFault) -> PackAppender.Outcome in
      let isThere = try explaining("can't check a pack") { () throws(SystemFault) in
        try directory.isThere(directory.packs, PackName.of(pack.number))
      }
      guard isThere else { return .packIsGone }
      if let moment = replacing.moment, !index.isCurrent(moment) { return .unwanted }
      if replacing.isPublished(header, location, index) { return .published }
      switch replacing {
      case .moved(let old): guard index.find(header.hash)?.slot.location == old else { return .unwanted }
      default: guard try replacing.allows(header, index, openPacks) else { return .unwanted }
      }
      let extent = RecordHeader.extent(
        at: location.offset, keyLength: header.keyLength, payloadLength: header.payloadLength)
      var index = try seal(pack, at: extent?.end ?? pack.capacity, index)
      guard case .done = try changer.insertOrGrow(&index, header, location) else {
        throw IndexChanger.hasNoRoom
      }
      changer.finishRetiring(index)
      return .published
    }
  }
}
