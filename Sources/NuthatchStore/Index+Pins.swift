import CSystem

/// Where an index says that somebody holds a record.
struct PinNote {
  let place: Int
  let token: UInt64
}

/// What processes hold (docs/FORMAT.md, "The index"): when a pack was dropped, nothing else tells them what others do to the
/// keys of its records.
extension Index {
  private func cell(_ place: Int) -> UnsafeMutableRawPointer {
    base + IndexLayout.pins + place * IndexLayout.pinSize
  }

  private var cellsInUse: Int { min(Int(nhs_load32(base + IndexLayout.pinCount)), IndexLayout.mostPins) }

  /// Notes that a record is held that the index names. Nil when there is no room for another one. For the index's changer.
  func notePin(_ hash: KeyHash) -> PinNote? {
    guard canWriteHead,
      let place = (0..<IndexLayout.mostPins).first(where: { nhs_load64(cell($0) + 8) == 0 })
    else { return nil }
    let note = PinNote(place: place, token: .random(in: 1 ... .max))
    nhs_store64(cell(place), hash.low)
    nhs_store64(cell(place) + 8, note.token)
    if place >= cellsInUse { nhs_store32(base + IndexLayout.pinCount, UInt32(place + 1)) }
    return note
  }

  /// Whether nobody has removed the record since, or put another one in its place.
  func holds(_ note: PinNote) -> Bool { nhs_load64(cell(note.place) + 8) == note.token }

  /// Makes room for another one. May be called by anybody who holds it.
  func forget(_ note: PinNote) {
    if holds(note), canWriteHead { nhs_store64(cell(note.place) + 8, 0) }
  }

  /// Tells who holds the record of a key that it isn't the key's any more. For the index's changer, before that is so.
  @inline(__always)
  func outdatePins(_ hash: KeyHash) {
    if nhs_load32(base + IndexLayout.pinCount) != 0 { searchAndOutdate(hash) }
  }

  private func searchAndOutdate(_ hash: KeyHash) {
    for place in 0..<cellsInUse where nhs_load64(cell(place)) == hash.low {
      if nhs_load64(cell(place) + 8) != 0, canWriteHead { nhs_store64(cell(place) + 8, 0) }
    }
  }

  /// To be called for an index that nobody else knows yet.
  func takeOverPins(of old: Index) {
    for place in 0..<old.cellsInUse {
      nhs_store64(cell(place), nhs_load64(old.cell(place)))
      nhs_store64(cell(place) + 8, nhs_load64(old.cell(place) + 8))
    }
    nhs_store32(base + IndexLayout.pinCount, UInt32(old.cellsInUse))
  }

  /// Nobody holds anything. For the index's changer.
  func forgetPins() {
    guard nhs_load32(base + IndexLayout.pinCount) != 0, canWriteHead else { return }
    for place in 0..<IndexLayout.mostPins { nhs_store64(cell(place) + 8, 0) }
    nhs_store32(base + IndexLayout.pinCount, 0)
  }
}
