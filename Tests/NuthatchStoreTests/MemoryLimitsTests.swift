import Foundation
import Testing

@testable import NuthatchStore

@Suite("The default memory limit") struct MemoryLimitsTests {
  private static let mount = "35 24 0:30 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw\n"

  private func standard(kibibytes: Int?, cgroup: String = "0::/\n", _ files: [String: String] = [:]) throws
    -> Int
  {
    let machine = try Machine()
    if let kibibytes { try machine.put("proc/meminfo", "MemTotal: \(kibibytes) kB\nMemAvailable: 1 kB\n") }
    try machine.put("proc/self/cgroup", cgroup)
    try machine.put("proc/self/mountinfo", Self.mount)
    for (name, text) in files { try machine.put("sys/fs/cgroup/" + name, text + "\n") }
    return withExtendedLifetime(machine) { MemoryLimits.standard(MemoryGauge(machine.path)) }
  }

  @Test("the default memory limit is an eighth of the machine's memory, at most 64 MiB")
  func machine() throws {
    #expect(try standard(kibibytes: 80 << 10) == 10 << 20)
    #expect(try standard(kibibytes: 512 << 10) == 64 << 20)
    #expect(try standard(kibibytes: (512 << 10) - 8) == (64 << 20) - 1024)
    #expect(try standard(kibibytes: 128 << 20) == 64 << 20)
    // If the machine's memory is unknown or absurd, the limit is 64 MiB.
    #expect(try standard(kibibytes: nil) == 64 << 20)
    #expect(try standard(kibibytes: .max) == 64 << 20)
    #expect(try standard(kibibytes: nil, ["memory.max": "8000000"]) == 1_000_000)
  }

  @Test("the default memory limit is an eighth of the smallest cgroup limit on the way to the root")
  func groups() throws {
    let own = "0::/a/b/c\n"
    #expect(try standard(kibibytes: 16 << 20, cgroup: own, ["a/b/c/memory.max": "80000000"]) == 10_000_000)
    #expect(
      try standard(
        kibibytes: 16 << 20, cgroup: own,
        [
          "a/b/c/memory.max": "max", "a/b/memory.max": "160000000", "a/memory.max": "80000000",
          "memory.max": "max",
        ])
        == 10_000_000)
    #expect(
      try standard(kibibytes: 16 << 20, cgroup: own, ["a/b/c/memory.max": "80000000", "a/memory.max": "800"])
        == 100)
    // The limit of a group that this process isn't in.
    #expect(try standard(kibibytes: 80 << 10, cgroup: own, ["a/d/memory.max": "8000"]) == 10 << 20)
    // More than the machine has.
    #expect(try standard(kibibytes: 80 << 10, cgroup: own, ["a/b/c/memory.max": "999999999999"]) == 10 << 20)
    for text in ["max", "-1", "0x1000", "1e9", "", "18446744073709551615", "9223372036854771712"] {
      #expect(
        try standard(kibibytes: 80 << 10, cgroup: own, ["a/b/c/memory.max": text]) == 10 << 20, "\(text)")
    }
  }

  @Test("a store without a memory limit has the default, and an entry may take an eighth of it")
  func store() throws {
    let folder = try Folder()
    let store = try Store.open(folder.path)
    let limit = try store.statistics().memory.limit
    #expect(limit == MemoryLimits.standard(MemoryGauge()))
    let thing = MemoryTierTests.Thing(1)
    func keep(_ cost: Int) throws -> Bool {
      try store.keep(
        RecordKey(.thumb, "k"), thing, bytes: UnsafeRawBufferPointer(start: nil, count: 0), cost: cost)
    }
    #expect(try keep(limit / 8 - 1000))
    #expect(try !keep(limit / 8))
    #expect(try store.recall(RecordKey(.thumb, "k")) == nil)
    #expect(MemoryLimits(bytes: 8000, items: 1).largest == 1000)
  }
}
