import CSystem
import Glibc
import Synchronization

/// Notes SIGHUP, SIGINT and SIGTERM, so that the program can end in its own way. A second one ends it at once, but not one that
/// comes with the first: `timeout` signals its child and then the child's group, and wrappers pass on what a terminal
/// has sent to all. One that was ignored when the program began, as in the background of a script or by nohup, stays
/// ignored.
enum Interruption {
  private static let received = Atomic<Int32>(0)
  /// When it came.
  private static let moment = Atomic<Int64>(0)
  /// What comes so soon after the first, in nanoseconds, is the same wish by another way.
  private static let echo: Int64 = 100_000_000

  static func watch() {
    // The handler must not be the one that makes the atomics.
    _ = age
    for number in [SIGHUP, SIGINT, SIGTERM] {
      var inherited = sigaction()
      sigaction(number, nil, &inherited)
      // 1 is SIG_IGN, which is no function that Swift could compare.
      if unsafeBitCast(inherited.__sigaction_handler.sa_handler, to: Int.self) == 1 { continue }
      // Without SA_RESTART, so that a write into a full pipe ends, too. The library's threads block all signals.
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { number in
        if Interruption.signal == nil { Interruption.moment.store(nhs_monotonic_ns(), ordering: .relaxed) }
        let isFirst = Interruption.received.compareExchange(
          expected: 0, desired: number, ordering: .relaxed
        ).exchanged
        if !isFirst, Interruption.age ?? 0 > Interruption.echo { _exit(128 + number) }
      }
      sigaction(number, &action, nil)
    }
  }

  /// The signal that came, if one did.
  static var signal: Int32? {
    let number = received.load(ordering: .relaxed)
    return number == 0 ? nil : number
  }

  /// Nanoseconds since it came.
  static var age: Int64? {
    let begin = moment.load(ordering: .relaxed)
    return signal == nil ? nil : nhs_monotonic_ns() - begin
  }

  /// What the program ends with when one came.
  static var exitCode: ExitCode? {
    switch signal {
    case SIGHUP: .hungUp
    case SIGINT: .interrupted
    case SIGTERM: .terminated
    default: nil
    }
  }
}

extension ExitCode {
  /// The signal that it tells of.
  var signalName: String? {
    switch self {
    case .hungUp: "SIGHUP"
    case .interrupted: "SIGINT"
    case .terminated: "SIGTERM"
    default: nil
    }
  }
}
