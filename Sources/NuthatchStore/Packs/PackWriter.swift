import CSystem
import Glibc

/// Appends records to one pack, which no other process appends to meanwhile. Call it with the lock of its `PackAppender` held.
final class PackWriter {
  let header: PackHeader
  private let directory: StoreDirectory
  private let system: any SystemCalls
  private let fd: Int32
  private let epoch = nhs_fork_epoch()
  /// The offset of the next record.
  private(set) var end: Int
  /// The end of the zeros or records that were written: a page boundary, not before `end`.
  private var prepared: Int
  /// The part that is written through a mapping, if there is one.
  private var window: MappedWriteWindow?
  private var usesWindows: Bool
  /// The number of the pack's entry in the table of packs, or -1. A rebuilt index may have the pack in another entry.
  var place: Int

  private init(_ directory: StoreDirectory, _ fd: Int32, _ header: PackHeader, end: Int, place: Int) {
    self.directory = directory
    system = directory.system
    usesWindows = directory.givesLargePages
    self.fd = fd
    self.header = header
    self.end = end
    self.place = place
    prepared = Self.pageAfter(end)
  }

  deinit {
    guard epoch == nhs_fork_epoch() else { return }
    system.unlock(fd, 0)
    nhs_keep_in_child(fd)
    system.close(fd)
  }

  /// Creates a pack that isn't in the table of packs yet.
  ///
  /// Its room is reserved, it is locked, and it has its header before it gets the name of a pack. So a killed process leaves
  /// only a temporary file, which any process may delete.
  static func make(
    _ directory: StoreDirectory, _ family: Family, _ number: UInt32, capacity: Int, turn: UInt32
  ) throws(SystemFault) -> PackWriter {
    let system = directory.system
    let temporary = PackName.of(number, "tmp")
    let (fd, _) = try directory.openFile(directory.packs, temporary, O_RDWR | O_CREAT | O_EXCL)
    do throws(SystemFault) {
      guard nhs_close_in_child(fd) == 0 else { throw SystemFault(EMFILE) }
      do throws(SystemFault) {
        guard try system.tryLock(fd, 0, .exclusive) else { throw SystemFault(EAGAIN) }
        try reserve(system, fd, 0, capacity)
        let header = PackHeader(
          family: family, number: number, capacity: capacity, salt: .random(in: .min ... .max), turn: turn)
        try system.write(header.encoded, to: fd, at: 0)
        try directory.rename(temporary, toNew: PackName.of(number))
        return PackWriter(directory, fd, header, end: PackHeader.size, place: -1)
      } catch {
        nhs_keep_in_child(fd)
        throw error
      }
    } catch {
      system.close(fd)
      do { try system.unlink(directory.packs, temporary) } catch {}
      throw error
    }
  }

  /// Takes over a pack that no process writes to. Returns nil if another process writes to it, it can't be used, or it was just
  /// dropped.
  ///
  /// - Parameter end: returns the end of its records, or nil if that is unknown. It is called with the pack's file locked, so
  ///   that no other process can take it over or drop it.
  static func adopt(
    _ directory: StoreDirectory, _ entry: PackEntry, _ pack: Pack, end: () -> Int?
  ) throws(SystemFault) -> PackWriter? {
    let system = directory.system
    let (fd, status): (Int32, FileStatus)
    do throws(SystemFault) {
      (fd, status) = try directory.openFile(directory.packs, PackName.of(entry.number), O_RDWR)
    } catch {
      guard error.number == ENOENT else { throw error }
      return nil
    }
    var isRegistered = false
    do throws(SystemFault) {
      guard nhs_close_in_child(fd) == 0 else { throw SystemFault(EMFILE) }
      isRegistered = true
      if pack.header.capacity <= pack.bytes.count, status.size >= Int64(pack.header.capacity),
        try system.tryLock(fd, 0, .exclusive),
        // The file may be another pack with this number than the mapped one.
        try PackHeader.read(fd, number: entry.number, system)?.salt == pack.header.salt,
        try directory.isThere(directory.packs, PackName.of(entry.number)), let end = end()
      {
        try reserve(system, fd, end, pack.header.capacity - end)
        return PackWriter(directory, fd, pack.header, end: end, place: entry.place)
      }
    } catch {
      if isRegistered { nhs_keep_in_child(fd) }
      system.close(fd)
      throw error
    }
    nhs_keep_in_child(fd)
    system.close(fd)
    return nil
  }

