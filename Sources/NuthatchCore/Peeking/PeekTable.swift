import CSystem
import Glibc
import NuthatchImaging
import NuthatchStore
import Synchronization

/// The pictures that a handle has shown of late, by the bytes of their URL and their size: the answer to the same
/// question is the same object, as long as the second lasts, the records that it was found by are in place, and the
/// memory tier has its pixels.
///
/// Every few threads have a lane of their own, so that they meet neither at a lock nor at a reference count. What is
/// under a lane's lock takes some tens of nanoseconds, and lets nothing go: the end of an object may want the lock again.
final class PeekTable: @unchecked Sendable {
  static let laneCount = 8
  /// Entries in a lane; when there are as many, it begins anew.
  static let laneRoom = 8192
  /// So far apart that no two share a pair of cache lines.
  private static let stride = 128

  private struct Lane {
    /// `nhs_word_lock`; the first field, because its address is the lane's.
    var lock: UInt32 = 0
    var slots: UnsafeMutablePointer<Unmanaged<Peeked>?>?
    var mask = 0
    var count = 0
  }

  private let lanes: UnsafeMutableRawPointer
  private let store: Store
  private let clock: WallClock
  private let isShut = Atomic(false)
  private let epoch = nhs_fork_epoch()

  init(_ store: Store, _ clock: WallClock) {
    self.store = store
    self.clock = clock
    lanes = .allocate(byteCount: Self.laneCount * Self.stride, alignment: Self.stride)
    for number in 0..<Self.laneCount { lane(number).initialize(to: Lane()) }
  }

  deinit {
    // In a forked child a lock may be held by a thread that isn't there; what it guards stays as it is.
    guard !isForked else { return }
    for number in 0..<Self.laneCount { empty(number) }
    lanes.deallocate()
  }

  /// Whether the handle takes no more questions.
  var isClosed: Bool { isShut.load(ordering: .relaxed) }

  /// Lets go of everything; nothing is kept any more.
  func shut() {
    isShut.store(true, ordering: .sequentiallyConsistent)
    for number in 0..<Self.laneCount { empty(number) }
  }

  private var isForked: Bool { nhs_fork_epoch() != epoch }

  /// The lane of the thread that asks.
  static var ownLane: Int { Int(nhs_thread_number()) & (laneCount - 1) }

  @inline(__always)
  private func lane(_ number: Int) -> UnsafeMutablePointer<Lane> {
    (lanes + number * Self.stride).assumingMemoryBound(to: Lane.self)
  }

  // MARK: Finding

  /// The picture that is shown for a URL at a size at this moment; nil when somebody has to look closer.
  @inline(__always)
  func find(_ url: UnsafeRawBufferPointer, _ size: UInt64) -> Image? {
    let hash = PeekHash(url, size)
    let now = clock.coarseSeconds
    let lane = lane(Self.ownLane)
    nhs_word_lock(lane)
    defer { nhs_word_unlock(lane) }
    guard let slot = Self.slot(of: hash, lane), let found = lane.pointee.slots?[slot] else { return nil }
    return found._withUnsafeGuaranteedRef { entry in
      guard entry.second == now, entry.isFor(url, size), entry.isCurrent(store) else { return nil }
      return entry.image
    }
  }

  /// The entry itself, of another second perhaps.
  func entry(_ url: UnsafeRawBufferPointer, _ size: UInt64) -> Peeked? {
    let lane = lane(Self.ownLane)
    nhs_word_lock(lane)
    defer { nhs_word_unlock(lane) }
    guard let slot = Self.slot(of: PeekHash(url, size), lane),
      let entry = lane.pointee.slots?[slot]?.takeUnretainedValue(), entry.isFor(url, size)
    else { return nil }
    return entry
  }

