import CSystem
import Glibc

/// The records of a journal that this process has read, and the place of the next one.
///
/// Guarded by the journal's lock.
final class JournalLog {
  private let reader: any JournalReader
  private var file: JournalFile?
  /// The end of the records that were read.
  private var end: Int64 = 0
  /// The sequence number of the next record.
  private(set) var next: UInt64 = 1
  /// The files to which this process has copied damaged bytes.
  private(set) var asides: [String] = []
  private var mustRewrite = false

  init(_ reader: any JournalReader) { self.reader = reader }

  var isOpen: Bool { file != nil }

  func close() { file = nil }

  /// The names of the bodies that the records refer to.
  var bodies: Set<String> { reader.bodies }

  // MARK: Reading

  /// Reads the records that other processes have added.
  ///
  /// - Parameter changes: whether this process holds the lock and may change the files.
  func follow(_ folder: JournalFolder, changes: Bool) throws(StoreFault) {
    try explaining("can't open the file outbox/log") { () throws(SystemFault) in try open(folder, changes) }
    // There is no log, and without the lock none is created.
    guard let file else { return }
    try explaining("can't read the file outbox/log") { () throws(SystemFault) in
      try readOn(file, folder, changes)
    }
    guard mustRewrite, changes else { return }
    // The damaged bytes are already copied. If they can't be removed now, the next change finds and removes them.
    try? rewrite(folder)
  }

  private func open(_ folder: JournalFolder, _ changes: Bool) throws(SystemFault) {
    var found: (fd: Int32, status: FileStatus)?
    do { found = try folder.openFile("log", folder.locks.isReading ? O_RDONLY : O_RDWR) } catch
      where error.number == ENOENT
    {}
    guard let found else {
      close()
      guard changes else { return }
      try folder.syncNames()
      return try replace(folder, [])
    }
    let opened = JournalFile(found, folder.system)
    if let file, opened.inode == file.inode, found.status.size >= end { return }
    switch try opened.readHead() {
    case .head(let head): adopt(opened, next: head.next)
    case .otherVersion: throw SystemFault(EPROTONOSUPPORT)
    case .damaged where !changes: throw SystemFault(EIO)
    case .damaged:
      try setAside(opened, 0, found.status.size, folder)
      close()
      // Its records can't be read. Don't reuse their sequence numbers.
      next = max(next, UInt64(clamping: time(nil)))
      try replace(folder, [])
    }
  }

  /// Switches to a file from which nothing has been read yet.
  private func adopt(_ file: JournalFile, next: UInt64) {
    self.file = file
    self.next = max(1, next)
    end = Int64(JournalHead.length)
    reader.begin()
  }

  private func readOn(_ file: JournalFile, _ folder: JournalFolder, _ changes: Bool) throws(SystemFault) {
    let size = try file.size()
    while end < size {
      if let (header, payload) = try file.record(at: end, size) {
        next = max(next, header.sequence + 1)
        take(payload, header.sequence, endingAt: JournalRecord.end(end, header.length))
      } else if !changes, !folder.locks.isReading {
        // Another process may be writing it, or the next change copies it to a file of its own.
        return
      } else if let later = try file.nextRecord(after: end, size) {
        if changes { try setAside(file, end, later, folder) }
        mustRewrite = true
        end = later
      } else {
        // A killed writer left it, or another process is writing it.
        if changes { try cut(file, size, folder) }
        return
      }
    }
  }

  @discardableResult
  private func take(_ payload: [UInt8], _ sequence: UInt64, endingAt after: Int64) -> JournalPlace {
    let place = JournalPlace(offset: end, length: payload.count, sequence: sequence)
    end = after
    payload.withUnsafeBytes { reader.take($0, at: place) }
    return place
  }

  /// Returns the payload of a record.
  func read(_ place: JournalPlace) throws(StoreFault) -> [UInt8] {
    let found = try explaining("can't read the file outbox/log") { () throws(SystemFault) in
      try file?.record(at: place.offset, end)
    }
    guard let (header, payload) = found, header.sequence == place.sequence else {
      throw StoreFault(.io, "the record at byte \(place.offset) of outbox/log is damaged")
    }
    return payload
  }

  // MARK: Damage

