import CSystem

/// The counters of removals (docs/FORMAT.md, "The index"). Reading them takes no lock.
extension Index {
  private func counter(_ number: Int) -> UnsafeMutableRawPointer {
    base + IndexLayout.removals + (number & (IndexLayout.removalCount - 1)) * 8
  }

  private var clears: UInt64 { nhs_load64(base + IndexLayout.clears) }

  /// Whether packs of version 2 may hold answers under that version's keys.
  var hasEarlier: Bool { nhs_load32(base + IndexLayout.hasEarlier) != 0 }

  func set(hasEarlier: Bool) { nhs_store32(base + IndexLayout.hasEarlier, hasEarlier ? 1 : 0) }

  /// Returns the moment now, for a request with this number. Nil if the index can't be read.
  func moment(_ first: RecordGroup, _ second: RecordGroup?, number: UInt64) -> Moment? {
    func removals(_ group: RecordGroup) -> Moment.Removals {
      Moment.Removals(counter: Int32(group.counter), count: nhs_load64_acquire(counter(group.counter)))
    }
    let moment = Moment(
      clears: clears, first: removals(first), second: second.map { removals($0) }, number: number)
    return isBroken ? nil : moment
  }

  /// Returns whether no removal since the moment affects its answer.
  @inline(__always)
  func isCurrent(_ moment: Moment) -> Bool {
    func isCurrent(_ removals: Moment.Removals) -> Bool {
      nhs_load64_acquire(counter(Int(removals.counter))) == removals.count
    }
    // Check `isBroken` last: the counters of a broken index read as zeros.
    return clears == moment.clears && isCurrent(moment.first) && (moment.second.map(isCurrent) ?? true)
      && !isBroken
  }

  /// Counts a removal of a group, before its records are removed. Returns false if the counter can't be written now. Call it
  /// with the index lock held.
  func countRemoval(of group: RecordGroup) -> Bool {
    let counter = counter(group.counter)
    guard canWrite(counter, 8) else { return false }
    nhs_store64_release(counter, nhs_load64(counter) &+ 1)
    return !isBroken
  }

  /// Gives the counters of an unpublished index random start values, so that no moment of an earlier index matches by chance.
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

  /// Copies the counters of the index that this one replaces.
  func takeOverRemovals(of old: Index) {
    nhs_store64(base + IndexLayout.clears, old.clears)
    for number in 0..<IndexLayout.removalCount {
      nhs_store64(counter(number), nhs_load64(old.counter(number)))
    }
  }
}

extension Index {
  /// Returns the slots of a group's records. Call it with the index lock held.
  func slots(of group: RecordGroup) -> [Found] {
    var found: [Found] = []
    for number in 0..<RecordGroup.places {
      let low = group.low(at: number)
      var place = place(of: KeyHash(low: low, high: 0))
      for _ in 0..<min(IndexLayout.maxProbeLength, slotCount) {
        let slot = ownRead(place)
        if slot.location.pack == Slot.unusedMark { break }
        if slot.location.pack != Slot.deletedMark, slot.hash.low == low, slot.kind == .answer {
          found.append(Found(place: place, slot: slot))
        }
        place = next(place)
      }
    }
    return found
  }
}
