import CSystem
import Glibc
import Synchronization

/// Notes SIGHUP, SIGINT and SIGTERM, so that the program can finish its output before it ends. A second signal ends it at once,
/// unless it comes within 100 ms of the first: `timeout` signals its child and then the child's group, and wrappers pass on a
/// signal that the terminal has sent to the whole group. A signal that was ignored when the program started stays ignored, for
/// example under nohup.
enum Interruption {
  private static let received = Atomic<Int32>(0)
  /// When the first signal came.
  private static let moment = Atomic<Int64>(0)
  /// A second signal within this time of the first counts as the same interrupt; in nanoseconds.
  private static let echo: Int64 = 100_000_000

  static func watch() {
    // Initialize the atomics now. The handler must not do it.
    _ = age
    for number in [SIGHUP, SIGINT, SIGTERM] {
      var inherited = sigaction()
      sigaction(number, nil, &inherited)
      // 1 is SIG_IGN. Swift can't compare functions.
      if unsafeBitCast(inherited.__sigaction_handler.sa_handler, to: Int.self) == 1 { continue }
      // Without SA_RESTART, so that a signal also interrupts a write into a full pipe. The library's threads block all signals.
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

  /// The first signal, or nil.
  static var signal: Int32? {
    let number = received.load(ordering: .relaxed)
    return number == 0 ? nil : number
  }

  /// Nanoseconds since the first signal, or nil.
  static var age: Int64? {
    let begin = moment.load(ordering: .relaxed)
    return signal == nil ? nil : nhs_monotonic_ns() - begin
  }

  /// The exit code for the signal, or nil if none came.
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
  /// The name of the signal that the code stands for, or nil.
  var signalName: String? {
    switch self {
    case .hungUp: "SIGHUP"
    case .interrupted: "SIGINT"
    case .terminated: "SIGTERM"
    default: nil
    }
  }
}
