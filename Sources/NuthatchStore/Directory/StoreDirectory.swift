import Glibc
import Synchronization

/// An open cache directory. Every file in it is opened relative to its descriptors, by a fixed name, and never through a
/// symbolic link.
final class StoreDirectory: Sendable {
  let system: any SystemCalls
  let root: Int32
  /// Identifies the directory among all that exist at this time.
  let identity: (device: UInt64, inode: UInt64)
  /// The descriptor of the folder of packs.
  let packs: Int32
  /// A warning about the file system, or that the directory can only be read.
  let warning: String?
  /// Whether writing through mappings of large pieces is faster than by system calls (`FileSystems.givesLargePages`).
  let givesLargePages: Bool
  /// Whether a mapped page can be written again without new room on the disk (`FileSystems.writesInPlace`).
  let writesInPlace: Bool
  /// Why the directory can only be read; nil if it can be written. If set, nothing in it is changed and no lock is taken. The
  /// store then writes to this process's memory instead (`Index.make`, `LockFile`) or throws.
  let refusal: SystemFault?
  /// Whether this object created the folder of packs.
  let isNew: Bool
  private let trusts: Bool
  private let isLost = Atomic(false)
  private let isClosed = Atomic(false)

  /// Opens the directory and creates it if it is missing; its parent must exist.
  ///
  /// - Parameter trusts: accepts a directory that belongs to another user or that others may write to.
  init(_ path: String, trusts: Bool, _ system: any SystemCalls) throws(StoreFault) {
    self.system = system
    let root = try Self.openRoot(path, system)
    do {
      let status = try Self.checked(root, path, trusts: trusts, system)
      identity = (status.device, status.inode)
      let refusal = Self.refusal(root, system)
      (packs, isNew) = try Self.openPacks(root, path, trusts: trusts, refusal, system)
      // If this fails, there is no warning, and writing is slower.
      let kind = try? system.fileSystem(root)
      warning = refusal.map { StoreFault.readOnly($0).message } ?? kind.flatMap(FileSystems.warning)
      writesInPlace = refusal == nil && kind.map { FileSystems.writesInPlace($0) } ?? false
      givesLargePages = kind.map { FileSystems.givesLargePages($0) } ?? false
      self.refusal = refusal
      self.root = root
      self.trusts = trusts
    } catch {
      system.close(root)
      throw error
    }
  }

  deinit { close() }

  /// Closes the descriptors while the object stays. Don't use them after that.
  func close() {
    guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    system.close(packs)
    system.close(root)
  }

