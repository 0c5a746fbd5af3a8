import Glibc
import NuthatchBase
import Testing

@testable import NuthatchCore

@Suite("Commands that sign in") struct SignInCommandTests {
  private func command(_ script: String, lifetime: Int64 = 600_000, time: Int64 = 60_000) -> SignInCommand {
    SignInCommand(["sh", "-c", script], for: "a.test", lifetime: lifetime, timeLimit: time)
  }

  /// A file with a line for each run.
  private final class Runs {
    let folder: String
    var path: String { "\(folder)/runs" }

    init() throws { folder = try Bench.makeFolder() }

    deinit { removeTree(folder) }

    var count: Int { WholeFile.content(of: path, atMost: 4096)?.count { $0 == 10 } ?? 0 }
  }

  @Test("headers are used for their lifetime")
  func lifetime() throws {
    let runs = try Runs()
    let command = command("echo >> \(runs.path); echo token", lifetime: 1000)
    #expect(command.known == nil)
    #expect(try command.wait().map(\.value) == ["Bearer token"])
    while command.known != nil { usleep(1000) }
    #expect(runs.count == 1)
    #expect(try command.wait().map(\.value) == ["Bearer token"])
    #expect(runs.count == 2)
  }

  @Test("requests that come during a run wait for it")
  func joined() throws {
    let runs = try Runs()
    let command = command("echo >> \(runs.path); sleep 1; echo token")
    let found = Locked(0)
    for _ in 0..<20 { command.find { if case .success = $0 { found.withLock { $0 += 1 } } } }
    _ = try command.wait()
    while found.withLock({ $0 }) < 20 { usleep(1000) }
    #expect(runs.count == 1)
  }

  @Test("headers that a server has refused lead to one other run, and a failure to none for a while")
  func again() throws {
    let runs = try Runs()
    let changing = command("echo >> \(runs.path); echo token$(wc -l < \(runs.path))")
    let first = try changing.wait()
    #expect(try next(changing, first).get().map(\.value) == ["Bearer token2"])
    // Another request was refused with the first ones, too. The second ones are there already.
    #expect(try next(changing, first).get().map(\.value) == ["Bearer token2"])
    #expect(runs.count == 2)
    let failing = command("echo >> \(runs.path); exit 1")
    for _ in 0..<3 { #expect(throws: NuthatchError.self) { try failing.wait() } }
    #expect(runs.count == 3 && failing.known == nil)
  }

  private func next(
    _ command: SignInCommand, _ refused: SignInCommand.Headers
  ) throws -> SignInCommand.Outcome {
    let place = Locked<SignInCommand.Outcome?>(nil)
    command.find(insteadOf: refused) { outcome in place.withLock { $0 = outcome } }
    while true {
      if let outcome = place.withLock({ $0 }) { return outcome }
      usleep(1000)
    }
  }

  @Test("it inherits no descriptor, no blocked signal and no standard input")
  func surroundings() throws {
    var descriptors: [Int32] = [0, 0]
    #expect(pipe(&descriptors) == 0)
    defer { for descriptor in descriptors { close(descriptor) } }
    // By what they are: the shell itself may open something under the same number.
    var status = stat()
    #expect(fstat(descriptors[0], &status) == 0)
    let names = "for f in /proc/$$/fd/*; do readlink $f; done | tr '\\n' ' '"
    let command = command(
      "echo \"X-Open: $(\(names))\"; echo \"X-Blocked: $(grep SigBlk /proc/$$/status | tr -d '\\t')\"; "
        + "echo \"X-In: $(cat | wc -c)\"")
    let headers = try command.wait()
    #expect(headers.first { $0.name == "X-Blocked" }?.value == "SigBlk:0000000000000000")
    #expect(headers.first { $0.name == "X-In" }?.value == "0")
    let open = headers.first { $0.name == "X-Open" }?.value ?? ""
    #expect(open.contains("/dev/null") && !open.contains("pipe:[\(status.st_ino)]"))
  }
}
