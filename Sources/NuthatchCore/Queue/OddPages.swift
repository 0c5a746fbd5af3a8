/// What answers show about the reason of a host's 503: some of its pages, which fail each time, or its load.
struct OddPages {
  private static let most = 32

  private var failedAgain = 0
  private var cured = 0

  /// Whether the reason is some of its pages.
  var areShown: Bool { failedAgain >= 2 + 2 * cured }

  /// Notes that a request got 503 again, although the host was asked little, and others got good answers in between.
  mutating func noteFailedAgain() {
    failedAgain += 1
    forgetSome()
  }

  /// Notes a good answer to a request that has failed before.
  mutating func noteCured() {
    cured += 1
    forgetSome()
  }

  private mutating func forgetSome() {
    guard failedAgain + cured > Self.most else { return }
    failedAgain /= 2
    cured /= 2
  }
}
