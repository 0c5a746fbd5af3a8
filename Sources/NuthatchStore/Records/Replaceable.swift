/// Which record of its key another one may replace.
enum Replaceable {
  case any
  /// The one that is there: it is moved, and nothing is lost when somebody was faster.
  case moved(Location)
  case earlier
  /// The answer to an earlier question, if nothing was removed since.
  case askedBefore(Moment)

  /// When the record's answer was asked for; nil for what is no answer.
  var moment: Moment? { if case .askedBefore(let moment) = self { moment } else { nil } }

  /// Whether a record may take the place of the one that is there. To be called by the index's changer. What is moved is looked
  /// at when it is inserted.
  func allows(
    _ header: RecordHeader, _ index: Index, _ openPacks: OpenPacks
  ) throws(StoreFault) -> Bool {
    func named() throws(StoreFault) -> RecordHeader.Found? {
      let record = try doing("looking at a pack") { () throws(SystemFault) in
        try openPacks.record(of: header.hash, in: index)
      }
      return record.flatMap { $0.isRetired ? nil : $0 }
    }
    switch self {
    case .any, .moved: return true
    case .earlier:
      // It has its sequence from before. Later ones get higher ones also when the index was made anew meanwhile.
      index.raise(nextSequence: header.sequence &+ 1)
      guard header.sequence >= index.clearedBefore else { return false }
      guard let record = try named() else { return true }
      return record.header.sequence < header.sequence
    case .askedBefore(let moment):
      guard index.isCurrent(moment) else { return false }
      guard let record = try named() else { return true }
      return record.header.shape.question <= header.shape.question
    }
  }

  /// Whether the index names a record already, which must not seem to be in its own way then: what changes the index is done
  /// once more when it is made anew at that moment.
  func isPublished(_ header: RecordHeader, _ location: Location, _ index: Index) -> Bool {
    if case .any = self { return false }
    return index.find(header.hash)?.slot.location == location
  }
}
