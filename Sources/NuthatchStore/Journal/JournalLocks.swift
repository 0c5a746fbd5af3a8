import CSystem
import Glibc

/// The bytes of the file `outbox/lock`: one for the process that changes the journal, one for the process that sends, and one
/// for each record's first attempt (docs/FORMAT.md).
///
/// Guarded by the journal's lock.
package final class JournalLocks {
  private static let changing: Int64 = 0
  private static let sending: Int64 = 1
  /// The first byte of those that stand for single records.
  private static let firstRecord: Int64 = 1024
  private static let noteSize = 64

  /// -1 if the file can only be read or can't be created: then nothing is locked and nothing is written.
  let file: Int32
  private let system: any SystemCalls
  private let epoch = nhs_fork_epoch()
  private let own = LockOwner.own
  /// The mapped bytes where the owner notes its number and name; nil if they can't be mapped.
  private let note: FileMapping?
  /// Whether this process is the one that sends requests of the outbox.
  package private(set) var hasLease = false

  /// - Parameter mayBeReading: accept a folder that can only be read.
  init(_ folder: Int32, mayBeReading: Bool, _ system: any SystemCalls) throws(SystemFault) {
    self.system = system
    do throws(SystemFault) {
      file = try FileDoor.open(folder, "lock", O_RDWR | O_CREAT, system).0
    } catch {
      guard mayBeReading, error.number == EROFS || error.number == EACCES else { throw error }
      file = -1
    }
    note = file < 0 ? nil : try? Self.words(folder, system)
    // A child that inherits the descriptor would hold its dead parent's locks.
    if file >= 0 { _ = nhs_close_in_child(file) }
  }

  deinit {
    if let note { system.unmap(note) }
    guard epoch == nhs_fork_epoch(), file >= 0 else { return }
    nhs_keep_in_child(file)
    system.close(file)
  }

  /// Maps the file through another open file description: a forked child inherits the mapping, and would keep the locks of this
  /// one.
  private static func words(_ folder: Int32, _ system: any SystemCalls) throws(SystemFault) -> FileMapping {
    let (fd, status) = try FileDoor.open(folder, "lock", O_RDWR, system)
    defer { system.close(fd) }
    try system.makeRoom(fd, noteSize, status)
    return try system.map(fd, noteSize, isWritable: true)
  }

  /// Whether the folder can only be read.
  var isReading: Bool { file < 0 }

  // MARK: Changing

  /// Returns false while another process changes the journal.
  func tryChange() throws(StoreFault) -> Bool { try tryLock(Self.changing) }

  func endChange() { unlock(Self.changing) }

  /// Notes that this process has the lock. Writes through the mapping: a system call would send change notifications to
  /// programs that watch the folder.
  func noteOwner() {
    if let note { own.store(at: note.base) }
  }

  /// A description of the process that locked it last.
  var owner: String {
    note.map { LockOwner(at: $0.base).words } ?? LockOwner.unknown
  }

  // MARK: Sending

  /// Makes this process the one that sends. Returns false while another process is.
  package func tryLease() throws(StoreFault) -> Bool {
    guard !hasLease else { return true }
    hasLease = try tryLock(Self.sending)
    return hasLease
  }

  /// Returns whether no process sends, not even this one.
  package func isLeaseFree() throws(StoreFault) -> Bool {
    // The lock can't be tried in a folder that can only be read.
    if isReading { return true }
    guard !hasLease, try tryLease() else { return false }
    releaseLease()
    return true
  }

  /// Lets other processes send.
  package func releaseLease() {
    if hasLease { unlock(Self.sending) }
    hasLease = false
  }

  // MARK: First attempts

  /// Locks a record for this process. Returns false if another process holds it. Threads of one process don't exclude each
  /// other.
  package func tryTake(_ sequence: UInt64) throws(StoreFault) -> Bool {
    try tryLock(Self.byte(of: sequence))
  }

  package func giveBack(_ sequence: UInt64) { unlock(Self.byte(of: sequence)) }

  private static func byte(of sequence: UInt64) -> Int64 {
    firstRecord + Int64(truncatingIfNeeded: sequence & (1 << 62 - 1))
  }

  private func tryLock(_ byte: Int64) throws(StoreFault) -> Bool {
    guard !isReading else { return false }
    return try explaining("can't lock the outbox") { () throws(SystemFault) in
      try system.tryLock(file, byte, .exclusive)
    }
  }

  private func unlock(_ byte: Int64) {
    if !isReading { system.unlock(file, byte) }
  }
}
