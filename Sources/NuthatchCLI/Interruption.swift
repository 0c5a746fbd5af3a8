import Glibc
import Synchronization

/// Notes SIGINT and SIGTERM, so that the program can end in its own way. A second one ends it at once.
enum Interruption {
  private static let received = Atomic<Int32>(0)

  static func watch() {
    // The handler must not be the one that makes the atomic.
    _ = signal
    for number in [SIGINT, SIGTERM] {
      Glibc.signal(number) { number in
        if Interruption.received.exchange(number, ordering: .relaxed) != 0 { _exit(128 + number) }
      }
    }
  }

  /// The signal that came, if one did.
  static var signal: Int32? {
    let number = received.load(ordering: .relaxed)
    return number == 0 ? nil : number
  }

  static var exitCode: ExitCode? {
    switch signal {
    case SIGINT: .interrupted
    case SIGTERM: .terminated
    default: nil
    }
  }
}
