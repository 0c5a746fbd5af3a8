import CSystem

/// The counters of removals (docs/FORMAT.md, "The index"). Readers take no lock.
extension Index {
  private func counter(_ number: Int) -> UnsafeMutableRawPointer {
    base + IndexLayout.removals + (number & (IndexLayout.removalCount - 1)) * 8
  }

  private var clears: UInt64 { nhs_load64(base + IndexLayout.clears) }

  /// Whether packs of version 2 may name answers as that version did.
  var hasEarlier: Bool { nhs_load32(base + IndexLayout.hasEarlier) != 0 }

  func set(hasEarlier: Bool) { nhs_store32(base + IndexLayout.hasEarlier, hasEarlier ? 1 : 0) }

  /// What holds at this moment; nil when that can't be read. `number` is that of the question.
  func moment(_ first: RecordGroup, _ second: RecordGroup?, number: UInt64) -> Moment? {
    func removals(_ group: RecordGroup) -> Moment.Removals {
      Moment.Removals(counter: Int32(group.counter), count: nhs_load64_acquire(counter(group.counter)))
    }
    let moment = Moment(
      clears: clears, first: removals(first), second: second.map { removals($0) }, number: number)
    return isBroken ? nil : moment
  }

  /// Whether nothing was removed since that would have taken out what was asked for then.
  @inline(__always)
  func isCurrent(_ moment: Moment) -> Bool {
    func isCurrent(_ removals: Moment.Removals) -> Bool {
      nhs_load64_acquire(counter(Int(removals.counter))) == removals.count
    }
    // Asked last: zeros say nothing.
    return clears == moment.clears && isCurrent(moment.first) && (moment.second.map(isCurrent) ?? true)
      && !isBroken
  }

  /// Says that the records of a group are removed, before they are. False when it can't be written now. For the index's
  /// changer.
  func countRemoval(of group: RecordGroup) -> Bool {
    let counter = counter(group.counter)
    guard canWrite(counter, 8) else { return false }
    nhs_store64_release(counter, nhs_load64(counter) &+ 1)
    return !isBroken
  }

  /// For an index that nobody else knows yet: it begins at random numbers, so that no earlier one fits by chance.
  func beginRemovals() {
    var random = UInt64.random(in: .min ... .max)
    func next() -> UInt64 {
      random = random &+ 0x9E37_79B9_7F4A_7C15
      var mixed = (random ^ random >> 30) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
      return mixed ^ mixed >> 31
    }
    nhs_store64(base + IndexLayout.clears, next())
    for number in 0..<IndexLayout.removalCount { nhs_store64(counter(number), next()) }
  }

  /// Goes on with the numbers of the index whose place this one takes.
  func takeOverRemovals(of old: Index) {
    nhs_store64(base + IndexLayout.clears, old.clears)
    for number in 0..<IndexLayout.removalCount {
      nhs_store64(counter(number), nhs_load64(old.counter(number)))
    }
  }
}

extension Index {
  /// The slots of a group's records. For the index's changer.
  func slots(of group: RecordGroup) -> [Found] {
    var found: [Found] = []
    for number in 0..<RecordGroup.places {
      let low = group.low(at: number)
      var place = place(of: KeyHash(low: low, high: 0))
      for _ in 0..<min(IndexLayout.reach, slotCount) {
        let slot = ownRead(place)
        if slot.location.pack == Slot.neverUsed { break }
        if slot.location.pack != Slot.givenUp, slot.hash.low == low, slot.kind == .answer {
          found.append(Found(place: place, slot: slot))
        }
        place = next(place)
      }
    }
    return found
  }
}
