import CSystem
import Glibc

extension Journal {
  /// Reads what the others have added.
  ///
  /// - Parameter changes: whether this process has the lock. Without it nothing is changed.
  func follow(_ folder: JournalFolder, changes: Bool) throws(StoreFault) {
    try doing("opening the outbox's log") { () throws(SystemFault) in try openLog(folder, changes) }
    // There is none, and none can be made.
    guard log >= 0 else { return }
    try doing("reading the outbox's log") { () throws(SystemFault) in try readOn(folder, changes) }
    guard mustRewrite, changes else { return }
    // The damage has been set aside; when it can't be left out now, it is found, and left out, the next time.
    try? rewrite()
  }

  private func openLog(_ folder: JournalFolder, _ changes: Bool) throws(SystemFault) {
    var found: (Int32, FileStatus)?
    do { found = try folder.openFile("log", folder.isReading ? O_RDONLY : O_RDWR) } catch
      where error.number == ENOENT
    {}
    if let (fd, status) = found {
      if log >= 0, status.inode == inode, status.size >= end { return system.close(fd) }
      try begin(fd, status, folder, changes)
    } else if !changes {
      closeLog()
    } else {
      closeLog()
      try folder.settle(in: directory)
      try replace(folder, [], next: next)
    }
  }

  private func begin(
    _ fd: Int32, _ status: FileStatus, _ folder: JournalFolder, _ changes: Bool
  ) throws(SystemFault) {
    var bytes = [UInt8](repeating: 0, count: JournalHead.length)
    do throws(SystemFault) {
      let isWhole = try system.readAll(fd, &bytes)
      switch isWhole ? JournalHead.read(bytes) : .damaged {
      case .head(let head): return adopt(fd, status.inode, head)
      case .otherVersion: throw SystemFault(EPROTONOSUPPORT)
      case .damaged where !changes: throw SystemFault(EIO)
      case .damaged: try setAside(fd, 0, status.size, folder)
      }
    } catch {
      system.close(fd)
      throw error
    }
    system.close(fd)
    closeLog()
    // Nothing in it could be told. Numbers that its records may have had are not used again.
    try replace(folder, [], next: max(next, UInt64(clamping: time(nil))))
  }

  /// Goes over to a file, of which nothing has been read.
  func adopt(_ fd: Int32, _ inode: UInt64, _ head: JournalHead) {
    closeLog()
    log = fd
    self.inode = inode
    salt = head.salt
    next = max(1, head.next)
    end = Int64(JournalHead.length)
    reader.begin()
  }

  func readOn(_ folder: JournalFolder, _ changes: Bool) throws(SystemFault) {
    let size = try system.status(log).size
    while end < size {
      if let record = try record(at: end, size) {
        end = take(record)
      } else if !changes, !folder.isReading {
        // Somebody may be writing it, or will set it aside.
        return
      } else if let later = try nextRecord(after: end, size) {
        if changes { try setAside(log, end, later, folder) }
        mustRewrite = true
        end = later
      } else {
        // What a kill left there, or somebody is writing.
        if changes { try cut(size, folder) }
        return
      }
    }
  }

  private func take(_ record: (JournalRecord, [UInt8])) -> Int64 {
    let (header, payload) = record
    next = max(next, header.sequence + 1)
    let place = JournalPlace(offset: end, length: header.length, sequence: header.sequence)
    payload.withUnsafeBytes { reader.take($0, at: place) }
    return JournalRecord.end(end, header.length)
  }

  /// A whole record at a place; nil when there is none.
  func record(at offset: Int64, _ size: Int64) throws(SystemFault) -> (JournalRecord, [UInt8])? {
    guard let header = try header(at: offset),
      header.length <= size - offset - Int64(JournalRecord.size)
    else { return nil }
    var payload = [UInt8](repeating: 0, count: header.length)
    guard try system.readAll(log, &payload, offset + Int64(JournalRecord.size)) else { return nil }
    return payload.withUnsafeBytes { header.holds($0, salt: salt) } ? (header, payload) : nil
  }

