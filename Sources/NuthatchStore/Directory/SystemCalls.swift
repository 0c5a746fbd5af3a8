import Glibc

/// A system call's error number.
package struct SystemFault: Error, Equatable {
  package let number: Int32
  /// Why an existing file isn't accepted; nil if the system call itself failed.
  package let unsafe: String?

  package init(_ number: Int32, unsafe: String? = nil) { (self.number, self.unsafe) = (number, unsafe) }

  /// A description for people.
  package var reason: String { unsafe ?? String(cString: strerror(number)) }
}

/// The status of a file.
struct FileStatus {
  var device: UInt64
  var inode: UInt64
  var owner: UInt32
  var mode: UInt32
  var links: UInt64
  var size: Int64
  /// Allocated bytes on the disk.
  var allocated: Int64

  var isFile: Bool { mode & S_IFMT == S_IFREG }
}

/// The type of a lock on a byte.
enum LockKind {
  case shared
  case exclusive
}

/// Every system call of the store. Tests replace it with an implementation that fails at the n-th call.
///
/// `close`, `unmap` and `unlock` only release something and can't fail.
protocol SystemCalls: Sendable {
  func open(_ directory: Int32, _ name: String, _ flags: Int32) throws(SystemFault) -> Int32
  func close(_ fd: Int32)
  /// Throws `EROFS` or `EACCES` if this user can't create files in a directory.
  func checkWritable(_ directory: Int32) throws(SystemFault)
  func status(_ fd: Int32) throws(SystemFault) -> FileStatus
  /// The magic number of statfs(2).
  func fileSystem(_ fd: Int32) throws(SystemFault) -> UInt32
  func names(_ directory: Int32) throws(SystemFault) -> [String]
  func makeDirectory(_ directory: Int32, _ name: String) throws(SystemFault)
  /// Makes a symbolic link.
  func link(_ directory: Int32, _ name: String, to target: String) throws(SystemFault)
  func unlink(_ directory: Int32, _ name: String) throws(SystemFault)
  func rename(_ directory: Int32, _ from: String, _ to: String, replaces: Bool) throws(SystemFault)
  /// Sets the size of a new file, without allocating blocks.
  func resize(_ fd: Int32, _ size: Int64) throws(SystemFault)
  /// Allocates the blocks of a range and extends the file to its end.
  func reserve(_ fd: Int32, _ offset: Int64, _ length: Int64) throws(SystemFault)
  /// Deallocates the blocks of a range.
  func punch(_ fd: Int32, _ offset: Int64, _ length: Int64) throws(SystemFault)
  /// May write fewer bytes. Returns how many.
  func write(_ fd: Int32, _ parts: UnsafeBufferPointer<iovec>, _ offset: Int64) throws(SystemFault) -> Int
  /// Writes zeros, maybe fewer than `length`. Returns how many.
  func zero(_ fd: Int32, _ offset: Int64, _ length: Int) throws(SystemFault) -> Int
  /// May read fewer bytes than there is room for; returns 0 at the end of the file.
  func read(_ fd: Int32, _ bytes: UnsafeMutableRawBufferPointer, _ offset: Int64) throws(SystemFault) -> Int
  /// Waits until a file's bytes, or the names in a directory, are on the disk.
  func sync(_ fd: Int32) throws(SystemFault)
  /// Returns the offset of the next written bytes, from `offset` on; nil if there are none.
  func dataBegins(_ fd: Int32, _ offset: Int64) throws(SystemFault) -> Int64?
  /// Returns the offset of the next hole or of the end of the file.
  func dataEnds(_ fd: Int32, _ offset: Int64) throws(SystemFault) -> Int64
  func map(_ fd: Int32, _ length: Int, isWritable: Bool) throws(SystemFault) -> FileMapping
  /// Maps a part of a file for writing.
  func map(_ fd: Int32, from offset: Int64, _ length: Int) throws(SystemFault) -> FileMapping
  /// Maps a file that is open for reading; writes stay in this process. Without a file (-1) the mapping is memory filled with
  /// zeros.
  func mapPrivately(_ fd: Int32, _ length: Int) throws(SystemFault) -> FileMapping
  /// Makes all pages of a mapping present and writable, so that no later access waits or fails. Throws `EINVAL` if the kernel
  /// doesn't support it.
  func populate(_ base: UnsafeMutableRawPointer, _ length: Int) throws(SystemFault)
  /// Maps the beginning of the same file again in the place of a broken mapping.
  func mapAgain(_ mapping: FileMapping, _ fd: Int32) throws(SystemFault)
  func unmap(_ mapping: FileMapping)
  /// Returns false if another process holds the lock.
  func tryLock(_ fd: Int32, _ byte: Int64, _ kind: LockKind) throws(SystemFault) -> Bool
  func unlock(_ fd: Int32, _ byte: Int64)
}

extension SystemCalls {
  /// Sets the size of a file that is about to be mapped, and allocates its blocks. The file never gets shorter, so a concurrent
  /// call does no harm.
  func makeRoom(_ fd: Int32, _ size: Int, _ status: FileStatus) throws(SystemFault) {
    guard status.size < Int64(size) || status.allocated == 0 else { return }
    do { try reserve(fd, 0, Int64(size)) } catch  where error.number == EOPNOTSUPP {
      try resize(fd, Int64(size))
    }
  }

  /// Writes all bytes.
  func writeAll(_ fd: Int32, _ parts: [UnsafeRawBufferPointer], _ offset: Int64) throws(SystemFault) {
    var vectors = parts.map {
      iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count)
    }
    var span = vectors.mutableSpan
    try span.withUnsafeMutableBufferPointer { (vectors) throws(SystemFault) in
      try writeAll(fd, vectors, offset)
    }
  }

  /// Writes all bytes. Changes the vectors.
  func writeAll(_ fd: Int32, _ vectors: UnsafeMutableBufferPointer<iovec>, _ offset: Int64)
    throws(SystemFault)
  {
    var offset = offset
    var next = 0
    while true {
      while next < vectors.count, vectors[next].iov_len == 0 { next += 1 }
      guard next < vectors.count else { return }
      // The kernel accepts 1,024 pieces at a time.
      let some = UnsafeBufferPointer(rebasing: vectors[next..<min(vectors.count, next + 1024)])
      var written = try write(fd, some, offset)
      guard written > 0 else { throw SystemFault(ENOSPC) }
      offset += Int64(written)
      while next < vectors.count, written >= vectors[next].iov_len {
        written -= vectors[next].iov_len
        next += 1
      }
      if written > 0, next < vectors.count {
        vectors[next].iov_base = vectors[next].iov_base + written
        vectors[next].iov_len -= written
      }
    }
  }

  /// Reads until the buffer is full. Returns false if the file ends before.
  func readAll(_ fd: Int32, _ bytes: UnsafeMutableRawBufferPointer, _ offset: Int64) throws(SystemFault)
    -> Bool
  {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
      let count = try read(fd, rest, offset + Int64(done))
      if count <= 0 { return false }
      done += count
    }
    return true
  }
}
