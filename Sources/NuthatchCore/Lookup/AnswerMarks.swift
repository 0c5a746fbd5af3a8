import NuthatchStore

/// By which records it was found out what is known about an answer: its own, and where the answer varies, its vary record.
struct AnswerMarks: Sendable {
  let key: RecordKey
  let mark: RecordMark
  var varyRecord: (key: RecordKey, mark: RecordMark)?

  /// Whether they are in place, so that reading them again would tell the same.
  @inline(__always)
  func isCurrent(_ store: Store) -> Bool {
    guard store.isCurrent(mark, key) else { return false }
    guard let varyRecord else { return true }
    return store.isCurrent(varyRecord.mark, varyRecord.key)
  }
}
