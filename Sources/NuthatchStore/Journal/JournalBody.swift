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
  private let folder: JournalFolder
  /// -1 for a body that a record names, and that isn't there, or has another length.
  private let fd: Int32
  private let hasher: OpaquePointer?
  private var isKept = false

  /// A new one, to be written.
  init(_ folder: JournalFolder) throws(SystemFault) {
    let name = "body-" + UInt64.random(in: .min ... .max).digits(16, radix: 16)
    let (fd, _) = try folder.openFile(name, O_RDWR | O_CREAT | O_EXCL)
    do throws(SystemFault) {
      guard try folder.system.tryLock(fd, 0, .exclusive) else { throw SystemFault(EAGAIN) }
    } catch {
      folder.system.close(fd)
      try? folder.remove(name)
      throw error
    }
    _ = nhs_close_in_child(fd)
    self.name = name
    self.folder = folder
    self.fd = fd
    hasher = nhs_hasher_new()
  }

  /// One that a record names, to be read.
  init(_ folder: JournalFolder, _ name: String, _ count: Int64) throws(SystemFault) {
    var opened: Int32 = -1
    do throws(SystemFault) {
      let (fd, status) = try folder.openFile(name, O_RDONLY)
      if status.size == count { opened = fd } else { folder.system.close(fd) }
    } catch  where error.number == ENOENT {}
    self.name = name
    self.folder = folder
    self.count = count
    fd = opened
    hasher = nhs_hasher_new()
    isKept = true
  }

  deinit {
    if let hasher { nhs_hasher_free(hasher) }
    if !isKept { try? folder.remove(name) }
    guard fd >= 0 else { return }
    nhs_keep_in_child(fd)
    folder.system.close(fd)
  }

  /// Removes one that no record names, unless it is being written.
  static func sweep(_ name: String, _ folder: JournalFolder) {
    guard let (fd, _) = try? folder.openFile(name, O_RDWR) else { return }
    if (try? folder.system.tryLock(fd, 0, .exclusive)) == true { try? folder.remove(name) }
    folder.system.close(fd)
  }

  private static let noMemory = StoreFault(.outOfMemory, "no memory for a body of the outbox")

  /// Adds bytes.
  package func append(_ bytes: UnsafeRawBufferPointer) throws(StoreFault) {
    guard let hasher else { throw Self.noMemory }
    try doing("writing a body into the outbox") { () throws(SystemFault) in
      try folder.system.writeAll(fd, [bytes], count)
    }
    nhs_hasher_add(hasher, bytes.baseAddress, bytes.count)
    count += Int64(bytes.count)
  }

  /// No more will come. The file's bytes would survive a loss of power when this returns; its name does with the record.
  ///
  /// - Returns: what the record says of them.
  package func finish() throws(StoreFault) -> UInt64 {
    guard let hasher else { throw Self.noMemory }
    try doing("writing a body into the outbox") { () throws(SystemFault) in try folder.system.sync(fd) }
    return nhs_hasher_value(hasher)
  }

  /// A record names it.
  package func keep() { isKept = true }

  /// Whether the bytes of one that was to be read are those that were written. To be asked once.
  package func isWhole(_ checksum: UInt64) throws(StoreFault) -> Bool {
    guard let hasher else { throw Self.noMemory }
    guard fd >= 0 else { return false }
    var bytes = [UInt8](repeating: 0, count: Int(min(max(1, count), 1 << 18)))
    var offset: Int64 = 0
    while offset < count {
      let done = try doing("reading a body of the outbox") { () throws(SystemFault) in
        var span = bytes.mutableSpan
        return try span.withUnsafeMutableBytes { (room) throws(SystemFault) in
          try folder.system.read(fd, room, offset)
        }
      }
      guard done > 0 else { return false }
      bytes.withUnsafeBytes { nhs_hasher_add(hasher, $0.baseAddress, done) }
      offset += Int64(done)
    }
    return nhs_hasher_value(hasher) == checksum
  }
}
