import CSystem
import NuthatchImaging
import NuthatchStore
import Synchronization

/// The pictures and the answers that a handle has given of late, by the bytes of their URL and a size: the same question
/// gets the same object, while the second lasts, the records that it was found by are in place, and the memory tier has
/// its pixels.
///
/// The table is cut into stripes. Pictures lie in stripes of a few threads each, so that threads meet neither at a lock
/// nor at a reference count. Answers lie in stripes by their hash: there is one of each, whatever thread asks. What is
/// done under the lock of a stripe takes some tens of nanoseconds. It releases nothing: the end of an object may take the
/// lock again.
///
/// The slots of a stripe are touched under its lock only, hence Sendable.
final class HitTable: @unchecked Sendable {
  /// The stripes of pictures; there are as many of answers behind them.
  static let threadStripes = 8
  /// The size of what is no picture, but the answer itself. No box has this number.
  static let answerSize: UInt64 = 0
  /// Entries in a stripe. The next one takes the place of another.
  private static let pictureRoom = 8192
  private static let answerRoom = 256
  /// So far apart that no two share a pair of cache lines.
  private static let stride = 128

  /// In each a lock's word (`nhs_word_lock`), and behind it the slots. The word is no part of the slots: a thread that
  /// takes the lock would touch a value that another one is changing, which the thread sanitizer rightly calls a race.
  private let stripes: UnsafeMutableRawPointer
  private let store: Store
  private let clock: WallClock
  private let isShut = Atomic(false)
  private let epoch = nhs_fork_epoch()

  init(_ store: Store, _ clock: WallClock) {
    self.store = store
    self.clock = clock
    stripes = .allocate(byteCount: 2 * Self.threadStripes * Self.stride, alignment: Self.stride)
    for number in 0..<2 * Self.threadStripes {
      lock(of: number).initializeMemory(as: UInt32.self, to: 0)
      slots(of: number).initialize(to: HitSlots())
    }
  }

  deinit {
    // In a forked child a lock may be held by a thread that isn't there; what it guards stays as it is.
    guard !isForked else { return }
    for number in 0..<2 * Self.threadStripes { empty(number) }
    stripes.deallocate()
  }

  /// Releases everything; nothing is kept any more.
  func shut() {
    isShut.store(true, ordering: .sequentiallyConsistent)
    for number in 0..<2 * Self.threadStripes { empty(number) }
  }

  private var isForked: Bool { nhs_fork_epoch() != epoch }

  // MARK: Finding

  /// The picture of a URL at a size, as it is at this moment; nil when it has to be read anew.
  @inline(__always)
  func image(_ url: UnsafeRawBufferPointer, _ size: UInt64) -> Image? {
    let hash = HitHash(url, size)
    let now = clock.coarseSeconds
    let found = locked(Self.stripe(hash, size)) { slots -> Image? in
      slots.find(hash)?._withUnsafeGuaranteedRef { hit in
        hit.second == now && hit.isFor(url, size) && hit.marks.isCurrent(store) ? hit.image : nil
      }
    }
    return found ?? olderImage(url, size)
  }

  /// The same in a later second: only its age has changed.
  private func olderImage(_ url: UnsafeRawBufferPointer, _ size: UInt64) -> Image? {
    guard let (_, hit) = find(url, size), let image = hit.image, let thumb = hit.record,
      let held = (try? store.recall(thumb)) ?? nil, let kept = held.owner as? MemoryPicture,
      kept.picture === image.picture
    else { return nil }
    keep(hit, as: kept)
    return image
  }

  /// The answer of a URL, as it is at this moment, with its body; nil when it has to be read anew.
  func answer(_ url: UnsafeRawBufferPointer) -> Response? {
    guard let (old, hit) = find(url, Self.answerSize), let answer = hit.answer else { return nil }
    if hit !== old { keep(hit) }
    guard let body = hit.record else { return answer }
    let lease = (try? store.lookup(body, checking: Reader.mostChecked))?.lease
    return lease.map { answer.with(SharedBytes($0)) }
  }

