import CSystem
import Glibc

/// Answers: records that a removal keeps from coming back, and that only a later question replaces.
extension SharedStore {
  /// The moment of a question that is asked now. Nil when this process has yet to follow others, or the index can't be
  /// written. Opens no file and takes no lock that waits.
  func momentNow(_ first: RecordGroup, _ second: RecordGroup?) -> Moment? {
    guard !directory.isReading, !due.take(first, second) else { return nil }
    return reading { index, _, _ -> Moment? in
      guard !isSucceeded(index) else { return nil }
      let number = index.takeSequence()
      guard number != 0, number < 1 << 62 else { return nil }
      return index.moment(first, second, number: number)
    } ?? nil
  }

  /// The removals until now, for what is read now: a moment without a question. Nil when this process has yet to follow
  /// others.
  func removalsNow(_ first: RecordGroup, _ second: RecordGroup?) -> Moment? {
    if due.take(first, second) { return nil }
    return reading { index, _, _ in isSucceeded(index) ? nil : index.moment(first, second, number: 0) } ?? nil
  }

  /// The moment of a question that is asked now, after this process has followed others. May open files.
  func moment(_ first: RecordGroup, _ second: RecordGroup?) -> Moment? {
    if due.take(first, second) { return nil }
    let number = takeSequence()
    guard number != 0 else { return nil }
    return reading { index, _, _ in index.moment(first, second, number: number) } ?? nil
  }

  /// Whether nothing was removed since, as far as that can be said at once.
  @inline(__always)
  func isCurrentNow(_ moment: Moment) -> Bool {
    !due.take(moment) && reading { index, _, _ in !isSucceeded(index) && index.isCurrent(moment) } ?? false
  }

  /// Whether nothing was removed since.
  func isCurrent(_ moment: Moment) -> Bool {
    followOthers()
    return !due.take(moment) && reading { index, _, _ in index.isCurrent(moment) } ?? false
  }

  /// Whether an answer to this question may take its place now. To be called by the index's changer.
  func mayReplace(_ header: RecordHeader, _ moment: Moment, _ index: Index) throws(StoreFault) -> Bool {
    guard index.isCurrent(moment) else { return false }
    let record = try doing("looking at a pack") { () throws(SystemFault) in try named(header.hash, index) }
    guard let record, !record.isRetired else { return true }
    return record.header.shape.question <= header.shape.question
  }

  /// Whether the packs have an answer to a later question than this one.
  func hasLaterAnswer(_ key: RecordKey, than number: UInt64) -> Bool {
    guard reading({ index, _, _ in index.find(key.hash) != nil }) ?? false else { return false }
    return current(key).map { $0.lease.shape.question > number } ?? false
  }

  /// Takes the records of groups out, and those of keys. From then on no answer of these groups is kept that was asked for
  /// before, by any process; nor one of the groups that the keys of answers belong to.
  ///
  /// - Returns: what was there.
  func remove(_ groups: [RecordGroup], _ keys: [RecordKey]) throws(StoreFault) -> [RemovedRecord] {
    let removed = try changing { (index) throws(StoreFault) -> [RemovedRecord] in
      var removed: [RemovedRecord] = []
      try takeInLeftBehind(index)
      // First: an answer that is on its way must not come between.
      for group in groups + Set(keys.compactMap(\.group)) where !index.countRemoval(of: group) {
        throw Self.indexIsFull
      }
      for group in groups {
        for found in index.slots(of: group) {
          if let record = self.removed(found.slot) { removed.append(record) }
          try remove(found.slot.hash, index)
        }
      }
      for key in keys {
        guard let found = index.find(key.hash) else { continue }
        if let record = self.removed(found.slot) { removed.append(record) }
        try remove(key.hash, index)
      }
      return removed
    }
    guard settle() else { throw StoreFault(.io, "a removed record can't be marked in its pack") }
    return removed
  }

  private func remove(_ hash: KeyHash, _ index: Index) throws(StoreFault) {
    if case .unwritable = index.remove(hash) { throw Self.indexIsFull }
    finishRetiring(index)
  }

  private func removed(_ slot: Slot) -> RemovedRecord? {
    guard let pack = shelf.pin(slot.location.pack)?.pack, let record = pack.record(at: slot.location.offset),
      record.header.hash == slot.hash
    else { return nil }
    let begin = record.offset + RecordHeader.size
    // A short payload is read, for who has to know what else goes with it.
    var payload: [UInt8] = []
    if record.header.payloadLength <= 1 << 16, isIntact(record, pack) {
      payload = Array(pack.bytes[record.payload..<record.payload + record.header.payloadLength])
    }
    let key = RecordKey(record.header.kind, Array(pack.bytes[begin..<begin + record.header.keyLength]))
    return pack.isBroken ? nil : RemovedRecord(key: key, form: record.header.shape.form, payload: payload)
  }
}

/// A record that was removed.
public struct RemovedRecord: Sendable {
  /// Its key.
  public let key: RecordKey
  /// The form that it was kept with.
  public let form: UInt8
  /// Its payload, if that has no more than 64 KiB.
  public let payload: [UInt8]
}
