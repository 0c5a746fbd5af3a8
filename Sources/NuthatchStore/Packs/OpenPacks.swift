import CSystem
import Glibc
import NuthatchBase

/// The packs that this process has mapped, by number, and the shards in which readers look them up.
///
/// A thread reads in one shard only. Each shard has its own lock and its own pins, so that threads that look up records share
/// neither a lock nor a reference count. Memory that readers may still use is freed after `awaitReaders`: every reader that was
/// in a shard before has left it then.
// Mutable state is under its lock or a shard's, hence Sendable.
final class OpenPacks: @unchecked Sendable {
  private static let shardCount = 32

  let pinned = PinnedBytes()
  let trust = PackTrust()
  let directory: StoreDirectory
  private let shards: UnsafeMutableRawPointer
  // Guards `packs`. Take it before a shard's lock.
  private let lock = WordLock()
  private var packs: [UInt32: Pack] = [:]

  init(_ directory: StoreDirectory) {
    self.directory = directory
    let length = Self.shardCount * ReaderShard.size
    shards = .allocate(byteCount: length, alignment: ReaderShard.size)
    shards.initializeMemory(as: UInt64.self, repeating: 0, count: length / 8)
  }

  deinit {
    for number in 0..<Self.shardCount { shard(number).removeAll { _ in true } }
    shards.deallocate()
  }

  @inline(__always)
  private func shard(_ number: Int) -> ReaderShard { ReaderShard(at: shards + number &* ReaderShard.size) }

  /// Runs `body` with the lock of the thread's shard held. `body` must be short: no system call, no other lock.
  @inline(__always)
  func reading<Result>(_ body: (ReaderShard) -> Result) -> Result {
    let shard = ownShard
    shard.lock()
    defer { shard.unlock() }
    return body(shard)
  }

  /// The shard of the calling thread.
  @inline(__always)
  var ownShard: ReaderShard { shard(Int(nhs_thread_number()) & (Self.shardCount - 1)) }

  /// Returns when all present readers have left their shards.
  func awaitReaders() {
    for number in 0..<Self.shardCount {
      shard(number).lock()
      shard(number).unlock()
    }
  }

  /// Returns a pin of the pack, or nil if it doesn't exist or can't be used.
  func pin(_ number: UInt32) -> PackPin? { reading { $0.pin(number) } ?? open(number) }

  /// Does the same for a caller that found no pin in its shard.
  func open(_ number: UInt32) -> PackPin? {
    lock.withLock {
      let pack: Pack
      if let known = packs[number] {
        pack = known
      } else {
        // If it can't be opened for any reason, the record is a miss.
        guard let opened = try? Pack(number, directory, pinned, trust) else { return nil }
        pack = opened
        packs[number] = opened
      }
      return reading { shard in
        if let pin = shard.pin(number) { return pin }
        let pin = PackPin(pack)
        shard.add(number, pin)
        return pin
      }
    }
  }

  /// Returns a pin of a pack that this process writes, or nil if it can't be mapped.
  func pin(_ pack: PackHeader) -> PackPin? {
    if let pin = pin(pack.number) {
      if pin.pack.header.salt == pack.salt { return pin }
      // A deleted pack had the same number: damaged counters gave it twice.
      drop { $0 == pack.number }
    }
    guard let pin = pin(pack.number), pin.pack.header.salt == pack.salt else { return nil }
    return pin
  }

  /// Returns the record that the index names, or nil. Throws if the pack can't be read at the moment, because the caller then
  /// can't compare the record with another one.
  func record(of hash: KeyHash, in index: Index) throws(SystemFault) -> RecordHeader.Found? {
    guard let location = index.find(hash)?.slot.location else { return nil }
    var pack = pin(location.pack)?.pack
    if pack == nil {
      do throws(SystemFault) { pack = try Pack(location.pack, directory, pinned, trust) } catch {
        // The disk can't read it: treat the record as missing.
        guard error.number != EIO else { return nil }
        throw error
      }
    }
    guard let record = pack?.record(at: location.offset), record.header.hash == hash else {
      if let pack, pack.isBroken { throw SystemFault(EIO) }
      return nil
    }
    return record
  }

  /// Calls `body` with every mapped pack.
  func forEach(_ body: (Pack) -> Void) { lock.withLock { packs.values.forEach(body) } }

