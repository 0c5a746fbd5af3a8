import CSystem
import Synchronization

/// The records that somebody has pinned: found by their key also when their packs were dropped.
final class RecordPins: @unchecked Sendable {
  /// A record that is pinned.
  struct Entry {
    /// That of the record when it was pinned.
    let sequence: UInt64
    var lease: Lease
    /// Where it lay in its pack; nil for one that was in memory only.
    var location: Location?
    /// By which other processes say that its key has another record, or none. Without one it isn't found any more once its
    /// pack was dropped.
    var note: PinNote?
    var users: Int
  }

  /// Whose index has the notes. Set once, before there are pins.
  weak var store: SharedStore?
  private let epoch = nhs_fork_epoch()
  // Guards `entries`.
  private let lock = Lock()
  private var entries: [RecordKey: Entry] = [:]
  /// So that nobody takes the lock while there are none.
  private let count = Atomic(0)

  func add(_ key: RecordKey, _ lease: Lease, _ location: Location?, _ note: PinNote?) {
    var superfluous: PinNote?
    var gone: Entry?
    lock.with {
      // A later record of the key takes the place of an earlier one, whose pins keep what they have.
      if var entry = entries[key], entry.sequence == lease.sequence {
        entry.users += 1
        if let note {
          superfluous = entry.note
          (entry.location, entry.note) = (location, note)
        }
        entries[key] = entry
      } else {
        gone = entries[key]
        entries[key] = Entry(
          sequence: lease.sequence, lease: lease, location: location, note: note, users: 1)
      }
      count.store(entries.count, ordering: .relaxed)
    }
    letGo(superfluous)
    letGo(gone?.note)
  }

  func release(_ key: RecordKey, _ sequence: UInt64) {
    // In a forked child another thread of its parent may have the lock for ever, and nothing is found by its pins.
    guard epoch == nhs_fork_epoch() else { return }
    // Let go of outside of the lock: it may be the last one that keeps a pack mapped.
    var gone: Entry?
    lock.with {
      guard var entry = entries[key], entry.sequence == sequence else { return }
      entry.users -= 1
      if entry.users == 0 { gone = entry }
      entries[key] = entry.users == 0 ? nil : entry
      count.store(entries.count, ordering: .relaxed)
    }
    letGo(gone?.note)
  }

  /// Whether a key has pins.
  func has(_ key: RecordKey) -> Bool {
    count.load(ordering: .relaxed) > 0 && lock.with { entries[key] != nil }
  }

  /// Notes that a record that was in memory only is in a pack now.
  func move(_ key: RecordKey, _ sequence: UInt64, _ lease: Lease, _ location: Location, _ note: PinNote?) {
    var old: Lease?
    var superfluous = note
    lock.with {
      guard var entry = entries[key], entry.sequence == sequence else { return }
      old = entry.lease
      superfluous = entry.note
      (entry.lease, entry.location, entry.note) = (lease, location, note)
      entries[key] = entry
    }
    letGo(superfluous)
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
    letGo(gone?.note)
  }

  func forgetAll(before sequence: UInt64 = .max) {
    guard count.load(ordering: .relaxed) > 0 else { return }
    var gone: [RecordKey: Entry] = [:]
    lock.with {
      gone = entries.filter { $0.value.sequence < sequence }
      for key in gone.keys { entries[key] = nil }
      count.store(entries.count, ordering: .relaxed)
    }
    for entry in gone.values { letGo(entry.note) }
  }

  /// The index is its parent's, too, for a forked child.
  private func letGo(_ note: PinNote?) {
    if let note, epoch == nhs_fork_epoch() { store?.index?.forget(note) }
  }

  /// A pinned record that is in no pack any more. Nil also when somebody removed or replaced it.
  func find(_ key: RecordKey) -> Entry? {
    guard count.load(ordering: .relaxed) > 0, let entry = lock.with({ entries[key] }) else { return nil }
    guard let location = entry.location else { return entry }
    guard let pin = entry.lease.pin as? PackPin, let record = pin.pack.record(at: location.offset),
      !record.isRetired, let note = entry.note, store?.index?.holds(note) ?? false
    else { return nil }
    return entry
  }
}

/// Holds a record as long as it lives: this process finds it under its key, whatever is evicted, until somebody removes
/// or replaces it; and its bytes stay readable in any case.
///
/// Other processes may lose it: a pin belongs to the process. After an eviction it is found only as long as the index in use
/// then still knows of the pin: an index has room for 232 of all processes, and one that was deleted knows of none.
public final class Pin: Sendable {
  /// The record.
  public let lease: Lease
  private let key: RecordKey
  private let pins: RecordPins

  init(_ key: RecordKey, _ lease: Lease, _ location: Location?, _ note: PinNote?, _ pins: RecordPins) {
    self.key = key
    self.lease = lease
    self.pins = pins
    pins.add(key, lease, location, note)
  }

  deinit { pins.release(key, lease.sequence) }
}

extension SharedStore {
  func pin(_ key: RecordKey) -> Pin? {
    if spill == .pressure, let lease = memory.find(.record, key) { return Pin(key, lease, nil, nil, pins) }
    for _ in 0..<8 {
      guard let found = current(key) else { break }
      let (isThere, note) = notePin(key, at: found.location)
      guard isThere else { continue }
      _ = touch(key)
      return Pin(key, found.lease, found.location, note, pins)
    }
    return pins.find(key).map { Pin(key, $0.lease, $0.location, nil, pins) }
  }

  /// Has others say what they do to a key whose record is held, if it is there still.
  func notePin(_ key: RecordKey, at location: Location) -> (isThere: Bool, note: PinNote?) {
    do throws(StoreFault) {
      return try changing { (index) throws(StoreFault) in
        guard index.find(key.hash)?.slot.location == location else { return (false, nil) }
        return (true, index.notePin(key.hash))
      }
    } catch {
      // It is held all the same, and found until it is evicted.
      return (true, nil)
    }
  }
}