  private static func openRoot(_ path: String, _ system: any SystemCalls) throws(StoreFault) -> Int32 {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw StoreFault(.invalid, "the directory's path is empty or has a NUL character")
    }
    do {
      do {
        return try system.open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY)
      } catch  where error.number == ENOENT {
        do { try system.makeDirectory(AT_FDCWD, path) } catch  where error.number == EEXIST {}
        return try system.open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY)
      }
    } catch {
      throw StoreFault(error, "can't open the directory \(path)")
    }
  }

  /// Returns why no file can be created in the directory, or nil. Other errors appear when a file is created.
  private static func refusal(_ root: Int32, _ system: any SystemCalls) -> SystemFault? {
    do throws(SystemFault) {
      try system.checkWritable(root)
      return nil
    } catch {
      return error.number == EROFS || error.number == EACCES ? error : nil
    }
  }

  private static func openPacks(
    _ root: Int32, _ path: String, trusts: Bool, _ refusal: SystemFault?, _ system: any SystemCalls
  ) throws(StoreFault) -> (packs: Int32, isNew: Bool) {
    let packs: Int32
    var isNew = true
    do {
      if refusal == nil {
        do { try system.makeDirectory(root, "packs") } catch  where error.number == EEXIST { isNew = false }
      } else {
        isNew = false
      }
      packs = try system.open(root, "packs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    } catch {
      if let refusal, error.number == ENOENT {
        throw StoreFault(
          .readOnly,
          "there is no cache in the directory, and none can be created: \(String(cString: strerror(refusal.number)))"
        )
      }
      throw StoreFault(error, "can't open the directory \(path)/packs")
    }
    do {
      _ = try checked(packs, path + "/packs", trusts: trusts, system)
      return (packs, isNew)
    } catch {
      system.close(packs)
      throw error
    }
  }

  private static func checked(
    _ fd: Int32, _ path: String, trusts: Bool, _ system: any SystemCalls
  ) throws(StoreFault) -> FileStatus {
    let status: FileStatus
    do { status = try system.status(fd) } catch {
      throw StoreFault(error, "can't check the directory \(path)")
    }
    if !trusts, let flaw = FileDoor.flaw(owner: status.owner, mode: status.mode) {
      throw StoreFault(.denied, "\(path) \(flaw)")
    }
    return status
  }

  /// Whether the directory can only be read.
  var isReading: Bool { refusal != nil }

  /// Whether the file system has become read-only since the directory was opened. The kernel does that after a disk error.
  var hasBecomeReadOnly: Bool { !isReading && Self.refusal(root, system)?.number == EROFS }

  /// - Throws: `readOnly`.
  func checkWritable() throws(StoreFault) {
    if let refusal { throw .readOnly(refusal) }
  }

  static let deleted = StoreFault(
    .io, "the cache's directory, or a part of it, was deleted while it was open")

  /// Whether this process has found that the directory, its lock file or its packs were deleted. Other processes create them
  /// again and would not find what is stored here, so `StoreDoor` reopens the directory.
  var isDeleted: Bool { isLost.load(ordering: .relaxed) }

  /// Checks whether the folder of packs or this lock file was deleted, and remembers it.
  func findDeletion(of lock: LockFile) -> Bool {
    if lock.isDeleted || !holdsItsPacks { isLost.store(true, ordering: .relaxed) }
    return isDeleted
  }

  /// Returns the numbers of the existing packs.
  func packNumbers() throws(SystemFault) -> [UInt32] {
    try system.names(packs).compactMap(PackName.number).sorted()
  }

  /// Whether the folder with the name `packs` is still the open one.
  var holdsItsPacks: Bool { isNamed("packs", packs) }

  /// Returns whether a name still belongs to the open file. True if this can't be checked.
  func isNamed(_ name: String, _ fd: Int32) -> Bool {
    do throws(SystemFault) {
      let named = try system.open(root, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      defer { system.close(named) }
      let (its, ours) = (try system.status(named), try system.status(fd))
      return its.inode == ours.inode && its.device == ours.device
    } catch {
      return error.number != ENOENT
    }
  }

  /// Opens a file that Nuthatch made.
  func openFile(_ directory: Int32, _ name: String, _ flags: Int32) throws(SystemFault) -> (Int32, FileStatus)
  {
    try FileDoor.open(directory, name, flags, system, ignoring: trusts ? .ownerAndMode : .nothing)
  }

  func isThere(_ directory: Int32, _ name: String) throws(SystemFault) -> Bool {
    do throws(SystemFault) {
      system.close(try openFile(directory, name, O_RDONLY).0)
      return true
    } catch  where error.number == ENOENT {
      return false
    }
  }

  /// Gives a new pack its name. Throws `EEXIST` if the name is taken.
  func rename(_ temporary: String, toNew name: String) throws(SystemFault) {
    do throws(SystemFault) {
      return try system.rename(packs, temporary, name, replaces: false)
    } catch {
      // NFS, 9P and older ZFS don't support RENAME_NOREPLACE.
      guard error.number == EINVAL || error.number == ENOSYS else { throw error }
    }
    var isTaken = true
    // If something other than a file has the name, it is taken.
    do throws(SystemFault) { isTaken = try isThere(packs, name) } catch
      where error.number == EINVAL || error.number == ELOOP
    {}
    if isTaken { throw SystemFault(EEXIST) }
    // No other process creates a file with this name meanwhile, because each number is given once.
    try system.rename(packs, temporary, name, replaces: true)
  }

  /// Returns whether mapped bytes of a file can be written now. On a copy-on-write file system each write may need new room, and
  /// on a full disk it would break the mapping.
  func canWrite(_ base: UnsafeMutableRawPointer, _ length: Int) -> Bool {
    if writesInPlace { return true }
    guard !isReading else { return false }
    let begin = UInt(bitPattern: base) & ~4095
    guard let page = UnsafeMutableRawPointer(bitPattern: begin) else { return false }
    do throws(SystemFault) {
      try system.populate(page, Int(UInt(bitPattern: base) + UInt(length) - begin + 4095) & ~4095)
      return true
    } catch {
      // Before Linux 5.14 the kernel can't tell. Assume that they can be written.
      return error.number == EINVAL
    }
  }

  /// Deletes the file with this name, because a new one is about to be created. A file that Nuthatch didn't make is renamed.
  func makeWay(for name: String) throws(SystemFault) {
    guard !isForeign(name) else { return try setAside(name) }
    do throws(SystemFault) { try system.unlink(root, name) } catch  where error.number == ENOENT {}
  }

  /// Gives a temporary file its name and replaces the file that has it.
  func replace(_ name: String, by temporary: String) throws(SystemFault) {
    if isForeign(name) { try setAside(name) }
    try system.rename(root, temporary, name, replaces: true)
  }

  /// Returns whether there is a file with this name that Nuthatch didn't make. False for a symbolic or hard link, because
  /// replacing it loses no data.
  private func isForeign(_ name: String) -> Bool {
    do throws(SystemFault) {
      system.close(
        try FileDoor.open(root, name, O_RDONLY, system, ignoring: trusts ? .ownerAndMode : .names).0)
      return false
    } catch {
      return error.number == EACCES || error.unsafe != nil && error.number != ELOOP
    }
  }

  /// Renames a file that Nuthatch didn't make.
  private func setAside(_ name: String) throws(SystemFault) {
    let random = String(UInt64.random(in: .min ... .max), radix: 16)
    try system.rename(root, name, name + ".foreign-" + random, replaces: true)
  }

  /// Writes a small file under a temporary name and renames it.
  func replaceFile(_ name: String, _ bytes: [UInt8]) throws(SystemFault) {
    let temporary = name + ".new"
    try makeWay(for: temporary)
    let (fd, _) = try openFile(root, temporary, O_WRONLY | O_CREAT | O_EXCL)
    defer { system.close(fd) }
    try system.write(bytes, to: fd, at: 0)
    try replace(name, by: temporary)
  }

  /// Returns the bytes of a file of exactly this size, or nil.
  func readFile(_ name: String, size: Int) -> [UInt8]? {
    guard let (fd, status) = try? openFile(root, name, O_RDONLY) else { return nil }
    defer { system.close(fd) }
    guard status.size == Int64(size) else { return nil }
    var bytes = [UInt8](repeating: 0, count: size)
    let isWhole = bytes.withUnsafeMutableBytes { (try? system.readAll(fd, $0, 0)) ?? false }
    return isWhole ? bytes : nil
  }
}
