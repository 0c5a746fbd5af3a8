import CSystem
import Glibc
import NuthatchBase

/// The system calls of Linux.
struct LinuxCalls: SystemCalls {
  func open(_ directory: Int32, _ name: String, _ flags: Int32) throws(SystemFault) -> Int32 {
    try checked(nhs_openat(directory, name, flags | O_CLOEXEC, 0o600))
  }

  func close(_ fd: Int32) { _ = Glibc.close(fd) }

  func checkWritable(_ directory: Int32) throws(SystemFault) {
    guard faccessat(directory, ".", W_OK, AT_EACCESS) == 0 else { throw SystemFault(errno) }
  }

  func status(_ fd: Int32) throws(SystemFault) -> FileStatus {
    var found = stat()
    guard fstat(fd, &found) == 0 else { throw SystemFault(errno) }
    return FileStatus(
      device: UInt64(found.st_dev), inode: UInt64(found.st_ino), owner: found.st_uid, mode: found.st_mode,
      links: UInt64(found.st_nlink), size: Int64(found.st_size), allocated: Int64(found.st_blocks) * 512)
  }

  func fileSystem(_ fd: Int32) throws(SystemFault) -> UInt32 {
    UInt32(truncatingIfNeeded: try checked(nhs_file_system(fd)))
  }

  func names(_ directory: Int32) throws(SystemFault) -> [String] {
    guard let names = folderNames(in: directory) else { throw SystemFault(errno) }
    return names
  }

  func makeDirectory(_ directory: Int32, _ name: String) throws(SystemFault) {
    _ = try checked(nhs_mkdirat(directory, name, 0o700))
  }

  func link(_ directory: Int32, _ name: String, to target: String) throws(SystemFault) {
    _ = try checked(nhs_symlinkat(directory, name, target))
  }

  func unlink(_ directory: Int32, _ name: String) throws(SystemFault) {
    _ = try checked(nhs_unlinkat(directory, name))
  }

  func rename(_ directory: Int32, _ from: String, _ to: String, replaces: Bool) throws(SystemFault) {
    _ = try checked(nhs_renameat(directory, from, to, replaces ? 1 : 0))
  }

  func resize(_ fd: Int32, _ size: Int64) throws(SystemFault) { _ = try checked(nhs_ftruncate(fd, size)) }

  func reserve(_ fd: Int32, _ offset: Int64, _ length: Int64) throws(SystemFault) {
    _ = try checked(nhs_reserve(fd, offset, length))
  }

  func punch(_ fd: Int32, _ offset: Int64, _ length: Int64) throws(SystemFault) {
    _ = try checked(nhs_punch(fd, offset, length))
  }

  func write(_ fd: Int32, _ parts: UnsafeBufferPointer<iovec>, _ offset: Int64) throws(SystemFault) -> Int {
    try checked(nhs_pwritev(fd, parts.baseAddress, Int32(parts.count), offset))
  }

  func zero(_ fd: Int32, _ offset: Int64, _ length: Int) throws(SystemFault) -> Int {
    try checked(nhs_write_zeros(fd, offset, length))
  }

  func read(_ fd: Int32, _ bytes: UnsafeMutableRawBufferPointer, _ offset: Int64) throws(SystemFault) -> Int {
    try checked(nhs_pread(fd, bytes.baseAddress, bytes.count, offset))
  }

  func sync(_ fd: Int32) throws(SystemFault) {
    while fsync(fd) != 0 { if errno != EINTR { throw SystemFault(errno) } }
  }

  func dataBegins(_ fd: Int32, _ offset: Int64) throws(SystemFault) -> Int64? {
    let found = nhs_data_begins(fd, offset)
    if found == -Int64(ENXIO) { return nil }
    return try checked(found)
  }

  func dataEnds(_ fd: Int32, _ offset: Int64) throws(SystemFault) -> Int64 {
    try checked(nhs_data_ends(fd, offset))
  }

  func map(_ fd: Int32, _ length: Int, isWritable: Bool) throws(SystemFault) -> FileMapping {
    let mapping = try map(fd, 0, length, isWritable ? NHS_MAP_SHARED : NHS_MAP_READ)
    // Turn read-ahead off: after an access to the end of a pack it would fill memory with unwritten pages, which the file system
    // then takes for written ones. Payloads are read once with `read`, which reads ahead.
    if !isWritable { madvise(mapping.base, length, MADV_RANDOM) }
    return mapping
  }

  func map(_ fd: Int32, from offset: Int64, _ length: Int) throws(SystemFault) -> FileMapping {
    try map(fd, offset, length, NHS_MAP_SHARED)
  }

  private func map(
    _ fd: Int32, _ offset: Int64, _ length: Int, _ access: nhs_map_access
  ) throws(SystemFault) -> FileMapping {
    var mapping = nhs_mapping()
    _ = try checked(nhs_map_file(fd, offset, length, access, &mapping))
    return mapping
  }

  func mapPrivately(_ fd: Int32, _ length: Int) throws(SystemFault) -> FileMapping {
    try map(fd, 0, length, NHS_MAP_PRIVATE)
  }

  func populate(_ base: UnsafeMutableRawPointer, _ length: Int) throws(SystemFault) {
    _ = try checked(nhs_populate(base, length))
  }

  func mapAgain(_ mapping: FileMapping, _ fd: Int32) throws(SystemFault) {
    _ = try checked(withUnsafePointer(to: mapping) { nhs_map_again($0, fd, 0) })
  }

  func unmap(_ mapping: FileMapping) { withUnsafePointer(to: mapping) { nhs_unmap_file($0) } }

  func tryLock(_ fd: Int32, _ byte: Int64, _ kind: LockKind) throws(SystemFault) -> Bool {
    let result = nhs_lock_byte(fd, byte, kind.letter, 0)
    if result == -EAGAIN || result == -EACCES { return false }
    _ = try checked(result)
    return true
  }

  func unlock(_ fd: Int32, _ byte: Int64) { _ = nhs_lock_byte(fd, byte, CChar(UInt8(ascii: "u")), 0) }

  private func checked<Number: SignedInteger>(_ result: Number) throws(SystemFault) -> Number {
    guard result >= 0 else { throw SystemFault(Int32(-result)) }
    return result
  }
}

extension LockKind {
  fileprivate var letter: CChar { CChar(UInt8(ascii: self == .shared ? "r" : "w")) }
}
