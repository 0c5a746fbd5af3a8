import Foundation
import Testing

@testable import NuthatchStore

/// A process that is killed at the Nth system call of a kind, anywhere between its first commit and its last close:
/// also while it seals, drops, moves, spills, trims, and puts another index in its index's place.
@Suite("Processes killed at a system call", .serialized) struct KillTests {
  private static let calls = [
    "openat", "close", "fcntl", "fallocate", "ftruncate", "lseek", "mmap", "munmap", "pread64", "pwrite64",
    "pwritev", "renameat2", "unlinkat",
  ]

  private static func key(_ number: UInt64) -> RecordKey {
    RecordKey(RecordKind.allCases[Int(number % 3)], "key \(number)")
  }

  /// Returns how often the process makes each call if it isn't killed.
  private func counted(_ folder: Folder) throws -> [String: Int] {
    let log = folder.path + "/calls"
    let victim = try Victim(
      ["script", folder.path + "/store"],
      tracing: ["-qq", "-o", log, "-e", "trace=" + Self.calls.joined(separator: ",")])
    #expect(victim.end().last == "end")
    #expect(victim.process.terminationStatus == 0)
    var counts: [String: Int] = [:]
    for line in try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n") {
      counts[String(line.prefix { $0 != "(" }), default: 0] += 1
    }
    return counts.filter { Self.calls.contains($0.key) }
  }

  @Test(
    "a process killed at any system call leaves the records that it reported, and an intact store",
    .enabled(if: FileManager.default.isExecutableFile(atPath: Victim.tracer)))
  func killed() throws {
    let seed = newSeed()
    var dice = Dice(seed)
    let counts = try counted(try Folder())
    #expect(counts.count > Self.calls.count / 2)
    for round in 1...crashRounds(30) {
      let call = try #require(counts.keys.sorted().randomElement(using: &dice))
      let number = Int.random(in: 1...(counts[call] ?? 1), using: &dice)
      let note: Comment = "seed \(seed), round \(round): \(call) \(number)"
      let folder = try Folder()
      let path = folder.path + "/store"
      let victim = try Victim(
        ["script", path],
        tracing: [
          "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e", "inject=\(call):signal=KILL:when=\(number)",
        ])
      let said = victim.end()
      #expect(!said.contains { $0.hasPrefix("wrong") || $0.hasPrefix("fault") }, note)
      if round % 3 == 0, FileManager.default.fileExists(atPath: path + "/index") {
        try folder.remove("store/index")
      }
      try check(path, said, note)
    }
  }

  private func check(_ path: String, _ said: [Substring], _ note: Comment) throws {
    var promised: [UInt64: UInt64] = [:]
    for line in said {
      if line == "grown" || line == "trimming" { promised = [:] }
      let words = line.split(separator: " ").compactMap { UInt64($0) }
      if words.count == 2 { promised[words[0]] = words[1] }
    }
    let store = try Store.open(path)
    for (key, version) in promised {
      let found = try store.lookup(Self.key(key))?.withBytes {
        $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
      }
      if version == 0 {
        #expect(found == nil, "\(note), key \(key)")
      } else if key % 10 != 0 || key >= 3000 {
        // The others may have been removed without a word.
        #expect(found ?? 0 >= version, "\(note), key \(key)")
      }
    }
    #expect(try store.verify().damaged <= 1, note)
    let report = try store.verify()
    #expect(report.damaged == 0 && report.recovered == 0 && report.unreadable == 0, note)
    let statistics = try store.statistics()
    #expect(report.intact == statistics.meta + statistics.bodies + statistics.thumbs, note)
    let names = try FileManager.default.contentsOfDirectory(atPath: path + "/packs")
    #expect(names.allSatisfy { !$0.hasSuffix(".tmp") }, note)
    #expect(names.count == statistics.packs, note)
    try store.commit(Self.key(1), content(1, 5000))
    #expect(try store.bytes(Self.key(1)) == content(1, 5000), note)
    store.close()
  }
}