  @inline(__always)
  private static func slot(of hash: PeekHash, _ lane: UnsafeMutablePointer<Lane>) -> Int? {
    guard let slots = lane.pointee.slots else { return nil }
    let mask = lane.pointee.mask
    var place = Int(truncatingIfNeeded: hash.low) & mask
    while let entry = slots[place] {
      if entry._withUnsafeGuaranteedRef({ $0.hash == hash }) { return place }
      place = (place + 1) & mask
    }
    return nil
  }

  // MARK: Changing

  /// Keeps an entry for the threads of this lane, as long as the memory tier keeps `kept`.
  func keep(_ entry: Peeked, as kept: KeptPicture) {
    guard !isClosed else { return }
    let number = Self.ownLane
    // First, since whoever takes `kept` away a moment later must find it noted.
    kept.note(self, number, entry.hash)
    let lane = lane(number)
    var gone: [Unmanaged<Peeked>] = []
    nhs_word_lock(lane)
    if let slot = Self.slot(of: entry.hash, lane), let old = lane.pointee.slots?[slot] {
      gone.append(old)
      lane.pointee.slots?[slot] = .passRetained(entry)
    } else {
      if lane.pointee.count >= Self.laneRoom { Self.removeAll(lane, &gone) }
      if lane.pointee.slots == nil || lane.pointee.count * 2 > lane.pointee.mask { Self.grow(lane) }
      Self.insert(.passRetained(entry), entry.hash, lane)
      lane.pointee.count += 1
    }
    nhs_word_unlock(lane)
    for entry in gone { entry.release() }
    // Shut meanwhile, perhaps before the entry was there.
    if isShut.load(ordering: .sequentiallyConsistent) { empty(number) }
  }

  /// Takes an entry out, if it shows this picture.
  func forget(_ hash: PeekHash, _ picture: Picture, lane number: Int) {
    guard !isForked else { return }
    let lane = lane(number)
    nhs_word_lock(lane)
    var gone: Unmanaged<Peeked>?
    if let slot = Self.slot(of: hash, lane), let entry = lane.pointee.slots?[slot],
      entry._withUnsafeGuaranteedRef({ $0.image.picture === picture })
    {
      gone = entry
      Self.vacate(slot, lane)
    }
    nhs_word_unlock(lane)
    gone?.release()
  }

  private func empty(_ number: Int) {
    let lane = lane(number)
    var gone: [Unmanaged<Peeked>] = []
    nhs_word_lock(lane)
    Self.removeAll(lane, &gone)
    nhs_word_unlock(lane)
    for entry in gone { entry.release() }
  }

  private static func removeAll(
    _ lane: UnsafeMutablePointer<Lane>, _ gone: inout [Unmanaged<Peeked>]
  ) {
    guard let slots = lane.pointee.slots else { return }
    for place in 0...lane.pointee.mask { if let entry = slots[place] { gone.append(entry) } }
    slots.deallocate()
    lane.pointee.slots = nil
    lane.pointee.mask = 0
    lane.pointee.count = 0
  }

  private static func grow(_ lane: UnsafeMutablePointer<Lane>) {
    let old = lane.pointee.slots
    let oldCount = old == nil ? 0 : lane.pointee.mask + 1
    let count = max(64, oldCount * 2)
    let slots = UnsafeMutablePointer<Unmanaged<Peeked>?>.allocate(capacity: count)
    slots.initialize(repeating: nil, count: count)
    lane.pointee.slots = slots
    lane.pointee.mask = count - 1
    guard let old else { return }
    for place in 0..<oldCount {
      if let entry = old[place] { insert(entry, entry._withUnsafeGuaranteedRef(\.hash), lane) }
    }
    old.deallocate()
  }

  private static func insert(
    _ entry: Unmanaged<Peeked>, _ hash: PeekHash, _ lane: UnsafeMutablePointer<Lane>
  ) {
    guard let slots = lane.pointee.slots else { return entry.release() }
    var place = Int(truncatingIfNeeded: hash.low) & lane.pointee.mask
    while slots[place] != nil { place = (place + 1) & lane.pointee.mask }
    slots[place] = entry
  }

