import CSystem
import NuthatchBase

/// Interprets the records of a journal. Called with the journal's lock held.
package protocol JournalReader: AnyObject {
  /// Discards the state: the records are read again from the first one on.
  func begin()
  /// Takes the next record, in the order of writing, from any process.
  func take(_ payload: UnsafeRawBufferPointer, at place: JournalPlace)
  /// The places of the records that are still needed, in their order.
  var wanted: [JournalPlace] { get }
  /// The bytes that all needed records take in a log. Read after every change.
  var wantedBytes: Int64 { get }
  /// The names of the bodies that the records refer to.
  var bodies: Set<String> { get }
}

/// Records that survive a loss of power, in the file `outbox/log` of a directory that several processes share (docs/FORMAT.md
/// describes every byte).
///
/// One process at a time changes it, under a lock that the kernel releases when its owner ends. With the lock, a process first
/// reads the records that others have added, so that all processes read the same records in the same order. If a killed writer
/// left an incomplete record at the end, that record is cut off. Damaged bytes in the middle are copied to a file of their own,
/// and reading continues behind them.
// Its state is under its lock, hence Sendable.
package final class Journal: @unchecked Sendable {
  private let system: any SystemCalls
  private let directory: String
  private let mutex = WordLock()

  // Guarded by `mutex`; the folder's lock excludes other processes from the files.
  private let log: JournalLog
  private var folder: JournalFolder?
  /// Whether a wait for another process timed out, and that process still holds the lock.
  private var isHeld = false

  package convenience init(_ directory: String, _ reader: any JournalReader) {
    self.init(directory, reader, LinuxCalls())
  }

  /// Neither opens nor creates a file. The first read or write does.
  init(_ directory: String, _ reader: any JournalReader, _ system: any SystemCalls) {
    self.directory = directory
    self.system = system
    log = JournalLog(reader)
  }

  /// The files to which this process has copied damaged bytes.
  package var damage: [String] { mutex.withLock { log.asides } }

  /// Returns the path of a body.
  package func path(ofBody name: String) -> String { "\(directory)/\(JournalFolder.name)/\(name)" }

  /// Runs `body` with the lock for changing the journal, after reading all records. Returns nil without a call if there is no
  /// journal and `makes` is false. A journal that can only be read is read without a lock; `append` throws then.
  ///
  /// - Parameter isAsked: whether a caller waits for this change. Then it waits longer for another process.
  /// - Throws: `busy`.
  package func changing<Result>(
    makes: Bool, isAsked: Bool = false, _ body: (OpenJournal) throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result? {
    try WaitLimit.applying(isAsked ? WaitLimit.upkeep : WaitLimit.commit) {
      () throws(StoreFault) -> Result? in
      var pause: Int64 = 0
      while true {
        let turn = try mutex.withLock(orThrow: Self.busy()) { () throws(StoreFault) -> Turn<Result> in
          try takeTurn(makes: makes, body)
        }
        if case .over(let result) = turn { return result }
        // Let other threads read meanwhile.
        if pause == 0 { sched_yield() } else { nhs_nap(pause) }
        pause = min(pause * 2 + 1000, 1_000_000)
      }
    }
  }

  private enum Turn<Result> {
    case over(Result?)
    /// Another process holds the lock; try again.
    case isHeld
  }

  private func takeTurn<Result>(
    makes: Bool, _ body: (OpenJournal) throws(StoreFault) -> Result
  ) throws(StoreFault) -> Turn<Result> {
    guard let folder = try openFolder(makes: makes) else { return .over(nil) }
    guard !folder.locks.isReading else {
      guard !makes else { throw Self.canOnlyBeRead }
      return .over(try look(folder, changes: false, body))
    }
    guard try folder.locks.tryChange() else {
      // After a wait for that process has timed out, commits don't wait for it again.
      guard !(isHeld && WaitLimit.isOfCommit), nhs_monotonic_ns() < WaitLimit.deadline() else {
        isHeld = true
        throw Self.busy(folder.locks.owner)
      }
      return .isHeld
    }
    defer { folder.locks.endChange() }
    isHeld = false
    folder.locks.noteOwner()
    let result = try look(folder, changes: true, body)
    log.tidy(folder)
    return .over(result)
  }

  private static func busy(_ owner: String = "another thread") -> StoreFault {
    StoreFault(
      .busy, "\(owner) has been changing the outbox for too long; if it is stopped, continue or end it")
  }

  static let canOnlyBeRead = StoreFault(
    .readOnly, "the outbox can only be read: its file system is read-only, or this user may not write to it")

  /// Reads the journal without waiting for a process that changes it. The next call sees that change.
  package func looking<Result>(
    _ body: (OpenJournal) throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result? {
    try mutex.withLock(orThrow: Self.busy()) { () throws(StoreFault) -> Result? in
      guard let folder = try openFolder(makes: false) else { return nil }
      let hasLock = try folder.locks.tryChange()
      defer { if hasLock { folder.locks.endChange() } }
      return try look(folder, changes: hasLock, body)
    }
  }

  private func look<Result>(
    _ folder: JournalFolder, changes: Bool, _ body: (OpenJournal) throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result? {
    try log.follow(folder, changes: changes)
    return log.isOpen ? try body(OpenJournal(folder: folder, log: log)) : nil
  }

  /// Runs `body` with the locks that processes hold for longer than a change. Returns nil if the outbox isn't open yet.
  @discardableResult
  package func withLocks<Result, Fault>(
    _ body: (JournalLocks) throws(Fault) -> Result
  ) throws(Fault) -> Result? {
    try mutex.withLock { () throws(Fault) -> Result? in
      guard let folder else { return nil }
      return try body(folder.locks)
    }
  }

  private func openFolder(makes: Bool) throws(StoreFault) -> JournalFolder? {
    if let folder, !folder.isGone { return folder }
    log.close()
    folder = nil
    folder = try explaining("can't open the outbox") { () throws(SystemFault) in
      try JournalFolder(in: directory, makes: makes, system)
    }
    return folder
  }
}