  /// Releases the packs for which `isGone` is true. Leases keep their mappings.
  func drop(where isGone: (UInt32) -> Bool) {
    lock.withLock {
      let gone = Set(packs.keys.filter(isGone))
      guard !gone.isEmpty else { return }
      for number in gone { packs.removeValue(forKey: number)?.drop() }
      removePins(of: gone)
    }
  }

  /// Releases the packs with failed reads; they are mapped again when needed. Returns whether there were any.
  func dropBroken() -> Bool {
    lock.withLock {
      let broken = Set(packs.filter(\.value.isBroken).keys)
      guard !broken.isEmpty else { return false }
      for number in broken { packs[number] = nil }
      removePins(of: broken)
      return true
    }
  }

  /// From now on each lookup verifies and copies the record, even if it was verified before. Returns false if that is already so.
  func distrust() -> Bool {
    lock.withLock {
      guard trust.end() else { return false }
      // Readers find no pin here and take new ones, which are marked as distrusted.
      let all = Set(packs.keys)
      packs.removeAll()
      removePins(of: all)
      return true
    }
  }

  /// Removes the pins of these packs from all shards. Call it with `lock` held.
  private func removePins(of gone: Set<UInt32>) {
    for number in 0..<Self.shardCount {
      let shard = shard(number)
      shard.lock()
      defer { shard.unlock() }
      shard.removeAll(where: gone.contains)
    }
  }
}

/// One shard: a lock and a hash table of pins. A search begins at the pack's number modulo the size of the table. Call
/// everything except `lock` with the lock held.
struct ReaderShard {
  /// Two cache lines, because processors fetch them in pairs.
  static let size = 128

  fileprivate let at: UnsafeMutableRawPointer

  fileprivate struct Entry {
    /// 0 for an empty entry; no pack has that number.
    var number: UInt32 = 0
    var pin: Unmanaged<PackPin>?
  }

  private var table: UnsafeMutablePointer<Entry>? {
    get { UnsafeMutablePointer(bitPattern: UInt(nhs_load64(at + 8))) }
    nonmutating set { nhs_store64(at + 8, UInt64(UInt(bitPattern: newValue))) }
  }
  private var capacity: Int {
    get { Int(nhs_load64(at + 16)) }
    nonmutating set { nhs_store64(at + 16, UInt64(newValue)) }
  }
  private var count: Int {
    get { Int(nhs_load64(at + 24)) }
    nonmutating set { nhs_store64(at + 24, UInt64(newValue)) }
  }

  fileprivate init(at: UnsafeMutableRawPointer) { self.at = at }

  @inline(__always)
  func lock() { nhs_word_lock(at) }
  @inline(__always)
  func unlock() { nhs_word_unlock(at) }

  func pin(_ number: UInt32) -> PackPin? { held(number)?.takeUnretainedValue() }

  /// Returns this shard's pin of a pack, not retained.
  @inline(__always)
  func held(_ number: UInt32) -> Unmanaged<PackPin>? {
    guard let table else { return nil }
    let mask = capacity &- 1
    var place = Int(number) & mask
    while table[place].number != 0 {
      if table[place].number == number { return table[place].pin }
      place = (place &+ 1) & mask
    }
    return nil
  }

  fileprivate func add(_ number: UInt32, _ pin: PackPin) {
    if table == nil || count >= capacity / 2 { resize(max(16, capacity * 2)) }
    put(Entry(number: number, pin: Unmanaged.passRetained(pin)))
  }

  private func put(_ entry: Entry) {
    guard let table else { return }
    let mask = capacity - 1
    var place = Int(entry.number) & mask
    while table[place].number != 0 { place = (place + 1) & mask }
    table[place] = entry
    count += 1
  }

  private func resize(_ wanted: Int) {
    let (old, length) = (table, capacity)
    let made = UnsafeMutablePointer<Entry>.allocate(capacity: wanted)
    made.initialize(repeating: Entry(), count: wanted)
    (table, capacity, count) = (made, wanted, 0)
    guard let old else { return }
    for place in 0..<length where old[place].number != 0 { put(old[place]) }
    old.deallocate()
  }

  fileprivate func removeAll(where isGone: (UInt32) -> Bool) {
    guard let old = table else { return }
    let length = capacity
    (table, capacity, count) = (nil, 0, 0)
    for place in 0..<length where old[place].number != 0 {
      if isGone(old[place].number) {
        old[place].pin?.release()
      } else {
        if table == nil { resize(length) }
        put(old[place])
      }
    }
    old.deallocate()
  }
}