  /// Frees a slot, and moves those behind it up so that every search still ends at the first free one.
  private static func vacate(_ slot: Int, _ lane: UnsafeMutablePointer<Lane>) {
    guard let slots = lane.pointee.slots else { return }
    let mask = lane.pointee.mask
    var (hole, place) = (slot, slot)
    while true {
      place = (place + 1) & mask
      guard let other = slots[place] else { break }
      let home = Int(truncatingIfNeeded: other._withUnsafeGuaranteedRef(\.hash.low)) & mask
      // May it stand in the hole, which lies between its home and its place?
      if (place - home) & mask >= (place - hole) & mask {
        slots[hole] = other
        hole = place
      }
    }
    slots[hole] = nil
    lane.pointee.count -= 1
  }
}

/// The hash of a URL's bytes and a size.
struct PeekHash: Equatable, Sendable {
  var low: UInt64 = 0
  var high: UInt64 = 0

  @inline(__always)
  init(_ url: UnsafeRawBufferPointer, _ size: UInt64) {
    nhs_hash128(url.baseAddress, url.count, size, &low, &high)
  }
}

/// One picture as it was shown, and what makes it the right one.
final class Peeked: Sendable {
  let hash: PeekHash
  let url: [UInt8]
  /// `PeekTable.number`.
  let size: UInt64
  let image: Image
  /// Where its pixels are found in the memory tier.
  let thumb: RecordKey
  /// The second (since 1970) that it is shown in, and the one from which on its freshness has to be judged anew.
  let second: Int64
  let freshUntil: Int64
  /// What is known about the answer, and where the answer varies, its signpost.
  let meta: RecordKey
  let metaMark: RecordMark
  let signpost: (key: RecordKey, mark: RecordMark)?

  init(
    url: UnsafeRawBufferPointer, size: UInt64, image: Image, thumb: RecordKey, second: Int64,
    freshUntil: Int64,
    meta: RecordKey, metaMark: RecordMark, signpost: (key: RecordKey, mark: RecordMark)?
  ) {
    hash = PeekHash(url, size)
    self.url = Array(url)
    self.size = size
    self.image = image
    self.thumb = thumb
    self.second = second
    self.freshUntil = freshUntil
    self.meta = meta
    self.metaMark = metaMark
    self.signpost = signpost
  }

  /// The same in a later second.
  init(_ old: Peeked, image: Image, second: Int64) {
    hash = old.hash
    url = old.url
    size = old.size
    self.image = image
    thumb = old.thumb
    self.second = second
    freshUntil = old.freshUntil
    meta = old.meta
    metaMark = old.metaMark
    signpost = old.signpost
  }

  @inline(__always)
  func isFor(_ wanted: UnsafeRawBufferPointer, _ size: UInt64) -> Bool {
    guard self.size == size, url.count == wanted.count else { return false }
    return url.withUnsafeBytes { own in
      guard let base = own.baseAddress, let other = wanted.baseAddress else { return wanted.isEmpty }
      return memcmp(base, other, wanted.count) == 0
    }
  }

  /// Whether the records that it was found by are in place.
  @inline(__always)
  func isCurrent(_ store: Store) -> Bool {
    guard store.isCurrent(metaMark, meta) else { return false }
    guard let signpost else { return true }
    return store.isCurrent(signpost.mark, signpost.key)
  }
}

extension PeekTable {
  /// A box as a number; nil for one that no thumbnail has.
  static func number(_ box: ThumbnailBox) -> UInt64? {
    let sides = 1...ThumbnailBox.maxSide
    guard sides.contains(box.width), sides.contains(box.height) else { return nil }
    let mode: UInt64 =
      switch box.mode {
      case .fit: 0
      case .fill: 1
      case .exact: 2
      }
    let flags = mode | (box.enlarge ? 4 : 0) | (box.quality == .fast ? 8 : 0)
    return UInt64(box.width) | UInt64(box.height) << 16 | flags << 32
  }
}
