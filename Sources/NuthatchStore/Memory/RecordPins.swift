import Synchronization

/// The records that somebody has pinned: found by their key also when their packs were dropped.
final class RecordPins: Sendable {
  private struct Entry {
    /// That of the record when it was pinned.
    let sequence: UInt64
    var lease: Lease
    /// Where it lay in its pack; nil for one that was in memory only.
    var location: Location?
    var users: Int
  }

  // Guards `entries`.
  private let lock = Lock()
  nonisolated(unsafe) private var entries: [RecordKey: Entry] = [:]
  /// So that nobody takes the lock while there are none.
  private let count = Atomic(0)

  func add(_ key: RecordKey, _ lease: Lease, _ location: Location?) {
    lock.with {
      // A later record of the key takes the place of an earlier one, whose pins keep what they have.
      if var entry = entries[key], entry.sequence == lease.sequence {
        entry.users += 1
        entries[key] = entry
      } else {
        entries[key] = Entry(sequence: lease.sequence, lease: lease, location: location, users: 1)
      }
      count.store(entries.count, ordering: .relaxed)
    }
  }

  func release(_ key: RecordKey, _ sequence: UInt64) {
    // Let go of outside of the lock: it may be the last one that keeps a pack mapped.
    var gone: Lease?
    lock.with {
      guard var entry = entries[key], entry.sequence == sequence else { return }
      entry.users -= 1
      if entry.users == 0 { gone = entry.lease }
      entries[key] = entry.users == 0 ? nil : entry
      count.store(entries.count, ordering: .relaxed)
    }
    withExtendedLifetime(gone) {}
  }

  /// Notes that a record that was in memory only is in a pack now.
  func move(_ key: RecordKey, _ sequence: UInt64, _ lease: Lease, _ location: Location) {
    guard count.load(ordering: .relaxed) > 0 else { return }
    var old: Lease?
    lock.with {
      guard var entry = entries[key], entry.sequence == sequence else { return }
      old = entry.lease
      entry.lease = lease
      entry.location = location
      entries[key] = entry
    }
    withExtendedLifetime(old) {}
  }

  /// Forgets a record that was removed, or has a later one.
  func forget(_ key: RecordKey, before sequence: UInt64 = .max) {
    guard count.load(ordering: .relaxed) > 0 else { return }
    var gone: Entry?
    lock.with {
      guard let entry = entries[key], entry.sequence < sequence else { return }
      gone = entries.removeValue(forKey: key)
      count.store(entries.count, ordering: .relaxed)
    }
    withExtendedLifetime(gone) {}
  }

  func forgetAll(before sequence: UInt64 = .max) {
    guard count.load(ordering: .relaxed) > 0 else { return }
    var gone: [RecordKey: Entry] = [:]
    lock.with {
      gone = entries.filter { $0.value.sequence < sequence }
      for key in gone.keys { entries[key] = nil }
      count.store(entries.count, ordering: .relaxed)
    }
    withExtendedLifetime(gone) {}
  }

  /// A pinned record that is in no pack any more. Nil also when somebody removed or replaced it.
  func find(_ key: RecordKey) -> Lease? {
    guard count.load(ordering: .relaxed) > 0, let entry = lock.with({ entries[key] }) else { return nil }
    guard let location = entry.location else { return entry.lease }
    guard let pin = entry.lease.pin as? PackPin, let record = pin.pack.record(at: location.offset),
      !record.isRetired
    else { return nil }
    return entry.lease
  }
}

/// Holds a record as long as it lives: this process finds it under its key, whatever is evicted, until somebody removes
/// or replaces it; and its bytes stay readable in any case.
///
/// Other processes may lose it: a pin belongs to the process.
public final class Pin: Sendable {
  /// The record.
  public let lease: Lease
  private let key: RecordKey
  private let pins: RecordPins

  init(_ key: RecordKey, _ lease: Lease, _ location: Location?, _ pins: RecordPins) {
    self.key = key
    self.lease = lease
    self.pins = pins
    pins.add(key, lease, location)
  }

  deinit { pins.release(key, lease.sequence) }
}

extension SharedStore {
  func pin(_ key: RecordKey) -> Pin? {
    if spill == .pressure, let lease = memory.find(.record, key) { return Pin(key, lease, nil, pins) }
    if let found = current(key) {
      _ = touch(key)
      return Pin(key, found.lease, found.location, pins)
    }
    return pins.find(key).map { Pin(key, $0, nil, pins) }
  }
}
