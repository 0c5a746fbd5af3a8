import Foundation
import TestServer
import Testing

@testable import NuthatchCore

/// Processes that are killed before each system call, of every thread and kind: from the opening of the directory
/// on while they freeze, and while they send, write down the answer, and collect it.
@Suite("Outbox processes that are killed at each system call", .serialized) struct OutboxCallTests {
  /// What a process said, and how it ended.
  private struct Words {
    let lines: [[Substring]]
    let status: Int32
    /// Whether it made all its calls.
    var isWhole: Bool { lines.last?.first == "calls" }
    func of(_ word: String) -> [[Substring]] { lines.filter { $0.first == Substring(word) } }
  }

  private func run(_ count: Int, _ arguments: [String]) throws -> Words {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: tests).deletingLastPathComponent()
      .appendingPathComponent("nuthatch-outboxcrash")
    process.arguments = ["at", "\(count)"] + arguments
    process.standardOutput = pipe
    try process.run()
    let said = (try? pipe.fileHandleForReading.readToEnd()) ?? Data()
    process.waitUntilExit()
    let lines = String(decoding: said, as: UTF8.self).split(separator: "\n").map { $0.split(separator: " ") }
    return Words(lines: lines, status: process.terminationStatus)
  }

  private let everyCall =
    ProcessInfo.processInfo.environment["NUTHATCH_CRASH_ROUNDS"].flatMap { Int($0) } ?? 0 >= 100

  /// Has a process killed before every call of it, or before some of them: all when NUTHATCH_CRASH_ROUNDS is 100 or more.
  ///
  /// - Parameter body: runs it, to be killed before the call of that number, and looks at what is left.
  private func each(_ body: (Int) throws -> Words) throws {
    let first = try body(1_000_000_000)
    // On this machine no process may trace another one.
    if first.status == 5 { return }
    let total = try #require(first.lines.last?.last.flatMap { Int($0) }, "\(first)")
    #expect(first.isWhole && total > 100)
    let step = everyCall ? 1 : max(1, total / 16)
    var number = Int.random(in: 1...step)
    while true {
      let words = try body(number)
      #expect(words.status == 0, "call \(number): \(words.lines)")
      // Threads don't make the same number of calls each time.
      if words.isWhole { break }
      number += step
    }
  }

  // MARK: Freezing

  /// What `nuthatch-outboxcrash freeze` does with a seed, for its first request.
  private struct Dice {
    let isDurable: Bool
    let isLong: Bool
    let isDropped: Bool

    init(_ seed: UInt64) {
      let dice = (seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407) >> 33
      isDurable = dice / 3 % 4 == 0
      isLong = dice / 12 % 8 == 0
      isDropped = dice / 96 % 6 == 0
    }
  }

  @Test(
    "a process killed while it freezes leaves acknowledged requests, and others whole or not at all",
    .enabled(if: !isSanitized),
    arguments: [(false, false, false), (true, false, false), (false, true, false), (true, true, true)])
  func freezing(_ isDurable: Bool, _ isLong: Bool, _ isDropped: Bool) throws {
    let start = UInt64.random(in: 0..<1_000_000)
    let seed = try #require(
      (start..<start + 100_000).first {
        let dice = Dice($0)
        return dice.isDurable == isDurable && dice.isLong == isLong && dice.isDropped == isDropped
      })
    try each { number in
      let folder = try Bench.makeFolder()
      let server = try TestServer.start()
      defer {
        server.stop()
        removeTree(folder)
      }
      let note: Comment = "seed \(seed), call \(number)"
      server.on(prefix: "/q") { _ in .ok("") }
      server.goDown()
      let words = try run(number, ["freeze", folder, server.url(""), "\(seed)", "7", "1"])
      guard words.status != 5 else { return words }
      #expect(words.of("fault").isEmpty, note)
      try server.goUp()
      try sendAll(folder, note)
      let sent = server.requests.filter { $0.outcome != .clientLeft }
      let body = "7 \(String(repeating: "x", count: isLong ? 70_000 : 20))"
      #expect(sent.allSatisfy { $0.body == Array(body.utf8) }, note)
      // No process has sent it before.
      #expect(sent.count <= 1, note)
      if !words.of("frozen").isEmpty, words.of("dropping").isEmpty { #expect(sent.count == 1, note) }
      if !words.of("dropped").isEmpty { #expect(sent.isEmpty, note) }
      return words
    }
  }

  /// Sends what is there, collects it, and looks whether something is left over.
  private func sendAll(_ folder: String, _ note: Comment) throws {
    let cache = try Cache(path: folder)
    defer { cache.close() }
    for _ in 0..<6000 {
      let items = try cache.outbox.list()
      if items.allSatisfy({ $0.state == .done || $0.state == .dead }) { break }
      usleep(2000)
    }
    for item in try cache.outbox.list() {
      #expect(item.state == .done, "\(item), \(note)")
      _ = try cache.outbox.collect(item.id)
    }
    #expect(cache.outbox.damage.isEmpty, note)
    // A cache that opens the directory sweeps it up, by and by.
    var left: [String] = []
    for _ in 0..<6000 {
      left = names(in: folder + "/outbox").filter { $0 != "log" && $0 != "lock" }
      if left.isEmpty { break }
      usleep(2000)
    }
    #expect(left.isEmpty, "\(left), \(note)")
  }

  // MARK: Sending

  @Test(
    "after a kill while sending only a request without a recorded answer is sent once more",
    .enabled(if: !isSanitized), arguments: [20, 70_000])
  func sending(_ length: Int) throws {
    var resent = 0
    try each { number in
      let folder = try Bench.makeFolder()
      let server = try TestServer.start()
      defer {
        server.stop()
        removeTree(folder)
      }
      let note: Comment = "call \(number)"
      server.on("/row", .ok("thanks"))
      server.goDown()
      let body = Array(String(repeating: "y", count: length).utf8)
      let frozen = try freeze(folder, server.url("/row"), body)
      try server.goUp()
      let words = try run(number, ["collect", folder])
      guard words.status != 5 else { return words }
      #expect(words.of("fault").isEmpty, note)
      let state = try state(folder, frozen.id)
      // A reported collection has happened.
      if !words.of("collected").isEmpty { #expect(state == nil, note) }
      if let state, state != .done { #expect(state == .waiting, note) }
      try sendAll(folder, note)
      let sent = server.requests.filter { $0.outcome != .clientLeft }
      #expect(sent.allSatisfy { $0.body == body && $0.headers["Idempotency-Key"] == frozen.key }, note)
      if state == nil || state == .done {
        #expect(sent.count == 1, "\(String(describing: state)), \(note)")
      } else {
        #expect(1...2 ~= sent.count, "\(String(describing: state)), \(note)")
      }
      if sent.count == 2 { resent += 1 }
      return words
    }
    // A kill between the answer and its record, where there was one.
    if resent == 0, everyCall { Issue.record("none was sent again") }
  }

  private func freeze(_ folder: String, _ url: String, _ body: [UInt8]) throws -> (id: UInt64, key: String?) {
    var options = Options()
    options.outbox = .off
    let cache = try Cache(path: folder, options: options)
    defer { cache.close() }
    var request = Request(url)
    request.method = "POST"
    request.body = body
    request.freezable = true
    request.freezing?.handler = "rows"
    let id = try #require(try cache.submit(request).final(within: 20_000)?.error?.outboxID)
    return (id, try cache.outbox.item(id)?.key)
  }

  /// Returns the state of a request, or nil if it is gone.
  private func state(_ folder: String, _ id: UInt64) throws -> Outbox.State? {
    var options = Options()
    options.outbox = .off
    let cache = try Cache(path: folder, options: options)
    defer { cache.close() }
    return try cache.outbox.item(id)?.state
  }
}