  /// Cuts off the bytes behind the last intact record. An incomplete record was never confirmed to a caller. A record of full
  /// length with a wrong checksum may have been confirmed, so it is copied first.
  private func cut(_ file: JournalFile, _ size: Int64, _ folder: JournalFolder) throws(SystemFault) {
    let mayBePromised: Bool
    if let header = try file.header(at: end) {
      mayBePromised = JournalRecord.end(end, header.length) <= size
    } else {
      let isLong = size - end >= Int64(JournalRecord.size)
      mayBePromised = isLong ? try file.bytes(end, min(size, end + 65_536)).contains { $0 != 0 } : false
    }
    if mayBePromised { try setAside(file, end, size, folder) }
    try file.cut(at: end)
  }

  /// Copies bytes into a file of their own, once.
  private func setAside(
    _ file: JournalFile, _ from: Int64, _ to: Int64, _ folder: JournalFolder
  ) throws(SystemFault) {
    let bytes = try file.bytes(from, to)
    let sum = bytes.withUnsafeBytes { nhs_hash64($0.baseAddress, $0.count, UInt64(from)) }
    let name = "damaged-" + String(sum, radix: 16)
    if !asides.contains(name) { asides.append(name) }
    let copy: Int32
    do {
      copy = try folder.openFile(name, O_WRONLY | O_CREAT | O_EXCL).fd
    } catch  where error.number == EEXIST {
      return
    }
    defer { folder.system.close(copy) }
    do throws(SystemFault) {
      try folder.system.write(bytes, to: copy, at: 0)
      try folder.system.sync(copy)
    } catch {
      try? folder.remove(name)
      throw error
    }
  }

  // MARK: Writing

  /// Appends a record and returns when it is safe from a loss of power.
  ///
  /// - Throws: then the record was removed again or, if even that failed, is intact.
  func append(_ payload: [UInt8], _ folder: JournalFolder) throws(StoreFault) -> JournalPlace {
    guard payload.count <= JournalRecord.longest, let file else {
      throw StoreFault(
        .tooLarge,
        "a record of the outbox would have \(payload.count) bytes, more than \(JournalRecord.longest)")
    }
    guard !folder.locks.isReading else { throw Journal.canOnlyBeRead }
    do throws(SystemFault) {
      let after = try file.write(payload, sequence: next, at: end)
      try file.sync()
      try folder.sync()
      next += 1
      return take(payload, next - 1, endingAt: after)
    } catch {
      // If cutting fails, too, the next process that changes the journal reads the record: it cuts off an incomplete one and
      // accepts an intact one.
      try? file.cut(at: end)
      throw StoreFault(error, "can't write to the file outbox/log")
    }
  }

  /// Rewrites the log without unneeded records, if they are most of it. If that fails, a later change tries again.
  func tidy(_ folder: JournalFolder) {
    let used = end - Int64(JournalHead.length)
    guard used > 4096 else { return }
    let wanted = reader.wantedBytes
    guard wanted == 0 || (used > 1 << 20 && wanted < used / 2) else { return }
    try? rewrite(folder)
  }

  /// Writes the needed records into a new file that replaces the old one.
  private func rewrite(_ folder: JournalFolder) throws(StoreFault) {
    var kept: [(UInt64, [UInt8])] = []
    for place in reader.wanted { kept.append((place.sequence, try read(place))) }
    try explaining("can't replace the file outbox/log") { () throws(SystemFault) in
      try replace(folder, kept)
      if let file { try readOn(file, folder, true) }
    }
    mustRewrite = false
  }

  private func replace(_ folder: JournalFolder, _ records: [(UInt64, [UInt8])]) throws(SystemFault) {
    try folder.remove("log.new")
    let file = JournalFile(try folder.openFile("log.new", O_RDWR | O_CREAT | O_EXCL), folder.system)
    do throws(SystemFault) {
      try file.write(JournalHead(salt: .random(in: .min ... .max), next: next))
      var offset = Int64(JournalHead.length)
      for (sequence, payload) in records {
        offset = try file.write(payload, sequence: sequence, at: offset)
      }
      try file.sync()
      try folder.system.rename(folder.folder, "log.new", "log", replaces: true)
    } catch {
      try? folder.remove("log.new")
      throw error
    }
    adopt(file, next: next)
    try folder.sync()
  }
}
