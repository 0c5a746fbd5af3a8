/// A journal for the time of one change or look (`Journal.changing`, `Journal.looking`). Not to be kept.
package struct OpenJournal {
  let folder: JournalFolder
  let log: JournalLog

  package var locks: JournalLocks { folder.locks }

  // MARK: Records

  /// Adds a record, and returns when it would survive a loss of power. Within a change only.
  ///
  /// - Throws: the record isn't there then, or, where not even that could be had, it is whole.
  @discardableResult
  package func append(_ payload: [UInt8]) throws(StoreFault) -> JournalPlace {
    try log.append(payload, folder)
  }

  /// The payload of a record.
  package func read(_ place: JournalPlace) throws(StoreFault) -> [UInt8] { try log.read(place) }

  /// The sequence number of the next record.
  package var next: UInt64 { log.next }

  // MARK: Bodies

  /// A new body. It is written when the change is over.
  package func newBody() throws(StoreFault) -> JournalBody {
    try doing("making a body in the outbox") { () throws(SystemFault) in
      try JournalBody(folder)
    }
  }

  /// A body that a record names. It is read when the change is over.
  package func body(_ name: String, count: Int64) throws(StoreFault) -> JournalBody {
    try doing("reading a body of the outbox") { () throws(SystemFault) in
      try JournalBody(folder, name, count)
    }
  }

  /// Removes a body that no record names any more.
  package func remove(body name: String) {
    // One that stays is swept up later.
    try? folder.remove(name)
  }

  /// Removes what kills have left behind. Within a change only.
  package func sweep() {
    // What can't be looked at now stays until the next time.
    guard let names = try? folder.names() else { return }
    let wanted = log.bodies
    for name in names where name.hasPrefix("body-") && !wanted.contains(name) {
      JournalBody.sweep(name, folder)
    }
  }

  // MARK: Damage

  /// The files in which this process has set damage aside.
  package var damage: [String] { log.asides }

  /// The files in which damage was set aside, by whomever and whenever, as long as they are there.
  package var asideFiles: [String] {
    // Where nobody can look, those that this process knows of.
    guard let names = try? folder.names() else { return damage }
    return names.filter { $0.hasPrefix("damaged-") }.sorted()
  }
}
