import CSystem
import Glibc
import NuthatchImaging
import NuthatchStore

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
  let marks: AnswerMarks

  init(
    url: UnsafeRawBufferPointer, size: UInt64, image: Image, thumb: RecordKey, second: Int64,
    freshUntil: Int64, _ marks: AnswerMarks
  ) {
    hash = PeekHash(url, size)
    self.url = Array(url)
    self.size = size
    self.image = image
    self.thumb = thumb
    self.second = second
    self.freshUntil = freshUntil
    self.marks = marks
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
    marks = old.marks
  }

  @inline(__always)
  func isFor(_ wanted: UnsafeRawBufferPointer, _ size: UInt64) -> Bool {
    self.size == size && url.isEqual(to: wanted)
  }

  /// Whether the records that it was found by are in place.
  @inline(__always)
  func isCurrent(_ store: Store) -> Bool { marks.isCurrent(store) }
}

extension [UInt8] {
  @inline(__always)
  func isEqual(to wanted: UnsafeRawBufferPointer) -> Bool {
    guard count == wanted.count else { return false }
    return withUnsafeBytes { own in
      guard let base = own.baseAddress, let other = wanted.baseAddress else { return wanted.isEmpty }
      return memcmp(base, other, wanted.count) == 0
    }
  }
}
