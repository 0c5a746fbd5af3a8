/// When to make libcurl check an HTTP/2 stream for bytes that it has read but not delivered.
///
/// libcurl 7.88 tells only one of the streams on an HTTP/2 connection that its socket was ready. Bytes that it has read for the
/// others may stay in its buffers forever if no more arrive: of 30 bodies of 1 MB on one connection, some got stuck in every
/// third run.
struct StreamNudge {
  private static let shortest: Int64 = 10_000_000
  private static let longest: Int64 = 160_000_000

  private(set) var due: Int64
  private var pause = StreamNudge.shortest

  init(startedAt: Int64) { due = startedAt + StreamNudge.shortest }

  mutating func noteBytes(at now: Int64) {
    pause = StreamNudge.shortest
    due = now + pause
  }

  /// Doubles the pause: the longer the silence, the less likely that bytes are left.
  mutating func noteNudge(at now: Int64) {
    pause = min(2 * pause, StreamNudge.longest)
    due = now + pause
  }
}
