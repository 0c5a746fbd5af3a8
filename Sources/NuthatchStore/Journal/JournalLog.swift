import CSystem
import Glibc

/// The records of a journal, as far as this process has read them, and where the next one goes.
///
/// Guarded by the journal's lock.
final class JournalLog {
  private let reader: any JournalReader
  private var file: JournalFile?
  /// The end of what has been read.
  private var end: Int64 = 0
  /// The sequence number of the next record.
  private(set) var next: UInt64 = 1
  /// The files in which this process has set damage aside.
  private(set) var asides: [String] = []
  private var mustRewrite = false

  init(_ reader: any JournalReader) { self.reader = reader }

  var isOpen: Bool { file != nil }

  func close() { file = nil }

  /// The bodies that its records name.
  var bodies: Set<String> { reader.bodies }

  // MARK: Reading

  /// Reads what the others have added.
  ///
  /// - Parameter changes: whether this process has the lock. Without it nothing is changed.
  func follow(_ folder: JournalFolder, changes: Bool) throws(StoreFault) {
    try doing("opening the outbox's log") { () throws(SystemFault) in try open(folder, changes) }
    // There is none, and none can be made.
    guard let file else { return }
    try doing("reading the outbox's log") { () throws(SystemFault) in try readOn(file, folder, changes) }
    guard mustRewrite, changes else { return }
    // The damage has been set aside; when it can't be left out now, it is found, and left out, the next time.
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
      try folder.settle()
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
      // Nothing in it could be told. Numbers that its records may have had are not used again.
      next = max(next, UInt64(clamping: time(nil)))
      try replace(folder, [])
    }
  }

  /// Goes over to a file, of which nothing has been read.
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
        // Somebody may be writing it, or will set it aside.
        return
      } else if let later = try file.nextRecord(after: end, size) {
        if changes { try setAside(file, end, later, folder) }
        mustRewrite = true
        end = later
      } else {
        // What a kill left there, or somebody is writing.
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

  /// The payload of a record.
  func read(_ place: JournalPlace) throws(StoreFault) -> [UInt8] {
    let found = try doing("reading the outbox") { () throws(SystemFault) in
      try file?.record(at: place.offset, end)
    }
    guard let (header, payload) = found, header.sequence == place.sequence else {
      throw StoreFault(.io, "a record of the outbox is damaged")
    }
    return payload
  }

  // MARK: Damage

  /// Takes away what follows the last whole record. What a kill left there, nobody was told of; what is as long as it says, but
  /// wrong, may have been promised, and is kept.
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

  /// Adds a record, and returns when it would survive a loss of power.
  ///
  /// - Throws: the record isn't there then, or, where not even that could be had, it is whole.
  func append(_ payload: [UInt8], _ folder: JournalFolder) throws(StoreFault) -> JournalPlace {
    guard payload.count <= JournalRecord.longest, let file else {
      throw StoreFault(.tooLarge, "a record of \(payload.count) bytes is too long for the outbox")
    }
    guard !folder.locks.isReading else { throw Journal.canOnlyBeRead }
    do throws(SystemFault) {
      let after = try file.write(payload, sequence: next, at: end)
      try file.sync()
      try folder.sync()
      next += 1
      return take(payload, next - 1, endingAt: after)
    } catch {
      // What stays in spite of it is read by the next one who changes something: cut when torn, else taken.
      try? file.cut(at: end)
      throw StoreFault(error, "writing into the outbox")
    }
  }

  /// Leaves out what nobody wants, where that is most of it. What can't be done now is done another time.
  func tidy(_ folder: JournalFolder) {
    let used = end - Int64(JournalHead.length)
    guard used > 4096 else { return }
    let wanted = reader.wantedBytes
    guard wanted == 0 || (used > 1 << 20 && wanted < used / 2) else { return }
    try? rewrite(folder)
  }

  /// Writes the records that are wanted into a new file that takes the old one's place.
  private func rewrite(_ folder: JournalFolder) throws(StoreFault) {
    var kept: [(UInt64, [UInt8])] = []
    for place in reader.wanted { kept.append((place.sequence, try read(place))) }
    try doing("writing the outbox anew") { () throws(SystemFault) in
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
