import CSystem
import Glibc
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
package final class Journal: @unchecked Sendable {
  let system: any SystemCalls
  let directory: String
  let reader: any JournalReader
  private let mutex = WordLock()

  // Guarded by `mutex`; what they describe is changed by who has the folder's lock, too.
  var folder: JournalFolder?
  var log: Int32 = -1
  var salt: UInt64 = 0
  /// The inode of the file that is open.
  var inode: UInt64 = 0
  /// What has been read, and where the next record goes.
  var end: Int64 = 0
  var next: UInt64 = 1
  var asides: [String] = []
  var mustRewrite = false
  private var hasLease = false
  /// Whether another process was waited for in vain, and has the lock still.
  private var isHeld = false

  package convenience init(_ directory: String, _ reader: any JournalReader) {
    self.init(directory, reader, LinuxCalls())
  }

  /// Nothing is opened, and nothing made, before there is something to read or to write.
  init(_ directory: String, _ reader: any JournalReader, _ system: any SystemCalls) {
    self.directory = directory
    self.reader = reader
    self.system = system
  }

  deinit { closeLog() }

  /// The files in which damage was set aside.
  package var damage: [String] { mutex.withLock { asides } }
  /// The same, to be asked while changing.
  package var damageWhileChanging: [String] { asides }

  /// Does something as the only one who changes the journal, with everything read that there is. Not at all, and nil, when
  /// there is no journal and none is to be made. One that can only be read is looked at without a lock; `append` throws then.
  ///
  /// - Parameter isAsked: whether a caller waits for just this: then it waits longer for another process.
  /// - Throws: `busy`.
  package func changing<Result>(
    makes: Bool, isAsked: Bool = false, _ body: () throws(StoreFault) -> Result
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
    makes: Bool, _ body: () throws(StoreFault) -> Result
  ) throws(StoreFault) -> Turn<Result> {
    guard let folder = try openFolder(makes: makes) else { return .over(nil) }
    guard !folder.isReading else { return .over(try reading(folder, makes: makes, body)) }
    guard try tryLock(JournalFolder.changing) else {
      // Who has waited before, in vain, doesn't make each further record late.
      guard !(isHeld && Patience.isOfWriter), nhs_monotonic_ns() < Patience.deadline() else {
        isHeld = true
        throw Self.busy(folder.owner)
      }
      return .isHeld
    }
    defer { unlock(JournalFolder.changing) }
    isHeld = false
    folder.noteOwner()
    try follow(folder, changes: true)
    let result = try body()
    tidy()
    return .over(result)
  }

  private static func busy(_ owner: String = "another thread") -> StoreFault {
    StoreFault(.busy, "\(owner) has been changing the outbox for too long; is it stopped?")
  }

  /// Looks at what there is. Nobody who changes the journal is waited for: what that one is writing is seen the next time.
  package func looking<Result>(
    _ body: () throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result? {
    try mutex.patiently(Self.busy()) { () throws(StoreFault) -> Result? in
      guard let folder = try openFolder(makes: false) else { return nil }
      var hasLock = false
      if !folder.isReading { hasLock = try tryLock(JournalFolder.changing) }
      defer { if hasLock { unlock(JournalFolder.changing) } }
      try follow(folder, changes: hasLock)
      return log < 0 ? nil : try body()
    }
  }

  /// What the others are writing at this moment is seen the next time.
  private func reading<Result>(
    _ folder: JournalFolder, makes: Bool, _ body: () throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result? {
    guard !makes else { throw Self.canOnlyBeRead }
    try follow(folder, changes: false)
    return log < 0 ? nil : try body()
  }

  static let canOnlyBeRead = StoreFault(.readOnly, "the outbox can only be read")

  private func openFolder(makes: Bool) throws(StoreFault) -> JournalFolder? {
    if let folder, !folder.isGone { return folder }
    closeLog()
    hasLease = false
    folder = try doing("opening the outbox") { () throws(SystemFault) in
      try JournalFolder(in: directory, makes: makes, system)
    }
    return folder
  }

  func closeLog() {
    if log >= 0 { system.close(log) }
    log = -1
  }

  // MARK: Locks of their own

  /// Makes this process the one that sends. False while another one is. To be called while changing.
  package func tryLeaseWhileChanging() throws(StoreFault) -> Bool {
    guard !hasLease else { return true }
    hasLease = try tryLock(JournalFolder.sending)
    return hasLease
  }

  /// Whether no other process sends, and this one doesn't either. To be called while changing.
  package func isLeaseFreeWhileChanging() throws(StoreFault) -> Bool {
    // Nobody knows of a folder that can only be read.
    if let folder, folder.isReading { return true }
    guard !hasLease, try tryLeaseWhileChanging() else { return false }
    unlock(JournalFolder.sending)
    hasLease = false
    return true
  }

  /// Lets others send.
  package func releaseLease() {
    mutex.withLock {
      if hasLease { unlock(JournalFolder.sending) }
      hasLease = false
    }
  }

  /// Takes a record for this process. False while another one has it; within the process everybody gets it.
  package func tryTake(_ sequence: UInt64) throws(StoreFault) -> Bool {
    try mutex.withLock { () throws(StoreFault) in try tryLock(Self.byte(of: sequence)) }
  }

  package func giveBack(_ sequence: UInt64) { mutex.withLock { unlock(Self.byte(of: sequence)) } }

  /// The same, to be called while changing.
  package func tryTakeWhileChanging(_ sequence: UInt64) throws(StoreFault) -> Bool {
    try tryLock(Self.byte(of: sequence))
  }

  package func giveBackWhileChanging(_ sequence: UInt64) { unlock(Self.byte(of: sequence)) }

  /// The sequence number of the next record.
  package var nextWhileChanging: UInt64 { next }

  package var hasLeaseWhileChanging: Bool { hasLease }

  private static func byte(of sequence: UInt64) -> Int64 {
    JournalFolder.firstRecord + Int64(truncatingIfNeeded: sequence & (1 << 62 - 1))
  }

  private func tryLock(_ byte: Int64) throws(StoreFault) -> Bool {
    guard let folder, !folder.isReading else { return false }
    return try doing("locking the outbox") { () throws(SystemFault) in
      try system.tryLock(folder.lock, byte, .exclusive)
    }
  }

  private func unlock(_ byte: Int64) {
    if let folder, !folder.isReading { system.unlock(folder.lock, byte) }
  }
}
