/// Identifies the record of a key. Two marks of a key are equal only if both stand for the same record.
///
/// A caller that has derived something from a record can check with a few instructions whether the key still has that record.
public struct RecordMark: Hashable, Sendable {
  /// The identity of the index; 0 for a record that is only in memory.
  let index: UInt64
  let pack: UInt32
  /// The record's offset in its pack, or the sequence number of a record in memory.
  let offset: UInt64
}

extension Store {
  /// Returns the mark of the record that `lookup` would find now, or nil if there is none. Reads no record and doesn't wait.
  /// Counts as a hit.
  public func mark(_ key: RecordKey) throws(StoreFault) -> RecordMark? {
    try check()
    return records.mark(of: key)
  }

  /// Returns whether a key still has this record. Also false if finding out would take a wait. Releases no entry of the memory
  /// tier, because that may need a lock that the caller holds.
  public func isCurrent(_ mark: RecordMark, _ key: RecordKey) -> Bool {
    guard isUsable else { return false }
    if spillsLate { return records.isCurrent(mark, key) }
    return door.seen { $0.reader.mark(of: key.hash, bringsUpToDate: false) == mark }
  }
}
