import Glibc

/// The file `outbox/log`, open, and the records in it.
///
/// Guarded by the journal's lock.
final class JournalFile {
  let inode: UInt64
  private let system: any SystemCalls
  private let fd: Int32
  private var salt: UInt64 = 0

  /// Takes ownership of the descriptor.
  init(_ opened: (fd: Int32, status: FileStatus), _ system: any SystemCalls) {
    fd = opened.fd
    inode = opened.status.inode
    self.system = system
  }

  deinit { system.close(fd) }

  // MARK: Reading

  /// Reads the head of the file. Without it no record can be read.
  func readHead() throws(SystemFault) -> JournalHead.Reading {
    var bytes = [UInt8](repeating: 0, count: JournalHead.length)
    guard try readAll(&bytes, 0) else { return .damaged }
    let reading = JournalHead.read(bytes)
    if case .head(let head) = reading { salt = head.salt }
    return reading
  }

  func size() throws(SystemFault) -> Int64 { try system.status(fd).size }

  /// Returns the intact record at an offset, or nil.
  func record(at offset: Int64, _ size: Int64) throws(SystemFault) -> (JournalRecord, [UInt8])? {
    guard let header = try header(at: offset),
      header.length <= size - offset - Int64(JournalRecord.size)
    else { return nil }
    var payload = [UInt8](repeating: 0, count: header.length)
    guard try readAll(&payload, offset + Int64(JournalRecord.size)) else { return nil }
    return payload.withUnsafeBytes { header.holds($0, salt: salt) } ? (header, payload) : nil
  }

  func header(at offset: Int64) throws(SystemFault) -> JournalRecord? {
    var bytes = [UInt8](repeating: 0, count: JournalRecord.size)
    guard try readAll(&bytes, offset) else { return nil }
    return bytes.withUnsafeBytes { JournalRecord($0, salt: salt, at: offset) }
  }

  /// Returns the offset of the next intact record after damage, or nil.
  func nextRecord(after start: Int64, _ size: Int64) throws(SystemFault) -> Int64? {
    var window = start + 8
    while window + Int64(JournalRecord.size) <= size {
      let count = Int(min(65_536 + Int64(JournalRecord.size), size - window))
      var bytes = [UInt8](repeating: 0, count: count)
      guard try readAll(&bytes, window) else { return nil }
      for place in stride(from: 0, through: count - JournalRecord.size, by: 8) {
        let offset = window + Int64(place)
        let mayBegin = bytes.withUnsafeBytes {
          JournalRecord(UnsafeRawBufferPointer(rebasing: $0[place...]), salt: salt, at: offset) != nil
        }
        if mayBegin, try record(at: offset, size) != nil { return offset }
      }
      window += Int64(((count - JournalRecord.size) / 8 + 1) * 8)
    }
    return nil
  }

  /// Returns the bytes of a range, at most 64 MiB.
  func bytes(_ from: Int64, _ to: Int64) throws(SystemFault) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(min(max(0, to - from), 64 << 20)))
    guard try readAll(&bytes, from) else { throw SystemFault(EIO) }
    return bytes
  }

  private func readAll(_ bytes: inout [UInt8], _ offset: Int64) throws(SystemFault) -> Bool {
    var span = bytes.mutableSpan
    return try span.withUnsafeMutableBytes { (bytes) throws(SystemFault) in
      try system.readAll(fd, bytes, offset)
    }
  }

  // MARK: Writing

  /// Writes the head of a new file.
  func write(_ head: JournalHead) throws(SystemFault) {
    salt = head.salt
    try system.write(head.bytes, to: fd, at: 0)
  }

  /// Writes a record. Returns the offset of the next one.
  func write(_ payload: [UInt8], sequence: UInt64, at offset: Int64) throws(SystemFault) -> Int64 {
    let header = JournalRecord.bytes(payload, sequence: sequence, salt: salt, at: offset)
    let after = JournalRecord.end(offset, payload.count)
    let padding = [UInt8](repeating: 0, count: Int(after - offset) - header.count - payload.count)
    try system.write(header + payload + padding, to: fd, at: offset)
    return after
  }

  func cut(at end: Int64) throws(SystemFault) { try system.resize(fd, end) }

  func sync() throws(SystemFault) { try system.sync(fd) }
}
