import CSystem
import Glibc
import NuthatchBase
import NuthatchTransport

/// A program that prints headers for the requests to a host, or a token (`auth_command` in a config file).
///
/// It runs on a thread of its own, because it may take long. Requests that need it meanwhile wait for the same run. Its headers
/// are used for `lifetime`, and are neither stored nor logged.
final class SignInCommand: Sendable {
  typealias Headers = [(name: String, value: String)]
  typealias Outcome = Result<Headers, NuthatchError>

  /// What a run gave.
  private struct Run {
    let outcome: Outcome
    /// When it is forgotten.
    let until: Int64

    var valid: Outcome? { nhs_monotonic_ns() < until ? outcome : nil }
  }

  private struct State {
    var last: Run?
    /// nil if it doesn't run.
    var waiters: [@Sendable (Outcome) -> Void]?
  }

  /// After a failure, requests fail with the same error for this time, in nanoseconds. Otherwise a list of many URLs would
  /// start the program for each of them.
  private static let pause: Int64 = 10_000_000_000

  private let words: [String]
  /// The section's name.
  private let host: String
  private let lifetime: Int64
  private let timeLimit: Int64
  private let state = Locked(State())

  /// - Parameters:
  ///   - words: the program and its arguments.
  ///   - lifetime: how long the headers are used, in milliseconds.
  ///   - timeLimit: the longest time of a run, in milliseconds.
  init(_ words: [String], for host: String, lifetime: Int64, timeLimit: Int64) {
    (self.words, self.host) = (words, host)
    (self.lifetime, self.timeLimit) = (lifetime * 1_000_000, timeLimit * 1_000_000)
  }

  /// Reads the program and its arguments.
  ///
  /// - Throws: `invalid` for a program that is neither a path nor a name.
  static func words(_ value: WrittenValue) throws(NuthatchError) -> [String] {
    var words = value.text.split(separator: "\0", omittingEmptySubsequences: false).map { String($0) }
    let program = words[0]
    if program.hasPrefix("~/"), let home = Environment.home { words[0] = home + program.dropFirst() }
    guard !program.isEmpty, words[0].hasPrefix("/") || !program.utf8.contains(UInt8(ascii: "/")) else {
      throw NuthatchError(
        .invalid,
        "\(value.row): the program is a path that begins with / or ~/, or a name that is found in PATH")
    }
    try Lengths.check(path: words[0], "the path of the program")
    return words
  }

  // MARK: What is known

  /// The headers of the last run, if they still hold.
  var known: Headers? { try? state.withLock { $0.last?.valid }?.get() }

  /// Calls `then` with the headers, now or on another thread.
  ///
  /// - Parameter rejected: headers that the server has refused. If they are those of the last run, it runs again.
  func find(insteadOf rejected: Headers? = nil, then: @escaping @Sendable (Outcome) -> Void) {
    let (known, mustStart) = state.withLock { state -> (Outcome?, Bool) in
      if let valid = state.last?.valid, !valid.isSame(as: rejected) { return (valid, false) }
      guard state.waiters == nil else {
        state.waiters?.append(then)
        return (nil, false)
      }
      state.waiters = [then]
      return (nil, true)
    }
    if let known { return then(known) }
    guard mustStart else { return }
    // A thread of its own: the program may run for longer than the cache is open.
    let failure = DetachedThread.start("nuthatch-auth") { self.end(self.outcome()) }
    guard failure != 0 else { return }
    end(.failure(NuthatchError(.outOfMemory, "\(shown) can't be started: \(Self.text(of: failure))")))
  }

  /// Waits for the headers.
  func wait() throws(NuthatchError) -> Headers {
    let waiting = Waiting()
    find { outcome in
      waiting.outcome.withLock { $0 = outcome }
      waiting.bell.ring()
    }
    while true {
      let seen = waiting.bell.current
      if let outcome = waiting.outcome.withLock({ $0 }) { return try outcome.get() }
      waiting.bell.wait(after: seen, until: .max)
    }
  }

  private final class Waiting: Sendable {
    let bell = EventCount()
    let outcome = Locked<Outcome?>(nil)
  }

  // MARK: Running

