import CSystem
import NuthatchStore

/// The answers that a handle has given of late, by the bytes of their URL. Each has one place, which the next one takes that
/// belongs there: what is crowded out is read anew.
final class RecallTable: @unchecked Sendable {
  private static let room = 2048

  /// Each guards the place of its number, for a few instructions at a time.
  private let locks: UnsafeMutablePointer<UInt32>
  private let places: UnsafeMutablePointer<Recalled?>

  init() {
    locks = .allocate(capacity: Self.room)
    locks.initialize(repeating: 0, count: Self.room)
    places = .allocate(capacity: Self.room)
    places.initialize(repeating: nil, count: Self.room)
  }

  deinit {
    places.deinitialize(count: Self.room)
    places.deallocate()
    locks.deallocate()
  }

  func find(_ url: UnsafeRawBufferPointer) -> Recalled? {
    let hash = PeekHash(url, 0)
    let number = Self.place(of: hash)
    nhs_word_lock(locks + number)
    let found = places[number]
    nhs_word_unlock(locks + number)
    guard let found, found.hash == hash, found.isFor(url) else { return nil }
    return found
  }

  func keep(_ answer: Recalled) {
    let number = Self.place(of: answer.hash)
    nhs_word_lock(locks + number)
    let old = places[number]
    places[number] = answer
    nhs_word_unlock(locks + number)
    // Let go outside of the lock: it may be long.
    _ = consume old
  }

  private static func place(of hash: PeekHash) -> Int { Int(truncatingIfNeeded: hash.low & UInt64(room - 1)) }
}
