/// Keeps records under keys: what the face of a store calls. `DiskStore` keeps them in packs; `MemoryFirstStore` keeps them in
/// memory until they have to go to packs.
protocol RecordStore: AnyObject, Sendable {
  /// Where the packs are, and what processes share.
  var disk: DiskStore { get }

  /// The record of a key.
  ///
  /// - Parameter most: how long a payload may be that is checked.
  func lookup(_ key: RecordKey, checking most: Int) -> Lookup

  /// Keeps a record in place of the one with its key.
  ///
  /// - Parameter moment: when it was asked for, if it is an answer. Then it is kept only if its groups weren't removed since, and
  ///   no answer to a later question is there.
  /// - Returns: nil when an answer isn't kept.
  func commit(
    _ key: RecordKey, _ shape: PayloadShape, _ parts: [UnsafeRawBufferPointer], asked moment: Moment?
  ) throws(StoreFault) -> Lease?

  /// Takes a record out. False when there was none.
  func remove(_ key: RecordKey) throws(StoreFault) -> Bool

  /// Takes the records of groups out, and those of keys. What was there.
  func remove(_ groups: [RecordGroup], _ keys: [RecordKey]) throws(StoreFault) -> [RemovedRecord]

  /// Takes everything out, of all processes.
  func clear() throws(StoreFault)

  /// Calls `body` with every record, or those of a kind, until it says false.
  func forEach(_ kind: RecordKind?, _ body: (RecordKey, Lease) -> Bool) throws(StoreFault)

  /// Does to a record's chances what a hit does. False when there is none.
  func touch(_ key: RecordKey) -> Bool

  /// Whether there is a record of this key. Reads none.
  func has(_ key: RecordKey) -> Bool

  /// Whether the record of a key is where it should be, and whole.
  func holds(_ key: RecordKey) -> Bool

  /// The mark of the record of a key; nil when there is none. Makes a hit of it.
  func mark(of key: RecordKey) -> RecordMark?

  /// Whether a key still has this record. False also when that can't be said at once.
  func isCurrent(_ mark: RecordMark, _ key: RecordKey) -> Bool

  /// Keeps something in memory. False when it is too large for that.
  func remember(_ entry: MemoryEntry) -> Bool

  /// Writes what is in memory only to packs.
  func flush() throws(StoreFault)

  /// Makes room in memory: half of what is taken, or all.
  func relieve(_ level: MemoryPressure)

  /// Lets go of everything.
  ///
  /// - Parameter flushes: whether what is in memory only is written.
  func finish(flushes: Bool)
}
