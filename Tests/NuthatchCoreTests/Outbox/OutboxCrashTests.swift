import Foundation
import NuthatchCore
import TestServer
import Testing

/// Processes that are killed while they freeze and while they send, at any moment and at the Nth of their system calls.
@Suite("Killed processes and their outbox", .serialized) struct OutboxCrashTests {
  private static let tracer = "/usr/bin/strace"
  private static let calls = [
    "fsync", "pwritev", "openat", "fcntl", "ftruncate", "sendto", "recvfrom", "renameat2",
  ]

  /// The requests that were acknowledged, and those that the server received.
  private final class Ledger {
    let server: TestServer
    let folder: String
    /// Numbers in the order in which their freezing was acknowledged, by queue.
    var frozen: [String: [Int]] = [:]
    var dropped: Set<Int> = []
    /// Those among them and those that were killed meanwhile.
    var dropping: Set<Int> = []
    var next = 0

    init() throws {
      server = try TestServer.start()
      folder = try Bench.makeFolder()
      server.on(prefix: "/q") { _ in .ok("") }
      server.goDown()
    }

    deinit {
      server.stop()
      removeTree(folder)
    }

    /// Runs the program; kills it after so many microseconds, or at a system call.
    ///
    /// - Returns: whether it came to its end.
    @discardableResult
    func run(_ arguments: [String], kill after: UInt32?, at call: (String, Int)? = nil) throws -> Bool {
      let process = Process()
      let pipe = Pipe()
      let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      let program = URL(fileURLWithPath: tests).deletingLastPathComponent()
        .appendingPathComponent("nuthatch-outboxcrash").path
      if let (name, number) = call {
        process.executableURL = URL(fileURLWithPath: OutboxCrashTests.tracer)
        process.arguments =
          [
            "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + name, "-e",
            "inject=\(name):signal=KILL:when=\(number)",
          ]
          + [program] + arguments
      } else {
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
      }
      process.standardOutput = pipe
      try process.run()
      if let after {
        usleep(after)
        Glibc.kill(process.processIdentifier, SIGKILL)
      }
      let said = (try? pipe.fileHandleForReading.readToEnd()) ?? Data()
      process.waitUntilExit()
      let lines = String(decoding: said, as: UTF8.self).split(separator: "\n")
      for line in lines {
        let words = line.split(separator: " ")
        if words.first == "fault" { Issue.record("\(line)") }
        if words.count == 3, words[0] == "frozen", let number = Int(words[2]) {
          frozen[String(words[1]), default: []].append(number)
        }
        if words.count == 2, words[0] == "dropping", let number = Int(words[1]) { dropping.insert(number) }
        if words.count == 2, words[0] == "dropped", let number = Int(words[1]) { dropped.insert(number) }
      }
      return lines.last == "end"
    }

    @discardableResult
    func freeze(
      _ seed: UInt64, kill: UInt32?, at call: (String, Int)? = nil, count: Int = 40
    ) throws -> Bool {
      defer { next += 1000 }
      let arguments = ["freeze", folder, server.url(""), "\(seed)", "\(next)", "\(count)"]
      return try run(arguments, kill: kill, at: call)
    }

    /// Runs the program while no other one sends. When this returns, the server has read what came of it: else it could read that
    /// behind what the next one sends.
    func send(
      _ words: [String] = ["send"], kill: UInt32? = nil, at call: (String, Int)? = nil
    ) throws {
      try run(words.prefix(1) + [folder] + words.dropFirst(), kill: kill, at: call)
      _ = server.acceptedCount
      #expect(server.waitUntilDisconnected())
    }

