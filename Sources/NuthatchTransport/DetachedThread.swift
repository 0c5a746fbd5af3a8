import CSystem
import Glibc

/// A thread that nothing joins, because its work may take longer than the object that starts it exists.
package enum DetachedThread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Starts a thread that runs `body`. Returns 0, or the error number.
  package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Int32 {
    let context = Unmanaged.passRetained(Work(body))
    var thread: UInt64 = 0
    let failure = nhs_thread_start(&thread, name, run, context.toOpaque())
    guard failure == 0 else {
      context.release()
      return failure
    }
    pthread_detach(pthread_t(thread))
    return 0
  }

  private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
    if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
    return nil
  }
}
