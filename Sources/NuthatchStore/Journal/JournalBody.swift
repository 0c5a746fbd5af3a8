import CSystem
import Glibc
import NuthatchBase

/// A body that is too long for a record, in a file of its own beside the journal: `body-` and 16 random digits.
///
/// It is permanent once a record names it. Until then its writer keeps it locked; other processes delete a body that is neither
/// named nor locked (`sweep`).
package final class JournalBody {
  package let name: String
  package private(set) var count: Int64 = 0
  private let folder: JournalFolder
  /// -1 if a record names the body, but its file is missing or has another length.
  private let fd: Int32
  private let hasher: OpaquePointer?
  private var isKept = false

  /// Creates a body for writing.
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

  /// Opens a body that a record names, for reading.
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

  /// Deletes a body that no record names, unless it is being written.
  static func sweep(_ name: String, _ folder: JournalFolder) {
    guard let (fd, _) = try? folder.openFile(name, O_RDWR) else { return }
    if (try? folder.system.tryLock(fd, 0, .exclusive)) == true { try? folder.remove(name) }
    folder.system.close(fd)
  }

  private static let noMemory = StoreFault(
    .outOfMemory, "there is no memory for writing a body to the outbox")

  /// Appends bytes.
  package func append(_ bytes: UnsafeRawBufferPointer) throws(StoreFault) {
    guard let hasher else { throw Self.noMemory }
    try explaining("can't write a body to the outbox") { () throws(SystemFault) in
      try folder.system.writeAll(fd, [bytes], count)
    }
    nhs_hasher_add(hasher, bytes.baseAddress, bytes.count)
    count += Int64(bytes.count)
  }

  /// Ends the writing. When this returns, the bytes survive a loss of power; the file's name does once the record is appended.
  ///
  /// - Returns: the checksum for the record.
  package func finish() throws(StoreFault) -> UInt64 {
    guard let hasher else { throw Self.noMemory }
    try explaining("can't write a body to the outbox") { () throws(SystemFault) in try folder.system.sync(fd)
    }
    return nhs_hasher_value(hasher)
  }

  /// Keeps the file: a record names it now.
  package func keep() { isKept = true }

  /// Reads the bytes and returns whether they have this checksum. Call it once, for a body opened for reading.
  package func isWhole(_ checksum: UInt64) throws(StoreFault) -> Bool {
    guard let hasher else { throw Self.noMemory }
    guard fd >= 0 else { return false }
    var bytes = [UInt8](repeating: 0, count: Int(min(max(1, count), 1 << 18)))
    var offset: Int64 = 0
    while offset < count {
      let done = try explaining("can't read a body of the outbox") { () throws(SystemFault) in
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
