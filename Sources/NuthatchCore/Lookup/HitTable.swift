import CSystem
import NuthatchImaging
import NuthatchStore
import Synchronization

/// The pictures and answers that a handle has given recently, by the bytes of their URL and a size. The same look-up gets the
/// same object while three things hold: the second hasn't ended, the records that the answer came from are unchanged, and, for
/// a picture, the memory tier has the pixels.
///
/// The table is divided into stripes. Pictures are in stripes of a few threads each, so that threads contend neither for a lock
/// nor for a reference count. Answers are in stripes by their hash: there is one object for all threads. A stripe's lock is
/// held for some tens of nanoseconds. Nothing is released under it, because a deinitializer may take the lock again.
///
/// The slots of a stripe are used only under its lock, hence Sendable.
final class HitTable: @unchecked Sendable {
  /// The number of stripes for pictures. As many for answers follow them.
  static let threadStripes = 8
  /// Stands for the answer itself in place of a picture's size. No box has this number.
  static let answerSize: UInt64 = 0
  /// The most hits in a stripe. Another one replaces one of them.
  private static let pictureRoom = 8192
  private static let answerRoom = 256
  /// Far enough apart that no two stripes share a pair of cache lines.
  private static let stride = 128

  /// Each stripe holds a lock's word (`nhs_word_lock`), then the slots. The word is not a part of `HitSlots`: a thread that
  /// takes the lock would access a value that another thread is changing, which is a data race.
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
    // In a forked child, a lock may be held by a thread that doesn't exist there. Leave everything as it is.
    guard !isForked else { return }
    for number in 0..<2 * Self.threadStripes { empty(number) }
    stripes.deallocate()
  }

  /// Releases all hits and keeps no new ones.
  func shut() {
    isShut.store(true, ordering: .sequentiallyConsistent)
    for number in 0..<2 * Self.threadStripes { empty(number) }
  }

  private var isForked: Bool { nhs_fork_epoch() != epoch }

  // MARK: Finding

  /// Returns the picture of a URL at a size. Nil: read it from the store.
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

  /// Returns a picture that was given in an earlier second: it is still valid, and only its age has changed.
  private func olderImage(_ url: UnsafeRawBufferPointer, _ size: UInt64) -> Image? {
    guard let (_, hit) = find(url, size), let image = hit.image, let thumb = hit.record,
      let held = (try? store.recall(thumb)) ?? nil, let kept = held.owner as? MemoryPicture,
      kept.picture === image.picture
    else { return nil }
    keep(hit, as: kept)
    return image
  }

  /// Returns the answer of a URL with its body. Nil: read it from the store.
  func answer(_ url: UnsafeRawBufferPointer) -> Response? {
    guard let (old, hit) = find(url, Self.answerSize), let answer = hit.answer else { return nil }
    if hit !== old { keep(hit) }
    guard let body = hit.record else { return answer }
    let lease = (try? store.lookup(body, checking: Reader.mostChecked))?.lease
    return lease.map { answer.with(SharedBytes($0)) }
  }

  /// Returns the hit if it is still valid, and the same hit with its age at this moment.
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

  /// Adds a hit. A picture is added only for the threads of this stripe.
  ///
  /// - Parameter kept: the picture's entry in the memory tier. When the entry ends, the hit is removed.
  func keep(_ hit: RememberedHit, as kept: MemoryPicture? = nil) {
    guard !isShut.load(ordering: .relaxed) else { return }
    let number = Self.stripe(hit.hash, hit.size)
    // Do this first: `kept` may end at any moment, and must then remove the hit.
    kept?.note(self, number, hit.hash)
    let room = hit.size == Self.answerSize ? Self.answerRoom : Self.pictureRoom
    locked(number) { $0.put(hit, room: room) }?.release()
    // If the table was shut meanwhile, `shut` may have emptied the stripe before the hit was added.
    if isShut.load(ordering: .sequentiallyConsistent) { empty(number) }
  }

  /// Removes a hit if it shows this picture.
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
  /// Returns the number that stands for a request's size, or nil for a request that isn't remembered.
  static func size(of request: Request) -> UInt64? {
    guard request.isPlain, request.boxes.count <= 1 else { return nil }
    return request.boxes.first.map { size(of: $0) } ?? answerSize
  }

  /// Returns a box as a number, or nil if no thumbnail can have it.
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
