import CSystem
import Foundation
import Testing

@testable import NuthatchStore

/// A process that a test kills, and what it printed until it ended.
final class Victim {
  let process = Process()
  let pipe = Pipe()

  static let tracer = "/usr/bin/strace"

  /// - Parameter tracing: what the tracer is told, if it is to run under one.
  /// - Parameter forks: whether it forks while other threads of it are at work.
  /// - Parameter isPlain: without the handlers of signals that Swift and the sanitizers have, which report crashes.
  init(_ arguments: [String], tracing: [String]? = nil, forks: Bool = false, isPlain: Bool = false) throws {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let program = URL(fileURLWithPath: tests).deletingLastPathComponent()
      .appendingPathComponent("nuthatch-storecrash")
    process.executableURL = tracing == nil ? program : URL(fileURLWithPath: Self.tracer)
    process.arguments = (tracing.map { $0 + [program.path] } ?? []) + arguments
    process.standardOutput = pipe
    if forks {
      // What the address sanitizer keeps of freed memory has a lock that it doesn't see to at a fork: a child waited for a thread
      // that it hasn't got.
      var environment = ProcessInfo.processInfo.environment
      environment["ASAN_OPTIONS", default: ""] += ":quarantine_size_mb=0:thread_local_quarantine_size_kb=0"
      process.environment = environment
    }
    if isPlain {
      var environment = ProcessInfo.processInfo.environment
      environment["SWIFT_BACKTRACE"] = "enable=no"
      for name in ["ASAN_OPTIONS", "TSAN_OPTIONS"] { environment[name, default: ""] += ":handle_sigbus=0" }
      process.environment = environment
    }
    try process.run()
  }

  func kill() -> [Substring] {
    Glibc.kill(process.processIdentifier, SIGKILL)
    return end()
  }

  /// What it said, when it has ended.
  func end() -> [Substring] {
    let said = (try? pipe.fileHandleForReading.readToEnd()) ?? Data()
    process.waitUntilExit()
    return String(decoding: said, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: true)
  }
}

@Suite("Processes killed at random moments", .serialized) struct CrashTests {
  private static func key(_ number: UInt64) -> RecordKey {
    RecordKey(RecordKind.allCases[Int(number % 3)], "key \(number)")
  }

  @Test(
    "processes killed by SIGKILL leave whole records, and all that they reported as kept",
    arguments: [256 << 20, 4 << 20])
  func killed(_ limit: Int) throws {
    let folder = try Folder()
    let seed = newSeed()
    var dice = Dice(seed)
    try Store.open(folder.path, .init(diskBytes: limit)).close()
    var kept: [UInt64: UInt64] = [:]
    for round in 1...crashRounds(12) {
      let note: Comment = "seed \(seed), round \(round)"
      let victims = try (0..<3).map { try Victim(["write", folder.path, "\($0)", "\(round)"]) }
      usleep(UInt32.random(in: 20_000..<150_000, using: &dice))
      for victim in victims.shuffled(using: &dice) {
        for line in victim.kill() {
          let words = line.split(separator: " ").compactMap { UInt64($0) }
          // The last line may be cut.
          if words.count == 2 {
            kept[words[0]] = max(kept[words[0]] ?? 0, words[1])
          } else {
            #expect(words.count == 1, "\(note): \(line)")
          }
        }
        #expect(victim.process.terminationReason == .uncaughtSignal, note)
        #expect(victim.process.terminationStatus == SIGKILL, note)
      }
      if round % 4 == 0 { try folder.remove("index") }
      let begin = ContinuousClock.now
      let store = try Store.open(folder.path)
      #expect(ContinuousClock.now - begin < .seconds(60), note)
      if limit > 64 << 20 {
        for (number, version) in kept {
          let found = try store.lookup(Self.key(number))?.withBytes {
            $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
          }
          #expect(found ?? 0 >= version, "\(note), key \(number)")
        }
      }
      // SIGKILL may end a writer in the middle of a record that it hasn't reported. The first verify finds and retires it.
      #expect(try store.verify().damaged <= victims.count, note)
      #expect(try store.verify().damaged == 0, note)
      #expect(folder.files().allSatisfy { !$0.hasSuffix(".tmp") }, note)
      #expect(folder.allocated <= limit + 6 * store.disk.current.limits.packCapacity, note)
      store.close()
    }
  }

  @Test("room that killed processes reserved for packs is freed while another process goes on")
  func reserved() throws {
    let folder = try Folder()
    let store = try Store.open(folder.path, .init(diskBytes: 256 << 20))
    try store.commit(RecordKey(.meta, "mine"), [1])
    let victims = try (0..<4).map { try Victim(["write", folder.path, "\($0)", "1"]) }
    // Until each has its two packs.
    while folder.files().count < 9 { usleep(10_000) }
    // Else those that still run would give back what the killed ones had reserved.
    for victim in victims { kill(victim.process.processIdentifier, SIGSTOP) }
    for victim in victims { _ = victim.kill() }
    let capacity = store.disk.current.limits.packCapacity
    #expect(folder.allocated > 6 * capacity)
    for number in 0..<100 { try store.commit(RecordKey(.meta, "\(number)"), content(1, 100_000)) }
    let used = try store.statistics().diskBytes
    #expect(folder.allocated <= used + 2 * capacity + (2 << 20))
    #expect(try store.bytes(RecordKey(.meta, "mine")) == [1])
  }

  @Test("a killed process's locks are free even if its forked child lives")
  func forked() throws {
    let folder = try Folder()
    let victim = try Victim(["fork", folder.path])
    var said = ""
    while !said.contains("\n") {
      let more = victim.pipe.fileHandleForReading.availableData
      if more.isEmpty { break }
      said += String(decoding: more, as: UTF8.self)
    }
    let child = try #require(
      Int32(said.split(separator: " ").last?.trimmingCharacters(in: .newlines) ?? ""), "\(said)")
    Glibc.kill(victim.process.processIdentifier, SIGKILL)
    // Foundation sees the end of a process only when its children have ended too.
    defer {
      Glibc.kill(child, SIGKILL)
      victim.process.waitUntilExit()
    }
    while try String(contentsOfFile: "/proc/\(victim.process.processIdentifier)/stat", encoding: .utf8)
      .contains(") Z") == false
    { usleep(1000) }
    // The child lives for a minute and was never told anything; yet every lock can be had at once.
    for name in ["locks"] + folder.files().map({ "packs/" + $0 }) {
      let fd = Glibc.open(folder.path + "/" + name, O_RDWR | O_CLOEXEC)
      defer { close(fd) }
      for byte: Int64 in 0..<3 where name == "locks" || byte == 0 {
        #expect(nhs_lock_byte(fd, byte, CChar(UInt8(ascii: "w")), 0) == 0, "\(name), byte \(byte)")
        // A process that another test starts may have a copy of the descriptor for a moment, and with it the lock.
        _ = nhs_lock_byte(fd, byte, CChar(UInt8(ascii: "u")), 0)
      }
    }
    let begin = ContinuousClock.now
    let store = try Store.open(folder.path)
    try store.commit(RecordKey(.meta, "mine"), [1])
    // What remains is looking through what the killed one left, which takes as long as the machine likes.
    #expect(ContinuousClock.now - begin < .seconds(30))
    // Into the pack that the killed one appended to: its lock is free, though its child lives.
    #expect(folder.files().count == 3)
    #expect(try store.lookup(Self.key(0)) != nil)
    #expect(try store.lookup(Self.key(3)) != nil)
    #expect(try store.lookup(Self.key(6)) != nil)
    #expect(try store.verify().isClean)
  }
}
