import CSystem
import NuthatchImaging

/// Pictures that have ended the decoder twice. They are refused for ten minutes. Otherwise each of their requests would end the
/// decoder that other pictures use, too.
struct RefusedPictures: Sendable {
  private struct Ends {
    var count = 0
    var until: Int64
  }

  static let most = 1000
  static let mostEnds = 2
  static let lifetime: Int64 = 600_000_000_000

  private let ends = Locked<[Digest: Ends]>([:])
  /// Monotonic nanoseconds.
  private let now: @Sendable () -> Int64

  init(now: @escaping @Sendable () -> Int64 = { nhs_monotonic_ns() }) { self.now = now }

  /// Notes that this picture alone has ended the decoder.
  func note(_ bytes: UnsafeRawBufferPointer) {
    let (name, time) = (Digest(of: bytes), now())
    ends.withLock { ends in
      if ends.count >= Self.most {
        ends = ends.filter { $0.value.until > time }
        if ends.count >= Self.most, let oldest = ends.min(by: { $0.value.until < $1.value.until }) {
          ends[oldest.key] = nil
        }
      }
      let count = ends[name].map { $0.until > time ? $0.count : 0 } ?? 0
      ends[name] = Ends(count: count + 1, until: time &+ Self.lifetime)
    }
  }

  /// Returns for how many seconds the picture is still refused.
  func refusal(of bytes: UnsafeRawBufferPointer) -> Int64? {
    // No picture costs a digest as long as none has ended a decoder.
    guard ends.withLock({ !$0.isEmpty }) else { return nil }
    let (name, time) = (Digest(of: bytes), now())
    return ends.withLock { ends in
      guard let known = ends[name], known.count >= Self.mostEnds else { return nil }
      guard known.until > time else {
        ends[name] = nil
        return nil
      }
      return (known.until - time + 999_999_999) / 1_000_000_000
    }
  }
}
