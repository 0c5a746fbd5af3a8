import CSystem
import Glibc
import NuthatchBase
import Synchronization

/// The file `locks`, open and mapped (docs/FORMAT.md, "Locks"). It names the index in use, so that a process that changes the
/// index needs no system call to check that it has the right one.
// The words are changed by atomic instructions, hence Sendable.
final class LockFile: @unchecked Sendable {
  private static let magic: UInt64 = 0x534B_434F_4C54_554E  // NUTLOCKS
  private static let postedPlace = 128
  private static let size = postedPlace + PostedRemovals.size
  static let name = "locks"
  /// The file that version 0.1 locked. A link in its place keeps that version out, because it can't read this index.
  private static let earlierName = "lock"

  /// -1 in a directory that can only be read; then no byte is locked.
  let fd: Int32
  private let directory: StoreDirectory
  private let system: any SystemCalls
  private let epoch = nhs_fork_epoch()
  private let words: FileMapping
  private let mending = WordLock()
  private let mends = Atomic(0)
  private let own = LockOwner.own
  private let isClosed = Atomic(false)
  private var base: UnsafeMutableRawPointer { words.base }

  /// Opens the file and creates it if it is missing. In a directory that can only be read, the words are mapped for reading, or
  /// are zeros if there is no such file.
  init(_ directory: StoreDirectory) throws(StoreFault) {
    self.directory = directory
    system = directory.system
    guard !directory.isReading else {
      fd = -1
      do throws(SystemFault) { words = try Self.read(directory) } catch {
        throw StoreFault(error, "can't read the file locks")
      }
      return
    }
    try Self.keepEarlierOut(directory)
    do throws(SystemFault) {
      (fd, words) = try Self.open(directory)
    } catch {
      throw StoreFault(error, "can't open the file locks")
    }
    guard nhs_close_in_child(fd) == 0 else {
      // All properties have values here, so `deinit` closes the file.
      throw StoreFault(.io, "this process has too many cache directories open; close some")
    }
  }

  private static func open(
    _ directory: StoreDirectory
  ) throws(SystemFault) -> (fd: Int32, words: FileMapping) {
    let system = directory.system
    for _ in 0..<8 {
      let (fd, status) = try directory.openFile(directory.root, name, O_RDWR | O_CREAT)
      do throws(SystemFault) {
        // The file never gets shorter, so a concurrent enlargement does no harm. Its block is reserved: the first write to a
        // mapped page without a block would break the mapping if the disk is full.
        try system.makeRoom(fd, size, status)
        // Map another open file description: a forked child inherits the mapping, and would keep the description and with it
        // the locks of a killed parent.
        let (other, itsStatus) = try directory.openFile(directory.root, name, O_RDWR)
        defer { system.close(other) }
        if status.inode == itsStatus.inode { return (fd, try system.map(other, size, isWritable: true)) }
      } catch {
        system.close(fd)
        throw error
      }
      // The file was deleted and created again between the two calls: open it again.
      system.close(fd)
    }
    throw SystemFault(ENOENT)
  }

  /// Maps the words again if an access to them has failed. Returns false if they can't be read. Needs no lock.
  func mend() -> Bool {
    mending.withLock {
      guard words.isBroken else { return true }
      guard fd >= 0 else { return false }
      do throws(SystemFault) {
        let (other, status) = try directory.openFile(directory.root, Self.name, O_RDWR)
        defer { system.close(other) }
        guard try system.status(fd).inode == status.inode else { return false }
        try system.makeRoom(other, Self.size, status)
        try system.mapAgain(words, other)
      } catch {
        return false
      }
      mends.wrappingAdd(1, ordering: .relaxed)
      _ = isNew
      return !words.isBroken
    }
  }

  /// How often the words were mapped again. Each time, words that were written before may be lost.
  var timesMended: Int { mends.load(ordering: .relaxed) }

  private static func read(_ directory: StoreDirectory) throws(SystemFault) -> FileMapping {
    let system = directory.system
    guard let (fd, status) = try? directory.openFile(directory.root, name, O_RDONLY) else {
      return try system.mapPrivately(-1, size)
    }
    defer { system.close(fd) }
    return try system.mapPrivately(status.size < Int64(size) ? -1 : fd, size)
  }

  /// Puts a link in the place of the file that version 0.1 locks.
  ///
  /// - Throws: `conflict` if a program of that version has the directory open.
  private static func keepEarlierOut(_ directory: StoreDirectory) throws(StoreFault) {
    do throws(SystemFault) {
      for _ in 0..<8 where try isKeptOut(directory) { return }
      throw SystemFault(EEXIST)
    } catch {
      switch error.number {
      // A link or a folder: version 0.1 can't open it either.
      case ELOOP, EISDIR: return
      case EBUSY:
        throw StoreFault(
          .conflict,
          "a program with Nuthatch 0.1 has the directory open: end it, or use another directory")
      default: throw StoreFault(error, "can't replace the file lock, which version 0.1 uses")
      }
    }
  }

