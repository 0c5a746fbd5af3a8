/// A journal during one change or look (`Journal.changing`, `Journal.looking`). Don't store it.
package struct OpenJournal {
  let folder: JournalFolder
  let log: JournalLog

  package var locks: JournalLocks { folder.locks }

  // MARK: Records

  /// Appends a record and returns when it is safe from a loss of power. Only within a change.
  ///
  /// - Throws: then the record was removed again or, if even that failed, is intact.
  @discardableResult
  package func append(_ payload: [UInt8]) throws(StoreFault) -> JournalPlace {
    try log.append(payload, folder)
  }

  /// Returns the payload of a record.
  package func read(_ place: JournalPlace) throws(StoreFault) -> [UInt8] { try log.read(place) }

  /// The sequence number of the next record.
  package var next: UInt64 { log.next }

  // MARK: Bodies

  /// Creates a body. Write it after the change, without the lock.
  package func newBody() throws(StoreFault) -> JournalBody {
    try explaining("can't create a body in the outbox") { () throws(SystemFault) in
      try JournalBody(folder)
    }
  }

  /// Opens a body that a record names. Read it after the change, without the lock.
  package func body(_ name: String, count: Int64) throws(StoreFault) -> JournalBody {
    try explaining("can't read a body of the outbox") { () throws(SystemFault) in
      try JournalBody(folder, name, count)
    }
  }

  /// Deletes a body that no record names any more.
  package func remove(body name: String) {
    // If that fails, `sweep` deletes it later.
    try? folder.remove(name)
  }

  /// Deletes bodies that killed writers left. Only within a change.
  package func sweep() {
    // If the folder can't be listed, a later call deletes them.
    guard let names = try? folder.names() else { return }
    let wanted = log.bodies
    for name in names where name.hasPrefix("body-") && !wanted.contains(name) {
      JournalBody.sweep(name, folder)
    }
  }

  // MARK: Damage

  /// The files to which this process has copied damaged bytes.
  package var damage: [String] { log.asides }

  /// The existing files to which any process has copied damaged bytes.
  package var asideFiles: [String] {
    // If the folder can't be listed, return the files that this process knows.
    guard let names = try? folder.names() else { return damage }
    return names.filter { $0.hasPrefix("damaged-") }.sorted()
  }
}
