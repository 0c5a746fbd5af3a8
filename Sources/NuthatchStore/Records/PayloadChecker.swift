import CSystem
import Glibc

/// Verifies payloads. It reads them from the file by system calls, which report a disk error. Through the mapping, a disk error
/// would break the mapping.
final class PayloadChecker: Sendable {
  private let directory: StoreDirectory
  private let openPacks: OpenPacks
  private let file = VerifiedPackFile()

  init(_ directory: StoreDirectory, _ openPacks: OpenPacks) {
    self.directory = directory
    self.openPacks = openPacks
  }

  /// Closes the file that was read last, so that a dropped pack takes no room.
  func close() { file.close(directory) }

  /// Returns whether there is a record at this location whose payload has its checksum.
  func isIntact(_ location: Location) -> Bool {
    guard let pin = openPacks.pin(location.pack), let record = pin.pack.record(at: location.offset) else {
      return false
    }
    return isIntact(record, pin.pack)
  }

  /// Returns whether the payload has its checksum.
  func isIntact(_ record: RecordHeader.Found, _ pack: Pack) -> Bool {
    isIntact(pack, record.payload, record.header.payloadLength, record.header.payloadChecksum)
  }

  private func isIntact(_ pack: Pack, _ offset: Int, _ length: Int, _ checksum: UInt64) -> Bool {
    guard length > 0 else { return checksum == nhs_hash64(pack.bytes.baseAddress, 0, 0) }
    guard let fd = file.take(pack.header.number, directory) else { return false }
    defer { file.giveBack(pack.header.number, fd, directory) }
    // Most records fit on the stack and need no incremental hasher.
    if length <= 32 << 10 {
      return withUnsafeTemporaryAllocation(byteCount: length, alignment: 64) { buffer in
        guard let isWhole = try? directory.system.readAll(fd, buffer, Int64(offset)), isWhole else {
          return false
        }
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
      guard let isWhole = try? directory.system.readAll(fd, buffer, Int64(offset + done)), isWhole else {
        return false
      }
      nhs_hasher_add(hasher, memory, buffer.count)
      done += buffer.count
    }
    return nhs_hasher_value(hasher) == checksum
  }

  /// Reads the record, usually with one call, and verifies its payload. A payload longer than `most` is not verified.
  func match(_ pin: PackPin, _ offset: Int, _ key: RecordKey, _ most: Int) -> nhs_record? {
    let head = RecordHeader.size + key.bytes.count
    guard offset >= 0, head <= pin.bytes.count - offset,
      let fd = file.take(pin.pack.header.number, directory)
    else { return nil }
    var isHere = false
    let match = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 64) { buffer -> nhs_record? in
      var (count, wasOne) = (0, true)
      while count < head {
        wasOne = count == 0
        let some = UnsafeMutableRawBufferPointer(
          rebasing: buffer.prefix(min(buffer.count, pin.bytes.count - offset - count)))
        guard let read = try? directory.system.read(fd, some, Int64(offset + count)), read > 0 else {
          return nil
        }
        count += read
      }
      guard let match = key.bytes.withUnsafeBytes({ pin.match(at: offset, key.kind, $0) }) else { return nil }
      // A longer payload, or one whose header came in pieces, is read once more.
      let begin = match.payload - offset
      guard wasOne, begin + match.length <= count else { return match }
      isHere = true
      return nhs_hash64(buffer.baseAddress.map { $0 + begin }, match.length, 0) == match.checksum
        ? match : nil
    }
    file.giveBack(pin.pack.header.number, fd, directory)
    guard let match,
      isHere || match.length > most || isIntact(pin.pack, match.payload, match.length, match.checksum)
    else {
      return nil
    }
    return match
  }
}