  /// Returns false if another process created something in that place at this moment: a link (this version) or a lock file
  /// (version 0.1).
  private static func isKeptOut(_ directory: StoreDirectory) throws(SystemFault) -> Bool {
    let system = directory.system
    var fd: Int32 = -1
    do throws(SystemFault) { (fd, _) = try directory.openFile(directory.root, earlierName, O_RDWR) } catch
      where error.number == ENOENT
    {
      do throws(SystemFault) { try system.link(directory.root, earlierName, to: name) } catch
        where error.number == EEXIST
      { return false }
      return true
    } catch  where error.unsafe != nil && error.number != ELOOP {
      // Nuthatch didn't make this file. It is renamed, but not locked: it may be another name of a pack.
    }
    defer { if fd >= 0 { system.close(fd) } }
    // Another process of this version locks it only for a moment, to do the same; a process of version 0.1 locks it as long as
    // it runs.
    let limit = min(nhs_monotonic_ns() &+ WaitLimit.commit, WaitLimit.deadline())
    if fd >= 0, try !system.lock(fd, DirectoryLocks.Byte.users.rawValue, .exclusive, until: limit) {
      throw SystemFault(EBUSY)
    }
    // A program that has opened the file and waits for its lock then finds that the file is deleted, and opens the link.
    let temporary = earlierName + ".new"
    try directory.makeWay(for: temporary)
    try system.link(directory.root, temporary, to: name)
    try directory.replace(earlierName, by: temporary)
    return true
  }

  deinit {
    close()
    system.unmap(words)
  }

  /// Unlocks and closes the file while the object stays. The words stay readable.
  func close() {
    // In a forked child the descriptor is already closed; its number may belong to another file.
    guard epoch == nhs_fork_epoch(), fd >= 0, !isClosed.exchange(true, ordering: .acquiringAndReleasing)
    else { return }
    // Unlock first: a child that is forked between the next two lines would keep the locks.
    for byte in DirectoryLocks.Byte.allCases { system.unlock(fd, byte.rawValue) }
    nhs_keep_in_child(fd)
    system.close(fd)
  }

  /// Whether the file was never completed. Then it has no users, or their file was deleted.
  var isNew: Bool {
    get { nhs_load64(base) != Self.magic }
    set { store(newValue ? 0 : Self.magic, at: 0) }
  }

  /// The random number of the index in use; 0 while it is being replaced.
  var index: UInt64 {
    get { nhs_load64(base + 8) }
    set { store(newValue, at: 8) }
  }

  /// The highest pack number that was given, as far as is known. It keeps a new index from giving a number twice.
  var lastPack: UInt64 {
    get { plausible(at: 16, below: 1 << 31) }
    set { if newValue > lastPack { store(newValue, at: 16) } }
  }

  /// Returns the number for a new pack, or nil if the index can't be written.
  func takePackNumber(_ index: Index) -> UInt32? {
    guard index.canWriteHead else { return nil }
    // A damaged counter could give a number again: other processes still have the pack with that number mapped, and would read
    // there. Or it could skip nearly all numbers.
    let (last, next) = (lastPack, index.nextPack)
    if next <= last || next > UInt64(PackName.lastGiven) || last > 0 && next - last > 1 << 25 {
      index.set(nextPack: last + 1)
    }
    guard let number = index.takePackNumber() else { return nil }
    lastPack = UInt64(number)
    return number
  }

  /// The first sequence number of the index in use if it was made from the packs.
  var firstSequence: UInt64 {
    get { plausible(at: 24, below: 1 << 60) }
    set { store(newValue, at: 24) }
  }

  /// Whether a process has found in this session that the disk failed, so that written records may be lost.
  var hasLosses: Bool {
    get { nhs_load64(base + 32) != 0 }
    set { store(newValue ? 1 : 0, at: 32) }
  }

  private static func ownerPlace(_ byte: DirectoryLocks.Byte) -> Int { byte == .dropping ? 96 : 64 }

  /// Notes that this process has locked a byte.
  func noteOwner(of byte: DirectoryLocks.Byte) {
    guard directory.canWrite(base, Self.size) else { return }
    own.store(at: base + Self.ownerPlace(byte))
  }

  /// Returns a description of the process that locked a byte last.
  func owner(of byte: DirectoryLocks.Byte) -> String {
    LockOwner(at: base + Self.ownerPlace(byte)).words
  }

  /// The address of `index`. Valid as long as this object.
  var indexWord: UnsafeRawPointer { UnsafeRawPointer(base + 8) }

  /// Whether an access to the words has failed: they read as zeros then, and other processes don't see what is written.
  var isBroken: Bool { words.isBroken }

  /// The pending removals that all processes see.
  var posted: PostedRemovals { PostedRemovals(at: base + Self.postedPlace) }
  /// Whether a posted removal can be written now.
  var canPost: Bool { directory.canWrite(base, Self.size) }

  private func plausible(at offset: Int, below limit: UInt64) -> UInt64 {
    let word = nhs_load64(base + offset)
    return word < limit ? word : 0
  }

  /// Stores nothing if the disk has no room. A reader that finds a missing or wrong word searches for the index anyway.
  private func store(_ word: UInt64, at offset: Int) {
    if directory.canWrite(base, Self.size) { nhs_store64(base + offset, word) }
  }

  /// Whether the file was deleted or moved, so that newly started processes lock another file.
  var isDeleted: Bool { fd >= 0 && !directory.isNamed(Self.name, fd) }
}
