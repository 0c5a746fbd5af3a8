import CSystem

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
  /// The mark of the record that `lookup` would find now. Nil when there is none, and also for one that is kept by a pin
  /// alone. Reads no record, waits for nobody, and makes a hit of it.
  public func mark(_ key: RecordKey) throws(StoreFault) -> RecordMark? {
    try check()
    if let mark = memoryMark(key) { return mark }
    return unretained._withUnsafeGuaranteedRef { $0.mark(of: key.hash, bringsUpToDate: true) }
  }

  /// Whether a key still has this record. False also when that can't be said at once. Lets nothing go that the memory tier
  /// keeps: its end may need a lock that the caller holds.
  public func isCurrent(_ mark: RecordMark, _ key: RecordKey) -> Bool {
    guard isUsable else { return false }
    return unretained._withUnsafeGuaranteedRef { shared in
      if spillsLate, let isPrivate = shared.isPrivateNow(mark, key) { return isPrivate }
      return shared.mark(of: key.hash, bringsUpToDate: false) == mark
    }
  }

  private func memoryMark(_ key: RecordKey) -> RecordMark? {
    guard spillsLate else { return nil }
    let lease = unretained._withUnsafeGuaranteedRef {
      $0.followOthers()
      return $0.privateRecord(of: key)
    }
    guard let lease else { return nil }
    return RecordMark(index: 0, pack: 0, offset: lease.sequence)
  }
}

extension SharedStore {
  @inline(__always)
  func mark(of hash: KeyHash, bringsUpToDate: Bool) -> RecordMark? {
    guard !due.take(hash) else { return nil }
    var isBehind = false
    let mark = reading { index, _, _ -> RecordMark? in
      isBehind = isOutdated(index)
      return isBehind ? nil : Self.mark(of: hash, index)
    }
    guard isBehind, bringsUpToDate, let index = currentForReading() else { return mark ?? nil }
    return Self.mark(of: hash, index)
  }

  @inline(__always)
  private static func mark(of hash: KeyHash, _ index: Index) -> RecordMark? {
    guard let found = index.find(hash) else { return nil }
    index.visit(found)
    return RecordMark(
      index: index.identity, pack: found.slot.location.pack, offset: UInt64(found.slot.location.offset))
  }
}
