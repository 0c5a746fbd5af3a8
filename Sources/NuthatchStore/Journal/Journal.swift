import CSystem
import NuthatchBase

/// What a journal's records mean is its reader's business. Called under the journal's lock.
package protocol JournalReader: AnyObject {
  /// The records come again, from the first one on.
  func begin()
  /// One more record, in the order in which they were written, by whatever process.
  func take(_ payload: UnsafeRawBufferPointer, at place: JournalPlace)
  /// The records that are still wanted, in their order.
  var wanted: [JournalPlace] { get }
  /// What they take in a log, all of them; asked after every change.
  var wantedBytes: Int64 { get }
  /// The bodies that they name.
  var bodies: Set<String> { get }
}

/// Records that survive a loss of power, one after the other in the file `outbox/log` of a directory that several processes
/// share (docs/FORMAT.md has every byte).
///
/// All of them change it in turn, under a lock that the kernel frees when its owner dies. Who has the lock reads first what
/// the others have added, so that every process's reader has seen the same. An end that was torn by a kill is cut off;
/// what is damaged in the middle is set aside in a file of its own, and what follows it is read.
// What changes is under its lock, hence Sendable.
package final class Journal: @unchecked Sendable {
  private let system: any SystemCalls
  private let directory: String
  private let mutex = WordLock()

  // Guarded by `mutex`; what they describe is changed by who has the folder's lock, too.
  private let log: JournalLog
  private var folder: JournalFolder?
  /// Whether another process was waited for in vain, and has the lock still.
  private var isHeld = false

  package convenience init(_ directory: String, _ reader: any JournalReader) {
    self.init(directory, reader, LinuxCalls())
  }

  /// Nothing is opened, and nothing made, before there is something to read or to write.
  init(_ directory: String, _ reader: any JournalReader, _ system: any SystemCalls) {
    self.directory = directory
    self.system = system
    log = JournalLog(reader)
  }

  /// The files in which this process has set damage aside.
  package var damage: [String] { mutex.withLock { log.asides } }

  /// Where a body lies.
  package func path(ofBody name: String) -> String { "\(directory)/\(JournalFolder.name)/\(name)" }

  /// Does something as the only one who changes the journal, with everything read that there is. Not at all, and nil, when
  /// there is no journal and none is to be made. One that can only be read is looked at without a lock; `append` throws then.
  ///
  /// - Parameter isAsked: whether a caller waits for just this: then it waits longer for another process.
  /// - Throws: `busy`.
  package func changing<Result>(
    makes: Bool, isAsked: Bool = false, _ body: (OpenJournal) throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result? {
    try Patience.lasting(isAsked ? Patience.upkeep : Patience.writing) { () throws(StoreFault) -> Result? in
      var pause: Int64 = 0
      while true {
        let turn = try mutex.patiently(Self.busy()) { () throws(StoreFault) -> Turn<Result> in
          try takeTurn(makes: makes, body)
        }
        if case .over(let result) = turn { return result }
        // Other threads look meanwhile.
        if pause == 0 { sched_yield() } else { nhs_nap(pause) }
        pause = min(pause * 2 + 1000, 1_000_000)
      }
    }
  }

  private enum Turn<Result> {
    case over(Result?)
    /// Another process has the lock.
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
      // Who has waited before, in vain, doesn't make each further record late.
      guard !(isHeld && Patience.isOfWriter), nhs_monotonic_ns() < Patience.deadline() else {
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
    StoreFault(.busy, "\(owner) has been changing the outbox for too long; is it stopped?")
  }

  static let canOnlyBeRead = StoreFault(.readOnly, "the outbox can only be read")

  /// Looks at what there is. Nobody who changes the journal is waited for: what that one is writing is seen the next time.
  package func looking<Result>(
    _ body: (OpenJournal) throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result? {
    try mutex.patiently(Self.busy()) { () throws(StoreFault) -> Result? in
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

  /// Does something with the locks that are held for longer than a change. Nil when the outbox hasn't been opened yet.
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
    folder = try doing("opening the outbox") { () throws(SystemFault) in
      try JournalFolder(in: directory, makes: makes, system)
    }
    return folder
  }
}