  /// What is remembered and still holds, and the same at this moment.
  private func find(_ url: UnsafeRawBufferPointer, _ size: UInt64) -> (
    old: RememberedHit, now: RememberedHit
  )? {
    let hash = HitHash(url, size)
    let found = locked(Self.stripe(hash, size)) { $0.find(hash)?.takeUnretainedValue() }
    let now = clock.coarseSeconds
    guard let found, found.isFor(url, size), now >= found.second, now < found.freshUntil,
      found.marks.isCurrent(store)
    else { return nil }
    return (found, now == found.second ? found : RememberedHit(found, second: now))
  }

  // MARK: Changing

  /// Keeps a hit, for the threads of this stripe if it is a picture.
  ///
  /// - Parameter kept: what the memory tier keeps a picture as: the hit goes with it.
  func keep(_ hit: RememberedHit, as kept: MemoryPicture? = nil) {
    guard !isShut.load(ordering: .relaxed) else { return }
    let number = Self.stripe(hit.hash, hit.size)
    // First, since `kept` may end a moment later, which must take the hit out.
    kept?.note(self, number, hit.hash)
    let room = hit.size == Self.answerSize ? Self.answerRoom : Self.pictureRoom
    locked(number) { $0.put(hit, room: room) }?.release()
    // Shut meanwhile, perhaps before the hit was there.
    if isShut.load(ordering: .sequentiallyConsistent) { empty(number) }
  }

  /// Takes a hit out, if it shows this picture.
  func forget(_ hash: HitHash, _ picture: Picture, stripe number: Int) {
    guard !isForked else { return }
    locked(number) { $0.take(hash) { $0.image?.picture === picture } }?.release()
  }

  private func empty(_ number: Int) {
    var old = HitSlots()
    locked(number) { swap(&$0, &old) }
    old.releaseAll()
  }

  // MARK: Stripes

  @inline(__always)
  private static func stripe(_ hash: HitHash, _ size: UInt64) -> Int {
    let last = threadStripes - 1
    return size == answerSize
      ? threadStripes + Int(truncatingIfNeeded: hash.high) & last : Int(nhs_thread_number()) & last
  }

  @inline(__always)
  private func lock(of number: Int) -> UnsafeMutableRawPointer { stripes + number * Self.stride }

  @inline(__always)
  private func slots(of number: Int) -> UnsafeMutablePointer<HitSlots> {
    (lock(of: number) + MemoryLayout<UInt64>.stride).assumingMemoryBound(to: HitSlots.self)
  }

  @inline(__always)
  private func locked<Result>(_ number: Int, _ body: (inout HitSlots) -> Result) -> Result {
    nhs_word_lock(lock(of: number))
    defer { nhs_word_unlock(lock(of: number)) }
    return body(&slots(of: number).pointee)
  }
}

extension HitTable {
  /// What the hit of a request is kept under, beside its URL; nil for a request that isn't remembered.
  static func size(of request: Request) -> UInt64? {
    guard request.isPlain, request.boxes.count <= 1 else { return nil }
    return request.boxes.first.map { size(of: $0) } ?? answerSize
  }

  /// A box as a number; nil for one that no thumbnail has.
  @inline(__always)
  static func size(of box: ThumbnailBox) -> UInt64? {
    let sides = 1...ThumbnailBox.maxSide
    guard sides.contains(box.width), sides.contains(box.height) else { return nil }
    let fit: UInt64 =
      switch box.fit {
      case .inside: 0
      case .cover: 1
      case .stretch: 2
      }
    let flags = fit | (box.enlarge ? 4 : 0) | (box.scaling == .fast ? 8 : 0)
    return UInt64(box.width) | UInt64(box.height) << 16 | flags << 32
  }
}
