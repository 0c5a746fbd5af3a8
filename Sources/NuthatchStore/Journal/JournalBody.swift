import CSystem
import Glibc
import NuthatchBase

/// A body that is too long for a record, in a file of its own beside the journal: `body-`, and 16 random digits.
///
/// It is there for good once a record names it. Until then its writer holds a lock on it, so that nobody takes it for one that
/// a kill left behind.
package final class JournalBody {
  package let name: String
  package private(set) var count: Int64 = 0
  private let system: any SystemCalls
  private let folder: JournalFolder
  private let fd: Int32
  private let hasher: OpaquePointer?
  private var isKept = false

  fileprivate init(_ folder: JournalFolder, _ system: any SystemCalls) throws(SystemFault) {
    let name = "body-" + UInt64.random(in: .min ... .max).digits(16, radix: 16)
    let (fd, _) = try folder.openFile(name, O_RDWR | O_CREAT | O_EXCL)
    do throws(SystemFault) {
      guard try system.tryLock(fd, 0, .exclusive) else { throw SystemFault(EAGAIN) }
    } catch {
      system.close(fd)
      try? folder.remove(name)
      throw error
    }
    _ = nhs_close_in_child(fd)
    self.name = name
    self.folder = folder
    self.system = system
    self.fd = fd
    hasher = nhs_hasher_new()
  }

  deinit {
    if let hasher { nhs_hasher_free(hasher) }
    if !isKept { try? folder.remove(name) }
    nhs_keep_in_child(fd)
    system.close(fd)
  }

  /// Adds bytes.
  package func append(_ bytes: UnsafeRawBufferPointer) throws(StoreFault) {
    guard let hasher else { throw StoreFault(.outOfMemory, "no memory to write a body into the outbox") }
    try doing("writing a body into the outbox") { () throws(SystemFault) in
      try system.writeAll(fd, [bytes], count)
    }
    nhs_hasher_add(hasher, bytes.baseAddress, bytes.count)
    count += Int64(bytes.count)
  }

  /// No more will come. The file's bytes would survive a loss of power when this returns; its name does with the record.
  ///
  /// - Returns: what the record says of them.
  package func finish() throws(StoreFault) -> UInt64 {
    guard let hasher else { throw StoreFault(.outOfMemory, "no memory to write a body into the outbox") }
    try doing("writing a body into the outbox") { () throws(SystemFault) in try system.sync(fd) }
    return nhs_hasher_value(hasher)
  }

  /// A record names it.
  package func keep() { isKept = true }
}

extension Journal {
  /// A new body. To be called while changing; written without the lock.
  package func newBody() throws(StoreFault) -> JournalBody {
    guard let folder else { throw .closed }
    return try doing("making a body in the outbox") { () throws(SystemFault) in
      try JournalBody(folder, system)
    }
  }

  /// A look at whether a body's bytes are those that were written. To be called while changing; the look itself needs no lock.
  package func check(body name: String, count: Int64, checksum: UInt64) throws(StoreFault) -> JournalBodyCheck
  {
    guard let folder else { throw .closed }
    return try doing("reading a body of the outbox") { () throws(SystemFault) in
      try JournalBodyCheck(folder, name, count: count, checksum: checksum, system)
    }
  }

  /// Where a body lies.
  package func path(ofBody name: String) -> String { "\(directory)/\(JournalFolder.name)/\(name)" }

  /// Removes a body that no record names any more.
  package func remove(body name: String) {
    // One that stays is swept up later.
    if let folder { try? folder.remove(name) }
  }

  /// Removes what kills have left behind. To be called while changing.
  package func sweep() {
    // What can't be looked at now stays until the next time.
    guard let folder, let names = try? system.names(folder.folder) else { return }
    let wanted = reader.bodies
    for name in names where name.hasPrefix("body-") && !wanted.contains(name) {
      guard let (fd, _) = try? folder.openFile(name, O_RDWR) else { continue }
      if (try? system.tryLock(fd, 0, .exclusive)) == true { try? folder.remove(name) }
      system.close(fd)
    }
  }
}

extension Journal {
  /// The files in which damage was set aside, by whomever and whenever, as long as they are there. To be asked while changing.
  package var asideFilesWhileChanging: [String] {
    // Where nobody can look, those that this process knows of.
    guard let folder, let names = try? system.names(folder.folder) else { return damageWhileChanging }
    return names.filter { $0.hasPrefix("damaged-") }.sorted()
  }
}

/// A body that is about to be read from its beginning to its end.
package final class JournalBodyCheck {
  private let system: any SystemCalls
  /// -1 when it isn't there, or has another length.
  private let fd: Int32
  private let count: Int64
  private let checksum: UInt64

  fileprivate init(
    _ folder: JournalFolder, _ name: String, count: Int64, checksum: UInt64, _ system: any SystemCalls
  ) throws(SystemFault) {
    self.system = system
    self.count = count
    self.checksum = checksum
    do throws(SystemFault) {
      let (fd, status) = try folder.openFile(name, O_RDONLY)
      if status.size != count { system.close(fd) }
      self.fd = status.size == count ? fd : -1
    } catch  where error.number == ENOENT {
      fd = -1
    }
  }

  deinit { if fd >= 0 { system.close(fd) } }

  /// Whether its bytes are those that were written.
  package func isWhole() throws(StoreFault) -> Bool {
    guard fd >= 0, let hasher = nhs_hasher_new() else { return false }
    defer { nhs_hasher_free(hasher) }
    var bytes = [UInt8](repeating: 0, count: Int(min(max(1, count), 1 << 18)))
    var offset: Int64 = 0
    while offset < count {
      var fault: SystemFault?
      let done = bytes.withUnsafeMutableBytes { room -> Int in
        do throws(SystemFault) { return try system.read(fd, room, offset) } catch { fault = error }
        return 0
      }
      if let fault { throw StoreFault(fault, "reading a body of the outbox") }
      guard done > 0 else { return false }
      bytes.withUnsafeBytes { nhs_hasher_add(hasher, $0.baseAddress, done) }
      offset += Int64(done)
    }
    return nhs_hasher_value(hasher) == checksum
  }
}
