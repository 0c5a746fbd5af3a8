import CSystem
import Glibc
import NuthatchStore

/// The hash of a URL's bytes and a size.
struct HitHash: Equatable, Sendable {
  var low: UInt64 = 0
  var high: UInt64 = 0

  @inline(__always)
  init(_ url: UnsafeRawBufferPointer, _ size: UInt64) {
    nhs_hash128(url.baseAddress, url.count, size, &low, &high)
  }
}

/// A picture or an answer as it was given, and what makes it the right one: the same question gets it without records
/// being read and judged anew.
final class RememberedHit: Sendable {
  let hash: HitHash
  private let url: [UInt8]
  /// `HitTable.size(of:)`, or `HitTable.answerSize`.
  let size: UInt64
  /// One of the two. The answer is without its body, which is leased each time: what is only remembered holds no pack.
  let image: Image?
  let answer: Response?
  /// Where the pixels are found in the memory tier, or the body; nil where the body is empty.
  let record: RecordKey?
  /// The second (since 1970) that it is given in, and the one from which on its freshness has to be judged anew.
  let second: Int64
  let freshUntil: Int64
  let marks: AnswerMarks

  /// A URL and a head of more bytes aren't worth their memory: they are read anew.
  private static let longest = 4096

  /// Nil for what isn't to be remembered.
  init?(
    _ url: String, _ size: UInt64, image: Image? = nil, answer: Response? = nil, _ stored: StoredAnswer,
    _ plan: RequestPlan
  ) {
    // Not what only this request takes, and not what lies behind a redirect, whose record the marks don't name.
    guard let marks = stored.marks, plan.isMemorable, !stored.freshness.isStale,
      !plan.isLedOn(by: stored),
      url.utf8.count + (answer?.headSize ?? 0) <= Self.longest || image != nil
    else { return nil }
    self.url = Array(url.utf8)
    hash = self.url.withUnsafeBytes { HitHash($0, size) }
    self.size = size
    self.image = image
    self.answer = answer?.with(.empty)
    let content = stored.record.content
    record =
      image == nil
      ? (stored.hasBody ? content : nil).map { RecordKey(.body, $0.bytes) }
      : content.flatMap { content in plan.recipes.first.map { ThumbRecord.key(content, $0) } }
    second = stored.second
    freshUntil = stored.second + stored.secondsFresh(for: plan)
    self.marks = marks
  }

  /// The same in a later second.
  init(_ old: RememberedHit, second: Int64) {
    hash = old.hash
    url = old.url
    size = old.size
    image = old.image?.aged(by: second - old.second)
    answer = old.answer?.aged(by: second - old.second)
    record = old.record
    self.second = second
    freshUntil = old.freshUntil
    marks = old.marks
  }

  @inline(__always)
  func isFor(_ wanted: UnsafeRawBufferPointer, _ size: UInt64) -> Bool {
    guard self.size == size, url.count == wanted.count else { return false }
    return url.withUnsafeBytes { own in
      guard let base = own.baseAddress, let other = wanted.baseAddress else { return wanted.isEmpty }
      return memcmp(base, other, wanted.count) == 0
    }
  }
}

extension Response {
  fileprivate var headSize: Int { headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count } }
}

extension StoredAnswer {
  /// For how many seconds, this one included, nothing but the age will be said anew.
  fileprivate func secondsFresh(for plan: RequestPlan) -> Int64 {
    // A request with wishes, a clock that was set back, and two-digit years have rules of their own.
    guard !plan.headers.contains("Cache-Control"), !plan.headers.contains("Pragma"),
      second >= record.responseTime
    else { return 1 }
    if plan.policy == .offline { return 60 }
    return min(60, max(1, freshness.lifetime - freshness.age))
  }
}
