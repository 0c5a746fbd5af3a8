import CSystem

/// What happened in this process. A thread counts in a place of its own, so that counting costs no other thread anything.
final class StoreCounts: @unchecked Sendable {
  enum Name: Int, CaseIterable {
    case commits, droppedPacks, droppedBytes, droppedRecords, writtenSmall, writtenBulk
  }

  private static let places = 16
  // A pair of cache lines a place.
  private static let stride = 128
  private let words: UnsafeMutableRawPointer

  init() {
    words = .allocate(byteCount: Self.places * Self.stride, alignment: Self.stride)
    words.initializeMemory(as: UInt64.self, repeating: 0, count: Self.places * Self.stride / 8)
  }

  deinit { words.deallocate() }

  @inline(__always)
  func add(_ name: Name, _ amount: UInt64 = 1) {
    let place = Int(nhs_thread_number()) & (Self.places - 1)
    _ = nhs_add64(words + place * Self.stride + name.rawValue * 8, amount)
  }

  subscript(name: Name) -> Int {
    (0..<Self.places).reduce(0) {
      $0 &+ Int(truncatingIfNeeded: nhs_load64(words + $1 * Self.stride + name.rawValue * 8))
    }
  }
}