  private func end(_ outcome: Outcome) {
    let isGood = if case .success = outcome { true } else { false }
    let until = nhs_monotonic_ns() &+ (isGood ? lifetime : Self.pause)
    let waiters = state.withLock { state in
      state.last = Run(outcome: outcome, until: until)
      defer { state.waiters = nil }
      return state.waiters ?? []
    }
    for waiter in waiters { waiter(outcome) }
  }

  private static let longestOutput = 65_536

  private func outcome() -> Outcome {
    guard !Environment.isPrivileged else {
      return failure("isn't run, because this program has more rights than its user", .denied)
    }
    let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var output = [UInt8](repeating: 0, count: Self.longestOutput)
    var length = 0
    var detail: Int32 = 0
    // Other threads may fork meanwhile.
    nhs_release_forks()
    let end = output.withUnsafeMutableBytes { bytes in
      nhs_command_run(
        arguments, timeLimit, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, &length,
        &detail)
    }
    nhs_hold_forks()
    switch end {
    // The status is -1 if the program ignores the ends of its children. The output then decides alone.
    case NHS_COMMAND_EXITED where detail == 0 || detail == -1: return headers(in: output[..<length])
    case NHS_COMMAND_EXITED: return failure("ended with status \(detail)")
    case NHS_COMMAND_KILLED: return failure("was ended by signal \(detail)")
    case NHS_COMMAND_TOO_SLOW:
      return failure("took longer than \(timeLimit / 1_000_000) ms (auth_timeout), and was ended")
    case NHS_COMMAND_TOO_LONG:
      return failure("printed more than \(Self.longestOutput) bytes, and was ended")
    default: return failure("can't be run: \(Self.text(of: detail))")
    }
  }

  private static func text(of failure: Int32) -> String { String(cString: strerror(failure)) }

  /// The program without its arguments, which may be secret.
  private var shown: String { "the auth_command \(words[0].printable) of the host \(host.printable)" }

  private func failure(_ what: String, _ code: ErrorCode = .io) -> Outcome {
    .failure(NuthatchError(code, "\(shown) \(what)"))
  }

  // MARK: Its output

  private static let mostHeaders = 16

  /// Reads lines `NAME: VALUE`, or one line with a token. No message shows the output.
  private func headers(in output: ArraySlice<UInt8>) -> Outcome {
    guard let text = String(validating: output, as: UTF8.self) else {
      return failure("printed something that is not UTF-8")
    }
    let lines = text.split(whereSeparator: \.isNewline).filter { !$0.allSatisfy(\.isWhitespace) }
    guard let first = lines.first else { return failure("printed nothing; it must print headers or a token") }
    if lines.count == 1, let token = Self.token(first) {
      return .success([("Authorization", "Bearer \(token)")])
    }
    guard lines.count <= Self.mostHeaders else {
      return failure("printed \(lines.count) lines; at most \(Self.mostHeaders) are allowed")
    }
    var fields = HeaderFields()
    for (number, line) in lines.enumerated() {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      do throws(HeaderFault) {
        guard parts.count == 2 else { throw HeaderFault("no colon") }
        try fields.append(checking: String(parts[0]), String(parts[1]))
      } catch {
        return failure(
          "printed something in line \(number + 1) that is neither NAME: VALUE nor, alone, a token")
      }
    }
    return .success(fields.fields.map { ($0.name, $0.value) })
  }

  /// Returns the token of a line with nothing else (RFC 6750, `b64token`).
  private static func token(_ line: Substring) -> Substring? {
    let blanks: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    let word = line.drop(while: blanks)
    let token = word[..<(word.lastIndex { !blanks($0) }.map { word.index(after: $0) } ?? word.startIndex)]
    let body = token.reversed().drop { $0 == "=" }
    let isToken = body.allSatisfy { character in
      character.isASCII && (character.isLetter || character.isNumber || "-._~+/".contains(character))
    }
    return isToken && !body.isEmpty ? token : nil
  }
}

extension SignInCommand.Outcome {
  /// Whether these are the headers.
  fileprivate func isSame(as headers: SignInCommand.Headers?) -> Bool {
    guard let headers, case .success(let own) = self else { return false }
    return own.elementsEqual(headers, by: ==)
  }
}
