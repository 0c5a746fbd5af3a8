import NuthatchStore

/// The store records that a look-up's result depends on: the answer's record and, if the answer has `Vary`, its vary record.
struct AnswerMarks: Sendable {
  let key: RecordKey
  let mark: RecordMark
  var varyRecord: (key: RecordKey, mark: RecordMark)?

  /// Returns whether these records are unchanged, so that another look-up would have the same result.
  @inline(__always)
  func isCurrent(_ store: Store) -> Bool {
    guard store.isCurrent(mark, key) else { return false }
    guard let varyRecord else { return true }
    return store.isCurrent(varyRecord.mark, varyRecord.key)
  }
}