    /// - Parameter mayComeLate: whether what a killed process sent may be read behind what another one sent at the same time.
    func check(_ note: Comment, mayComeLate: Bool = false) {
      var seen: [String: [Int]] = [:]
      var keys: [Int: Set<String>] = [:]
      for request in server.requests {
        // One that was being sent when its process was killed may come in part.
        guard request.outcome != .clientLeft else { continue }
        let text = String(decoding: request.body, as: UTF8.self)
        guard let number = Int(text.prefix { $0 != " " }),
          let queue = request.path.split(separator: "/").first
        else {
          Issue.record("a body that nobody sent: \(text.prefix(40)), \(note)")
          continue
        }
        let rest = text.drop { $0 != " " }.dropFirst()
        #expect(
          (rest.utf8.count == 20 || rest.utf8.count == 70_000) && rest.utf8.allSatisfy { $0 == 120 }, note)
        keys[number, default: []].insert(request.headers["Idempotency-Key"] ?? "none")
        seen[String(queue), default: []].append(number)
      }
      #expect(keys.values.allSatisfy { $0.count == 1 && !$0.contains("none") }, note)
      for (queue, numbers) in frozen {
        let kept = numbers.filter { !dropping.contains($0) }
        let arrived = seen[queue] ?? []
        #expect(Set(kept).isSubset(of: arrived), "lost \(Set(kept).subtracting(arrived)), \(note)")
        // Unacknowledged requests may have come, too; all in their order, and a repetition only right after the first.
        var seenOnce: Set<Int> = []
        let ordered = mayComeLate ? arrived.filter { seenOnce.insert($0).inserted } : arrived
        #expect(ordered == ordered.sorted(), "\(queue): \(arrived), \(note)")
      }
      let late = dropped.intersection(seen.values.joined())
      #expect(late.isEmpty, "sent after it was dropped: \(late), \(note)")
    }
  }

  private var rounds: Int {
    ProcessInfo.processInfo.environment["NUTHATCH_CRASH_ROUNDS"].flatMap { Int($0) } ?? 6
  }

  @Test("after kills the outbox has sent all acknowledged requests in order, and no dropped one")
  func killed() throws {
    let seed = UInt64.random(in: 0..<1_000_000)
    for round in 0..<rounds {
      let ledger = try Ledger()
      for turn in 0..<2 {
        try ledger.freeze(seed + UInt64(round * 10 + turn), kill: UInt32.random(in: 20_000..<250_000))
      }
      try ledger.server.goUp()
      for _ in 0..<3 { try ledger.send(kill: UInt32.random(in: 15_000..<120_000)) }
      try ledger.send()
      ledger.check("seed \(seed), round \(round)")
    }
  }

  @Test(
    "after kills at system calls the outbox has sent all acknowledged requests in order",
    .enabled(if: FileManager.default.isExecutableFile(atPath: OutboxCrashTests.tracer)))
  func killedAtCall() throws {
    let seed = UInt64.random(in: 0..<1_000_000)
    for round in 0..<rounds {
      let ledger = try Ledger()
      let call = Self.calls[(Int(seed) + round) % Self.calls.count]
      let (first, second) = (Int.random(in: 1...60), Int.random(in: 1...60))
      try ledger.freeze(seed + UInt64(round), kill: nil, at: (call, first))
      try ledger.server.goUp()
      try ledger.send(at: (call, second))
      try ledger.send()
      ledger.check("seed \(seed), round \(round): \(call) \(first), \(second)")
    }
  }

  @Test("after processes that ended without a close the outbox has sent all requests in order")
  func left() throws {
    let seed = UInt64.random(in: 0..<1_000_000)
    for round in 0..<rounds {
      let ledger = try Ledger()
      #expect(try ledger.freeze(seed + UInt64(round), kill: nil))
      try ledger.server.goUp()
      for _ in 0..<8 {
        try ledger.send(["leave", "\(UInt32.random(in: 500..<20_000))"])
      }
      var options = Options()
      options.outbox = .off
      let cache = try Cache(path: ledger.folder, options: options)
      #expect(try cache.outbox.list().filter { $0.state == .dead }.isEmpty, "seed \(seed), round \(round)")
      cache.close()
      try ledger.send()
      ledger.check("seed \(seed), round \(round)")
    }
  }

  @Test("of two processes only one sends the outbox, and the other one goes on when it is killed")
  func lease() throws {
    for round in 0..<max(1, rounds / 6) {
      let ledger = try Ledger()
      let seed = UInt64.random(in: 0..<1_000_000)
      #expect(try ledger.freeze(seed, kill: nil))
      ledger.server.on(prefix: "/q") { _ in Script.ok("").after(.pause(milliseconds: 5)) }
      try ledger.server.goUp()
      let ends = Collected<Bool>()
      // Sending doesn't change the ledger.
      nonisolated(unsafe) let shared = ledger
      let both = (0..<2).map { number in
        Thread {
          ends.add((try? shared.run(["send", shared.folder], kill: number == 0 ? 60_000 : nil)) ?? false)
        }
      }
      for thread in both { thread.start() }
      while ends.values.count < 2 { usleep(1000) }
      #expect(ends.values.contains(true))
      ledger.check("seed \(seed), round \(round)", mayComeLate: true)
      // One request of each of the three queues at a time; those that the killed process had under way come once more.
      #expect(ledger.server.highWater() <= 3)
      let sent = ledger.server.requests.filter { $0.outcome != .clientLeft }.count
      let kept = ledger.frozen.values.reduce(0) { $0 + $1.count } - ledger.dropped.count
      #expect(sent >= kept && sent <= kept + 3, "\(sent) of \(kept)")
    }
  }

  private static let hasNetworksOfItsOwn: Bool = {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
    process.arguments = ["-n", "true"]
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }()

  @Test(
    "a frozen request is sent as soon as the network link is up",
    .enabled(if: OutboxCrashTests.hasNetworksOfItsOwn))
  func link() throws {
    let folder = try Bench.makeFolder()
    defer { removeTree(folder) }
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let program = URL(fileURLWithPath: tests).deletingLastPathComponent()
      .appendingPathComponent("nuthatch-outboxcrash").path
    let process = Process()
    let (said, saying) = (Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
    // The shell in the same network namespace brings the link up when the program says so.
    let script =
      "\"$1\" link \"$2\" | while read -r line; do echo \"$line\"; [ \"$line\" != up ] || ip link set lo up; done"
    process.arguments = ["-n", "timeout", "60", "sh", "-c", script, "sh", program, folder]
    process.standardOutput = said
    process.standardInput = saying
    try process.run()
    let output = String(decoding: (try said.fileHandleForReading.readToEnd()) ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(output == "frozen link 1\nwaits true\nup\ndone\n")
  }
}
