/// Which stored record a new one may replace.
enum Replaceable {
  /// Any record.
  case any
  /// The record at this place, which is being moved. If it has been replaced meanwhile, the new one is dropped.
  case moved(Location)
  /// A record with a lower sequence number.
  case earlier
  /// The answer to an earlier request, if nothing was removed since.
  case askedBefore(Moment)

  /// The moment of an answer's request; nil for other records.
  var moment: Moment? { if case .askedBefore(let moment) = self { moment } else { nil } }

  /// Returns whether a record may replace the stored one. Call it with the index lock held. For a moved record, `insert` checks
  /// it.
  func allows(
    _ header: RecordHeader, _ index: Index, _ openPacks: OpenPacks
  ) throws(StoreFault) -> Bool {
    func named() throws(StoreFault) -> RecordHeader.Found? {
      let record = try explaining("can't read the pack of the stored record") { () throws(SystemFault) in
        try openPacks.record(of: header.hash, in: index)
      }
      return record.flatMap { $0.isRetired ? nil : $0 }
    }
    switch self {
    case .any, .moved: return true
    case .earlier:
      // The record has kept its sequence number. Later records must get higher ones, even if the index was rebuilt meanwhile.
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

  /// Returns whether the index already names this record. If an index is rebuilt during a change, the change is done again.
  /// Then the record must not be compared with itself.
  func isPublished(_ header: RecordHeader, _ location: Location, _ index: Index) -> Bool {
    if case .any = self { return false }
    return index.find(header.hash)?.slot.location == location
  }
}
