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

/// A picture or an answer that was given, and the conditions under which it is given again without reading and judging records.
final class RememberedHit: Sendable {
  let hash: HitHash
  private let url: [UInt8]
  /// `HitTable.size(of:)`, or `HitTable.answerSize`.
  let size: UInt64
  /// One of the two is set. The answer has no body; the body is leased each time, so that a remembered answer holds no pack.
  let image: Image?
  let answer: Response?
  /// The key of the pixels in the memory tier, or of the body. Nil if the body is empty.
  let record: RecordKey?
  /// The second (since 1970) in which it is valid, and the second from which its freshness must be judged again.
  let second: Int64
  let freshUntil: Int64
  let marks: AnswerMarks

  /// The most bytes of URL and head together. Longer ones are read each time, to save memory.
  private static let longest = 4096

  /// Returns nil if the answer may not be remembered.
  init?(
    _ url: String, _ size: UInt64, image: Image? = nil, answer: Response? = nil, _ stored: StoredAnswer,
    _ plan: RequestPlan
  ) {
    // Don't remember what other requests may not get. Don't remember an answer after a redirect, because the marks don't name
    // the redirect's record.
    guard let marks = stored.marks, plan.isMemorable, !stored.freshness.isStale,
      !plan.followsRedirect(in: stored),
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

  /// Makes the same hit for a later second.
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
  /// Returns for how many seconds, including this one, only the age of the answer changes.
  fileprivate func secondsFresh(for plan: RequestPlan) -> Int64 {
    // Requests with cache directives and a clock that was set back are judged each second. The limit of 60 s covers dates with
    // two-digit years, whose meaning depends on the present year.
    guard !plan.headers.contains("Cache-Control"), !plan.headers.contains("Pragma"),
      second >= record.responseTime
    else { return 1 }
    if plan.policy == .offline { return 60 }
    return min(60, max(1, freshness.lifetime - freshness.age))
  }
}
