import NuthatchTransport
import Synchronization

/// Runs the disk jobs of one body one after the other, on the writers' threads. The loop's thread submits them and gets the
/// results. After a job has failed, later jobs are not run.
// State that isn't atomic is confined to the queue or to the loop's thread, hence Sendable.
final class DiskQueue: @unchecked Sendable {
  private let loop: EventLoop
  private let queue: SerialQueue
  /// The bytes that are still to be written, plus 1 for each job whose result is still to come.
  private let waiting = Atomic(0)
  /// Confined to the queue.
  private var failure: NuthatchError?

  /// Called on the loop's thread, with nil when more bytes may be submitted again, or with the error of the first job that
  /// failed. Set it on the loop's thread.
  var whenMoved: (NuthatchError?) -> Void = { _ in }

  /// If more bytes than this wait, the transfer is paused.
  private static let most = 256 << 10

  init(_ runtime: Runtime) {
    loop = runtime.loop
    queue = SerialQueue(runtime.writers)
  }

  /// Whether bytes are still to be written, or a result is still to come.
  var isBehind: Bool { waiting.load(ordering: .relaxed) > 0 }

  var isFull: Bool { waiting.load(ordering: .relaxed) > Self.most }

  /// Runs `job`, which writes `count` bytes.
  func submit(_ count: Int = 0, _ job: @escaping @Sendable () throws(NuthatchError) -> Void) {
    waiting.add(count, ordering: .relaxed)
    queue.submit {
      let hadFailed = self.failure != nil
      _ = self.attempt(job)
      let (before, after) = self.waiting.subtract(count, ordering: .relaxed)
      let (failure, limit) = (self.failure, Self.most / 2)
      guard before > limit && after <= limit || !hadFailed && failure != nil else { return }
      self.loop.post { self.whenMoved(failure) }
    }
  }

  /// Runs a job that has a result. `then` gets the result on the loop's thread.
  func submit<Value: Sendable>(
    _ job: @escaping @Sendable () throws(NuthatchError) -> Value,
    then: @escaping @Sendable (Result<Value, NuthatchError>) -> Void
  ) {
    waiting.add(1, ordering: .relaxed)
    queue.submit {
      let result = self.attempt(job)
      self.waiting.subtract(1, ordering: .relaxed)
      self.loop.post { then(result) }
    }
  }

  /// Runs the last job, even if an earlier one failed; `job` gets that failure. `then` gets the result of `job`, on the loop's
  /// thread as long as the loop runs.
  func finish(
    _ job: @escaping @Sendable (NuthatchError?) -> NuthatchError?,
    then: @escaping @Sendable (NuthatchError?) -> Void
  ) {
    queue.submit {
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