  /// Returns whether another process is creating the pack or appends to it. True if this can't be checked, false if there is
  /// no pack.
  static func isBusy(_ directory: StoreDirectory, _ number: UInt32) -> Bool {
    directory.isReading || isBusy(directory, number, "tmp") || isBusy(directory, number, "pack")
  }

  private static func isBusy(_ directory: StoreDirectory, _ number: UInt32, _ ending: String) -> Bool {
    let fd: Int32
    do throws(SystemFault) {
      fd = try directory.openFile(directory.packs, PackName.of(number, ending), O_RDWR).0
    } catch {
      return error.number != ENOENT && error.number != ELOOP && error.number != EINVAL
    }
    defer { directory.system.close(fd) }
    guard (try? directory.system.tryLock(fd, 0, .exclusive)) ?? false else { return true }
    directory.system.unlock(fd, 0)
    return false
  }

  /// Runs `body` while no process appends to the pack or takes it over, or if there is no such pack. Returns false if a process
  /// has locked it.
  static func keepingOthersOut<Fault>(
    _ directory: StoreDirectory, _ number: UInt32, _ ending: String = "pack", _ body: () throws(Fault) -> Void
  ) throws(Fault) -> Bool {
    let system = directory.system
    let fd: Int32
    do throws(SystemFault) {
      fd = try directory.openFile(directory.packs, PackName.of(number, ending), O_RDWR).0
    } catch {
      guard error.number == ENOENT || error.number == ELOOP || error.number == EINVAL else { return false }
      try body()
      return true
    }
    defer { system.close(fd) }
    // A child that is forked now must not keep the lock if this process is killed.
    guard nhs_close_in_child(fd) == 0 else { return false }
    defer { nhs_keep_in_child(fd) }
    // If locking fails, another process may have the lock.
    guard (try? system.tryLock(fd, 0, .exclusive)) ?? false else { return false }
    defer { system.unlock(fd, 0) }
    try body()
    return true
  }

  private static func reserve(_ system: any SystemCalls, _ fd: Int32, _ offset: Int, _ length: Int)
    throws(SystemFault)
  {
    guard length > 0 else { return }
    do {
      try system.reserve(fd, Int64(offset), Int64(length))
    } catch  where error.number == EOPNOTSUPP && offset == 0 {
      // The file system can't reserve room. If the disk is full, writing a record fails.
      try system.resize(fd, Int64(length))
    } catch  where error.number == EOPNOTSUPP {
    }
  }

  func hasRoom(keyLength: Int, payloadLength: Int) -> Bool {
    guard let extent = RecordHeader.extent(at: end, keyLength: keyLength, payloadLength: payloadLength) else {
      return false
    }
    return extent.end <= header.capacity
  }

