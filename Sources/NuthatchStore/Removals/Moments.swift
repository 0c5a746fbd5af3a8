/// Returns the moments of requests, and whether answers were removed since. While a removal is pending, there is no moment for
/// the answers that it affects.
struct Moments {
  let changer: IndexChanger
  let due: DueRemovals
  let isReading: Bool

  /// Returns the moment of a request that is made now. Nil if this process must follow others first, or the index can't be
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

  /// Returns the removals until now, for an answer that is read next: a moment without a request's number. Nil if this process
  /// must follow others first.
  func removalsNow(_ first: RecordGroup, _ second: RecordGroup?) -> Moment? {
    if due.take(first, second) { return nil }
    return changer.current.reading { index, _ in
      changer.current.isSucceeded(index) ? nil : index.moment(first, second, number: 0)
    } ?? nil
  }

  /// Returns the moment of a request that is made now, after following other processes. May open files.
  func afterOthers(_ first: RecordGroup, _ second: RecordGroup?) -> Moment? {
    if due.take(first, second) { return nil }
    let number = changer.takeSequence()
    guard number != 0 else { return nil }
    return changer.current.reading { index, _ in index.moment(first, second, number: number) } ?? nil
  }

  /// Returns whether no removal since the moment affects its answer. Also false if finding out would take a wait.
  @inline(__always)
  func isCurrentNow(_ moment: Moment) -> Bool {
    !due.take(moment)
      && changer.current.reading { index, _ in
        !changer.current.isSucceeded(index) && index.isCurrent(moment)
      } ?? false
  }

  /// Returns whether no removal since the moment affects its answer. Follows other processes first.
  func isCurrent(_ moment: Moment) -> Bool {
    changer.current.followOthers()
    return !due.take(moment) && changer.current.reading { index, _ in index.isCurrent(moment) } ?? false
  }
}
