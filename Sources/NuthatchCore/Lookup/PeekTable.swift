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

  /// A lock, and what it guards. The lock isn't a part of that: who takes it would touch a value that its holder is
  /// changing, which the thread sanitizer rightly calls a race.
  private struct Lane {
    /// `nhs_word_lock`.
    let lock: UnsafeMutableRawPointer
    let entries: UnsafeMutablePointer<PeekEntries>

    @inline(__always)
    init(at base: UnsafeMutableRawPointer) {
      lock = base
      entries = (base + MemoryLayout<UInt64>.stride).assumingMemoryBound(to: PeekEntries.self)
    }
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
    for number in 0..<Self.laneCount {
      let lane = lane(number)
      lane.lock.initializeMemory(as: UInt32.self, to: 0)
      lane.entries.initialize(to: PeekEntries())
    }
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
  private func lane(_ number: Int) -> Lane { Lane(at: lanes + number * Self.stride) }

  // MARK: Finding

  /// The picture that is shown for a URL at a size at this moment; nil when somebody has to look closer.
  @inline(__always)
  func find(_ url: UnsafeRawBufferPointer, _ size: UInt64) -> Image? {
    let hash = PeekHash(url, size)
    let now = clock.coarseSeconds
    let lane = lane(Self.ownLane)
    nhs_word_lock(lane.lock)
    defer { nhs_word_unlock(lane.lock) }
    guard let found = lane.entries.pointee.find(hash) else { return nil }
    return found._withUnsafeGuaranteedRef { entry in
      guard entry.second == now, entry.isFor(url, size), entry.isCurrent(store) else { return nil }
      return entry.image
    }
  }

  /// The entry itself, of another second perhaps.
  func entry(_ url: UnsafeRawBufferPointer, _ size: UInt64) -> Peeked? {
    let lane = lane(Self.ownLane)
    nhs_word_lock(lane.lock)
    defer { nhs_word_unlock(lane.lock) }
    guard let entry = lane.entries.pointee.find(PeekHash(url, size))?.takeUnretainedValue(),
      entry.isFor(url, size)
    else { return nil }
    return entry
  }

  // MARK: Changing

  /// Keeps an entry for the threads of this lane, as long as the memory tier keeps `kept`.
  func keep(_ entry: Peeked, as kept: MemoryPicture) {
    guard !isClosed else { return }
    let number = Self.ownLane
    // First, since whoever takes `kept` away a moment later must find it noted.
    kept.note(self, number, entry.hash)
    let lane = lane(number)
    var gone: [Unmanaged<Peeked>] = []
    nhs_word_lock(lane.lock)
    lane.entries.pointee.put(entry, room: Self.laneRoom, &gone)
    nhs_word_unlock(lane.lock)
    for entry in gone { entry.release() }
    // Shut meanwhile, perhaps before the entry was there.
    if isShut.load(ordering: .sequentiallyConsistent) { empty(number) }
  }

  /// Takes an entry out, if it shows this picture.
  func forget(_ hash: PeekHash, _ picture: Picture, lane number: Int) {
    guard !isForked else { return }
    let lane = lane(number)
    nhs_word_lock(lane.lock)
    let gone = lane.entries.pointee.take(hash) { $0.image.picture === picture }
    nhs_word_unlock(lane.lock)
    gone?.release()
  }

  private func empty(_ number: Int) {
    let lane = lane(number)
    var gone: [Unmanaged<Peeked>] = []
    nhs_word_lock(lane.lock)
    lane.entries.pointee.removeAll(&gone)
    nhs_word_unlock(lane.lock)
    for entry in gone { entry.release() }
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
