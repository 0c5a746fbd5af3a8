/// A record that was removed.
public struct RemovedRecord: Sendable {
  /// Its key.
  public let key: RecordKey
  /// The form that it was kept with.
  public let form: UInt8
  /// Its payload, if that has no more than 64 KiB.
  public let payload: [UInt8]
}

/// Takes records out of index and packs, so that none comes back.
struct RecordRemoval {
  let changer: IndexChanger
  let openPacks: OpenPacks
  let retired: RetiredRecords
  let checker: PayloadChecker
  let killed: KilledWriters

  /// Takes a record out. False when there was none. When it throws `io`, the record is out, but an index that is made anew
  /// could bring it back.
  func remove(_ key: RecordKey) throws(StoreFault) -> Bool {
    var wasThere = false
    try removing { (index) throws(StoreFault) in
      // Once more in an index that was made anew meanwhile, which may not have it any more.
      let isRemoved = try remove(key.hash, index)
      wasThere = wasThere || isRemoved
    }
    return wasThere
  }

  /// Takes the records of groups out, and those of keys. From then on no answer of these groups is kept that was asked for
  /// before, by any process; nor one of the groups that the keys of answers belong to.
  ///
  /// - Returns: what was there.
  func remove(_ groups: [RecordGroup], _ keys: [RecordKey]) throws(StoreFault) -> [RemovedRecord] {
    // By key: it is done once more in an index that was made anew meanwhile, which may not have all of them any more.
    var removed: [RecordKey: RemovedRecord] = [:]
    try removing { (index) throws(StoreFault) in
      // First: an answer that is on its way must not come between.
      for group in groups + Set(keys.compactMap(\.group)) where !index.countRemoval(of: group) {
        throw IndexChanger.indexIsFull
      }
      func remove(_ slot: Slot) throws(StoreFault) {
        if let record = record(slot) { removed[record.key] = record }
        _ = try self.remove(slot.hash, index)
      }
      for group in groups { for found in index.slots(of: group) { try remove(found.slot) } }
      for key in keys { if let found = index.find(key.hash) { try remove(found.slot) } }
    }
    return Array(removed.values)
  }

  private func removing(_ body: (Index) throws(StoreFault) -> Void) throws(StoreFault) {
    try changer.changing { (index) throws(StoreFault) in
      try killed.takeInLeftBehind(index)
      try body(index)
    }
    guard retired.settle() else { throw StoreFault(.io, "a removed record can't be marked in its pack") }
  }

  private func remove(_ hash: KeyHash, _ index: Index) throws(StoreFault) -> Bool {
    let removal = index.remove(hash)
    if case .unwritable = removal { throw IndexChanger.indexIsFull }
    changer.finishRetiring(index)
    return removal == .removed
  }

  private func record(_ slot: Slot) -> RemovedRecord? {
    guard let pack = openPacks.pin(slot.location.pack)?.pack,
      let record = pack.record(at: slot.location.offset),
      record.header.hash == slot.hash
    else { return nil }
    let begin = record.offset + RecordHeader.size
    // A short payload is read, for who has to know what else goes with it.
    var payload: [UInt8] = []
    if record.header.payloadLength <= 1 << 16, checker.isIntact(record, pack) {
      payload = Array(pack.bytes[record.payload..<record.payload + record.header.payloadLength])
    }
    let key = RecordKey(record.header.kind, Array(pack.bytes[begin..<begin + record.header.keyLength]))
    return pack.isBroken ? nil : RemovedRecord(key: key, form: record.header.shape.form, payload: payload)
  }
}
