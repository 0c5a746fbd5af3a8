import NuthatchTransport
import Synchronization

/// A line of jobs that wait for a disk, for one body: the loop's thread asks for them, and hears of them. When one has failed,
/// none is done any more.
// What isn't atomic is confined to the line, or to the loop's thread, hence Sendable.
final class DiskLine: @unchecked Sendable {
  private let loop: EventLoop
  private let line: SerialLine
  /// Bytes that are to be written still, and 1 for whatever else is to be done.
  private let waiting = Atomic(0)
  /// Confined to the line.
  private var failure: NuthatchError?

  /// Called on the loop's thread, which also sets it, when more may be written again, or nothing can be.
  var whenMoved: (NuthatchError?) -> Void = { _ in }

  /// So many bytes may wait; more of them hold the transfer up.
  private static let most = 256 << 10

  init(_ runtime: Runtime) {
    loop = runtime.loop
    line = SerialLine(runtime.writers)
  }

  /// Whether the disk has something to do still.
  var isBehind: Bool { waiting.load(ordering: .relaxed) > 0 }

  var isFull: Bool { waiting.load(ordering: .relaxed) > Self.most }

  /// Has `job` done, which writes `count` bytes.
  func submit(_ count: Int = 0, _ job: @escaping @Sendable () throws(NuthatchError) -> Void) {
    waiting.add(count, ordering: .relaxed)
    line.submit {
      let hadFailed = self.failure != nil
      _ = self.attempt(job)
      let (before, after) = self.waiting.subtract(count, ordering: .relaxed)
      let (failure, limit) = (self.failure, Self.most / 2)
      guard before > limit && after <= limit || !hadFailed && failure != nil else { return }
      self.loop.post { self.whenMoved(failure) }
    }
  }

  /// The same of a job that has a result, which the loop's thread hears.
  func submit<Value: Sendable>(
    _ job: @escaping @Sendable () throws(NuthatchError) -> Value,
    then: @escaping @Sendable (Result<Value, NuthatchError>) -> Void
  ) {
    waiting.add(1, ordering: .relaxed)
    line.submit {
      let result = self.attempt(job)
      self.waiting.subtract(1, ordering: .relaxed)
      self.loop.post { then(result) }
    }
  }

  /// The last job, which is done whatever failed before. `then` hears what did: on the loop's thread, as long as there is one.
  func finish(
    _ job: @escaping @Sendable (NuthatchError?) -> NuthatchError?,
    then: @escaping @Sendable (NuthatchError?) -> Void
  ) {
    line.submit {
      let failure = job(self.failure)
      if !self.loop.post({ then(failure) }) { then(failure) }
    }
  }

  private func attempt<Value>(_ job: () throws(NuthatchError) -> Value) -> Result<Value, NuthatchError> {
    if let failure { return .failure(failure) }
    let result = Result(catching: job)
    if case .failure(let error) = result { failure = error }
    return result
  }
}