  /// Writes a record behind the last one. Unless `advance` is called, the next record overwrites it.
  func append(
    _ record: RecordHeader, key: UnsafeRawBufferPointer, _ parts: [UnsafeRawBufferPointer]
  ) throws(SystemFault) -> (offset: Int, end: Int) {
    guard let extent = RecordHeader.extent(at: end, keyLength: key.count, payloadLength: record.payloadLength)
    else {
      throw SystemFault(EFBIG)
    }
    prepare(upTo: extent.end)
    if let window, window.holds(end, extent.end) {
      if window.write(record, key: key, parts, at: end, payload: extent.payload, salt: header.salt) {
        return (end, extent.end)
      }
      // Write it by a system call, which succeeds or returns an error.
      (self.window, usesWindows) = (nil, false)
    }
    defer { prepared = max(prepared, Self.pageAfter(extent.end)) }
    try withUnsafeTemporaryAllocation(byteCount: extent.payload - end, alignment: 8) {
      (head) throws(SystemFault) in
      record.encode(into: head, key: key, at: end, salt: header.salt)
      try withUnsafeTemporaryAllocation(of: iovec.self, capacity: parts.count + 1) {
        (vectors) throws(SystemFault) in
        vectors[0] = iovec(iov_base: head.baseAddress, iov_len: head.count)
        for (place, part) in parts.enumerated() {
          vectors[place + 1] = iovec(
            iov_base: UnsafeMutableRawPointer(mutating: part.baseAddress), iov_len: part.count)
        }
        try system.writeAll(fd, vectors, Int64(end))
      }
    }
    return (end, extent.end)
  }

  /// Writes zeros where the next records will be. The kernel then allocates large pieces of memory, which it doesn't for
  /// records at arbitrary offsets: storing 16 KiB takes half the time.
  ///
  /// A failure does no harm: if the disk is full, writing the record fails.
  private func prepare(upTo end: Int) {
    let chunk = 128 << 10
    // For a large record the kernel allocates large pieces of memory anyway.
    guard end - prepared <= 2 * chunk else { return }
    while end > prepared {
      // The first 2 MiB get no window, so that a small pack takes little room. A window saves one system call for each small
      // record. For a large record, the page fault of a new large page would cost more than the call.
      let isPiece =
        usesWindows && end - self.end <= MappedWriteWindow.largestRecord && prepared > 0
        && prepared % MappedWriteWindow.piece == 0
        && prepared + MappedWriteWindow.piece <= header.capacity
      let wanted =
        isPiece
        ? prepared + MappedWriteWindow.piece
        : min((prepared + chunk) / chunk * chunk, header.capacity & ~4095)
      guard wanted > prepared, let count = try? system.zero(fd, Int64(prepared), wanted - prepared),
        count >= 4096
      else { return }
      if isPiece { openWindow(prepared, isWhole: count == MappedWriteWindow.piece) }
      prepared += count & ~4095
    }
  }

  /// Opens the next piece for writing through a mapping. If that fails, records are written by system calls.
  private func openWindow(_ begin: Int, isWhole: Bool) {
    do throws(SystemFault) {
      guard isWhole else { throw SystemFault(ENOSPC) }
      if window?.end != begin || window?.hasMore != true {
        // Release the previous window first. Map through another open file description: a forked child inherits the mapping,
        // and would keep the description and with it the lock of a killed parent.
        window = nil
        let (other, status) = try directory.openFile(directory.packs, PackName.of(header.number), O_RDWR)
        defer { system.close(other) }
        guard status.inode == (try system.status(fd).inode) else { throw SystemFault(ENOENT) }
        window = try MappedWriteWindow(system, other, begin, limit: header.capacity)
      }
      try window?.open()
    } catch {
      usesWindows = false
    }
  }

  /// Unmaps the window. The next piece opens another one.
  func closeWindow() { window = nil }

  private static func pageAfter(_ offset: Int) -> Int { (offset + 4095) & ~4095 }

  func advance(to end: Int) { self.end = end }

  /// Frees unused room. The file's size stays, because other processes may have it mapped.
  func freeUnusedRoom() {
    // A write through the window would now need room that isn't reserved any more.
    window = nil
    usesWindows = false
    let begin = Self.pageAfter(end)
    guard begin < header.capacity else { return }
    // If it fails, the room is freed by the next process that appends to the pack or drops it.
    do { try system.punch(fd, Int64(begin), Int64(header.capacity - begin)) } catch {}
  }
}

extension SystemCalls {
  func write(_ bytes: [UInt8], to fd: Int32, at offset: Int64) throws(SystemFault) {
    try bytes.span.bytes.withUnsafeBytes { (bytes) throws(SystemFault) in try writeAll(fd, [bytes], offset) }
  }
}