  private func header(at offset: Int64) throws(SystemFault) -> JournalRecord? {
    var bytes = [UInt8](repeating: 0, count: JournalRecord.size)
    guard try system.readAll(log, &bytes, offset) else { return nil }
    return bytes.withUnsafeBytes { JournalRecord($0, salt: salt, at: offset) }
  }

  /// Where a whole record begins beyond damage.
  private func nextRecord(after start: Int64, _ size: Int64) throws(SystemFault) -> Int64? {
    var window = start + 8
    var bytes = [UInt8](repeating: 0, count: 65_536 + JournalRecord.size)
    while window + Int64(JournalRecord.size) <= size {
      let count = Int(min(Int64(bytes.count), size - window))
      var part = [UInt8](repeating: 0, count: count)
      guard try system.readAll(log, &part, window) else { return nil }
      bytes = part
      for place in stride(from: 0, through: count - JournalRecord.size, by: 8) {
        let offset = window + Int64(place)
        let mayBegin = bytes.withUnsafeBytes {
          JournalRecord(UnsafeRawBufferPointer(rebasing: $0[place...]), salt: salt, at: offset) != nil
        }
        if mayBegin, try record(at: offset, size) != nil { return offset }
      }
      guard count > JournalRecord.size else { return nil }
      window += Int64(((count - JournalRecord.size) / 8 + 1) * 8)
    }
    return nil
  }

  /// Takes away what follows the last whole record. What a kill left there, nobody was told of; what is as long as it says, but
  /// wrong, may have been promised, and is kept.
  private func cut(_ size: Int64, _ folder: JournalFolder) throws(SystemFault) {
    let found = try header(at: end)
    let isWholeLength = found.map { JournalRecord.end(end, $0.length) <= size } ?? false
    let isOther = found == nil ? try hasBytes(from: end, size) : false
    if isWholeLength || isOther { try setAside(log, end, size, folder) }
    try system.resize(log, end)
  }

  /// Whether more is there than the beginning of one record that was being written.
  private func hasBytes(from start: Int64, _ size: Int64) throws(SystemFault) -> Bool {
    guard size - start >= Int64(JournalRecord.size) else { return false }
    var bytes = [UInt8](repeating: 0, count: Int(min(size - start, 65_536)))
    guard try system.readAll(log, &bytes, start) else { return false }
    return bytes.contains { $0 != 0 }
  }

  /// Copies bytes into a file of their own, once.
  private func setAside(
    _ fd: Int32, _ from: Int64, _ to: Int64, _ folder: JournalFolder
  ) throws(SystemFault) {
    var bytes = [UInt8](repeating: 0, count: Int(min(max(0, to - from), 64 << 20)))
    guard try system.readAll(fd, &bytes, from) else { throw SystemFault(EIO) }
    let sum = bytes.withUnsafeBytes { nhs_hash64($0.baseAddress, $0.count, UInt64(from)) }
    let name = "damaged-" + String(sum, radix: 16)
    if !asides.contains(name) { asides.append(name) }
    let copy: Int32
    do {
      copy = try folder.openFile(name, O_WRONLY | O_CREAT | O_EXCL).0
    } catch  where error.number == EEXIST {
      return
    }
    defer { system.close(copy) }
    do throws(SystemFault) {
      try system.write(bytes, to: copy, at: 0)
      try system.sync(copy)
    } catch {
      try? folder.remove(name)
      throw error
    }
  }
}

extension SystemCalls {
  fileprivate func readAll(
    _ fd: Int32, _ bytes: inout [UInt8], _ offset: Int64 = 0
  ) throws(SystemFault) -> Bool {
    var fault: SystemFault?
    var isWhole = false
    bytes.withUnsafeMutableBytes {
      do throws(SystemFault) { isWhole = try readAll(fd, $0, offset) } catch { fault = error }
    }
    if let fault { throw fault }
    return isWhole
  }
}
