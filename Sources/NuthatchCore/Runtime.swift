import CSystem
import Glibc
import NuthatchTransport

/// What all open caches of a process share: the transport and its thread. Made for the first cache, ended with the last.
///
/// A forked child has none of its parent's threads, so it never touches its parent's runtime: the first cache that
/// it opens makes a new one, and the old one's memory stays as it is.
final class Runtime: @unchecked Sendable {
  let transport: Transport
  private let epoch: UInt64
  // Guarded by the process lock, like `current`.
  private var users = 0
  nonisolated(unsafe) private static var current: Runtime?

  private init() throws(NuthatchError) {
    do {
      transport = try Transport()
    } catch {
      throw NuthatchError(ErrorCode(error.kind), error.message)
    }
    epoch = nhs_fork_epoch()
  }

  /// The runtime, which stays until `release` has been called as often as this.
  static func acquire() throws(NuthatchError) -> Runtime {
    if let running = claim() { return running }
    let made = try Runtime()
    _ = endsAtExit
    let winner = claim(orInstall: made)
    if winner !== made { made.transport.stop() }
    return winner
  }

  func release() {
    guard epoch == nhs_fork_epoch() else { return }
    nhs_process_lock()
    users -= 1
    let isLast = users == 0
    if isLast, Runtime.current === self { Runtime.current = nil }
    nhs_process_unlock()
    if isLast { transport.stop() }
  }

  /// exit() takes OpenSSL down while other threads run on: the loop must not be in the middle of it then. Registered
  /// after libcurl has initialised OpenSSL, this runs before OpenSSL's own clean-up.
  private static let endsAtExit = atexit {
    nhs_process_lock()
    let running = current
    nhs_process_unlock()
    if let running, running.epoch == nhs_fork_epoch() { running.transport.abandon() }
  }

  private static func claim() -> Runtime? {
    nhs_process_lock()
    defer { nhs_process_unlock() }
    guard let running = current, running.epoch == nhs_fork_epoch() else { return nil }
    running.users += 1
    return running
  }

  private static func claim(orInstall made: Runtime) -> Runtime {
    nhs_process_lock()
    defer { nhs_process_unlock() }
    if let running = current, running.epoch == nhs_fork_epoch() {
      running.users += 1
      return running
    }
    // In a forked child the parent's runtime must not be taken down: its thread isn't here.
    if let stranger = current { _ = Unmanaged.passRetained(stranger) }
    current = made
    made.users = 1
    return made
  }
}
