/// A record that was removed.
public struct RemovedRecord: Sendable {
  /// Its key.
  public let key: RecordKey
  /// The form that it was stored with.
  public let form: UInt8
  /// Its payload, if it has at most 64 KiB; otherwise empty.
  public let payload: [UInt8]
}

/// Removes records from index and packs, so that no later scan of the packs finds them again.
struct RecordRemoval {
  let changer: IndexChanger
  let openPacks: OpenPacks
  let retired: RetiredRecords
  let checker: PayloadChecker
  let killed: KilledWriters

  /// Removes a record. Returns false if there was none. If it throws `io`, the record is removed, but a rebuilt index could
  /// bring it back.
  func remove(_ key: RecordKey) throws(StoreFault) -> Bool {
    var wasThere = false
    try removing { (index) throws(StoreFault) in
      // The closure runs again if the index was rebuilt meanwhile, and the new index may not have the record any more.
      let isRemoved = try remove(key.hash, index)
      wasThere = wasThere || isRemoved
    }
    return wasThere
  }

  /// Removes the records of groups and of keys. From then on no process stores an answer of these groups, or of the groups of
  /// the removed answers, whose request was made before.
  ///
  /// - Returns: the removed records.
  func remove(_ groups: [RecordGroup], _ keys: [RecordKey]) throws(StoreFault) -> [RemovedRecord] {
    // Collected by key: the closure runs again if the index was rebuilt meanwhile, and the new index may have fewer of them.
    var removed: [RecordKey: RemovedRecord] = [:]
    try removing { (index) throws(StoreFault) in
      // Count first: an answer under way must not be stored in between.
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
      try killed.publishLeftovers(index)
      try body(index)
    }
    guard retired.retryFailed() else {
      throw StoreFault(.io, "a removed record can't be marked as removed in its pack")
    }
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
    // Read a short payload: the follower needs it to find dependent records.
    var payload: [UInt8] = []
    if record.header.payloadLength <= 1 << 16, checker.isIntact(record, pack) {
      payload = Array(pack.bytes[record.payload..<record.payload + record.header.payloadLength])
    }
    let key = RecordKey(record.header.kind, Array(pack.bytes[begin..<begin + record.header.keyLength]))
    return pack.isBroken ? nil : RemovedRecord(key: key, form: record.header.shape.form, payload: payload)
  }
}
