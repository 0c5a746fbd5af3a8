/// Which record a key has: two marks of a key are equal only when both stand for one and the same record.
///
/// For who has made something of a record, and wants to know in a few instructions whether it still is the one.
public struct RecordMark: Hashable, Sendable {
  /// Of the index that said so; 0 for a record that is in memory only.
  let index: UInt64
  let pack: UInt32
  /// Of the record in its pack; of one in memory its sequence.
  let offset: UInt64
}

extension Store {
  /// The mark of the record that `lookup` would find now. Nil when there is none. Reads no record, waits for nobody, and makes a
  /// hit of it.
  public func mark(_ key: RecordKey) throws(StoreFault) -> RecordMark? {
    try check()
    return records.mark(of: key)
  }

  /// Whether a key still has this record. False also when that can't be said at once. Lets nothing go that the memory tier
  /// keeps: its end may need a lock that the caller holds.
  public func isCurrent(_ mark: RecordMark, _ key: RecordKey) -> Bool {
    guard isUsable else { return false }
    if spillsLate { return records.isCurrent(mark, key) }
    return door.seen { $0.reader.mark(of: key.hash, bringsUpToDate: false) == mark }
  }
}
