/// Keeps records under keys for `Store`. `DiskStore` keeps them in packs. `MemoryFirstStore` keeps them in memory until they
/// must be written to packs.
protocol RecordStore: AnyObject, Sendable {
  /// The part that manages the packs and everything that processes share.
  var disk: DiskStore { get }

  /// Returns the record of a key.
  ///
  /// - Parameter most: the length in bytes up to which a payload is verified.
  func lookup(_ key: RecordKey, checking most: Int) -> Lookup

  /// Stores a record and replaces the one with its key.
  ///
  /// - Parameter moment: when the answer's request was made; nil for other records. The answer is stored only if its groups
  ///   weren't removed since then and no answer to a later request is stored.
  /// - Returns: nil if the answer isn't stored.
  func commit(
    _ key: RecordKey, _ shape: PayloadShape, _ parts: [UnsafeRawBufferPointer], asked moment: Moment?
  ) throws(StoreFault) -> Lease?

  /// Removes a record. Returns false if there is none.
  func remove(_ key: RecordKey) throws(StoreFault) -> Bool

  /// Removes the records of groups and of keys. Returns the removed records.
  func remove(_ groups: [RecordGroup], _ keys: [RecordKey]) throws(StoreFault) -> [RemovedRecord]

  /// Removes all records, also those of other processes.
  func clear() throws(StoreFault)

  /// Calls `body` with every record, or every record of one kind, until it returns false.
  func forEach(_ kind: RecordKind?, _ body: (RecordKey, Lease) -> Bool) throws(StoreFault)

  /// Counts a hit for the record without reading it. Returns false if there is none.
  func touch(_ key: RecordKey) -> Bool

  /// Returns whether the key has a record. Reads no record.
  func has(_ key: RecordKey) -> Bool

  /// Returns whether the record of a key is at its place and intact.
  func holds(_ key: RecordKey) -> Bool

  /// Returns the mark of a key's record, or nil if there is none. Counts as a hit.
  func mark(of key: RecordKey) -> RecordMark?

  /// Returns whether the key still has this record. Also false if this can't be told without a wait.
  func isCurrent(_ mark: RecordMark, _ key: RecordKey) -> Bool

  /// Keeps an entry in memory. Returns false if it is too large.
  func remember(_ entry: MemoryEntry) -> Bool

  /// Writes the records that are only in memory to packs.
  func flush() throws(StoreFault)

  /// Frees half of the memory in use, or all of it.
  func relieve(_ level: MemoryPressure)

  /// Releases everything.
  ///
  /// - Parameter flushes: whether the records that are only in memory are written first.
  func finish(flushes: Bool)
}
