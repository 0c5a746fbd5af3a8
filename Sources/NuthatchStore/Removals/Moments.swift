/// Tells the moments at which answers are asked for, and what was removed since. Until a removal that is due is done, there is no
/// moment for the answers that it takes out.
struct Moments {
  let changer: IndexChanger
  let due: DueRemovals
  let isReading: Bool

  /// The moment of a question that is asked now. Nil when this process has yet to follow others, or the index can't be
  /// written. Opens no file and takes no lock that waits.
  func now(_ first: RecordGroup, _ second: RecordGroup?) -> Moment? {
    guard !isReading, !due.take(first, second) else { return nil }
    return changer.current.reading { index, _ -> Moment? in
      guard !changer.current.isSucceeded(index) else { return nil }
      let number = index.takeSequence()
      guard number != 0, number < 1 << 62 else { return nil }
      return index.moment(first, second, number: number)
    } ?? nil
  }

  /// The removals until now, for what is read now: a moment without a question. Nil when this process has yet to follow
  /// others.
  func removalsNow(_ first: RecordGroup, _ second: RecordGroup?) -> Moment? {
    if due.take(first, second) { return nil }
    return changer.current.reading { index, _ in
      changer.current.isSucceeded(index) ? nil : index.moment(first, second, number: 0)
    } ?? nil
  }

  /// The moment of a question that is asked now, after this process has followed others. May open files.
  func afterOthers(_ first: RecordGroup, _ second: RecordGroup?) -> Moment? {
    if due.take(first, second) { return nil }
    let number = changer.takeSequence()
    guard number != 0 else { return nil }
    return changer.current.reading { index, _ in index.moment(first, second, number: number) } ?? nil
  }

  /// Whether nothing was removed since, as far as that can be said at once.
  @inline(__always)
  func isCurrentNow(_ moment: Moment) -> Bool {
    !due.take(moment)
      && changer.current.reading { index, _ in
        !changer.current.isSucceeded(index) && index.isCurrent(moment)
      } ?? false
  }

  /// Whether nothing was removed since.
  func isCurrent(_ moment: Moment) -> Bool {
    changer.current.followOthers()
    return !due.take(moment) && changer.current.reading { index, _ in index.isCurrent(moment) } ?? false
  }
}
