import Foundation
import Testing

@testable import NuthatchStore

@Suite("Memory limits of control groups") struct GroupRoomTests {
  private static let two = "35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
  private static let one = "35 24 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
  private static let unlimited = "9223372036854771712"

  private func gauge<T>(
    _ cgroup: String, _ mountinfo: String, _ files: [String: String], _ read: (MemoryGauge) -> T
  ) throws -> T {
    let machine = try Machine()
    try machine.put("proc/meminfo", "MemTotal: 8000 kB\nMemAvailable: 4000 kB\n")
    try machine.put("proc/self/cgroup", cgroup)
    try machine.put("proc/self/mountinfo", mountinfo)
    for (name, text) in files { try machine.put("sys/fs/cgroup/" + name, text + "\n") }
    return withExtendedLifetime(machine) { read(MemoryGauge(machine.path)) }
  }

  @Test("a cgroup v2 limit is the smallest `memory.max` or `memory.high` on the way to the root")
  func version2() throws {
    func limit(_ files: [String: String]) throws -> Int? {
      try gauge("0::/a/b\n", Self.two, files) { $0.groupLimit }
    }
    #expect(try limit([:]) == nil)
    #expect(try limit(["a/b/memory.max": "max", "a/b/memory.high": "max", "a/memory.max": "max"]) == nil)
    #expect(try limit(["a/b/memory.max": "5000", "a/memory.max": "4000"]) == 4000)
    #expect(try limit(["a/b/memory.max": "5000", "a/b/memory.high": "3000", "a/memory.max": "4000"]) == 3000)
    #expect(try limit(["a/b/memory.max": "max", "a/memory.high": "2000"]) == 2000)
    #expect(try limit(["memory.max": "1000", "a/b/memory.max": "5000"]) == 1000)
    #expect(try limit(["a/b/memory.max": "garbage", "a/b/memory.high": "-1", "a/memory.max": ""]) == nil)
    // The limit of a group that this process isn't in.
    #expect(try limit(["a/c/memory.max": "1000"]) == nil)
  }

  @Test("a cgroup v1 limit is the smallest on the way to the root, hierarchical_memory_limit included")
  func version1() throws {
    func limit(_ files: [String: String], _ cgroup: String = "4:memory:/a/b\n") throws -> Int? {
      try gauge(cgroup, Self.one, files) { $0.groupLimit }
    }
    let name = "memory.limit_in_bytes"
    #expect(try limit(["memory/a/b/\(name)": Self.unlimited, "memory/a/\(name)": Self.unlimited]) == nil)
    #expect(try limit(["memory/a/b/\(name)": "5000", "memory/a/\(name)": "4000"]) == 4000)
    #expect(try limit(["memory/a/b/\(name)": Self.unlimited, "memory/\(name)": "4000"]) == 4000)
    // In a container the groups above aren't there, and the path may be the host's.
    let inside = [
      "memory/\(name)": Self.unlimited,
      "memory/memory.stat": "cache 5\nhierarchical_memory_limit 3000\nhierarchical_memsw_limit 100",
    ]
    #expect(try limit(inside, "4:memory:/docker/0123\n") == 3000)
    #expect(try limit(inside, "4:memory:/../..\n") == 3000)
    let none = "hierarchical_memory_limit \(Self.unlimited)"
    #expect(try limit(["memory/memory.stat": none], "4:memory:/\n") == nil)
    #expect(try limit(["memory/memory.stat": "hierarchical_memory_limit\n\nx y z\n"], "4:memory:/\n") == nil)
  }

  @Test("with cgroup v1 and v2 mounted the memory limits of both are read")
  func hybrid() throws {
    let mounts = Self.one + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
    let cgroup = "9:name=systemd:/s\n4:memory:/a\n0::/s\n"
    let files = ["memory/a/memory.limit_in_bytes": "4000", "unified/s/cgroup.procs": "1"]
    #expect(try gauge(cgroup, mounts, files) { $0.groupLimit } == 4000)
    let both = files.merging(["unified/s/memory.max": "3000"]) { $1 }
    #expect(try gauge(cgroup, mounts, both) { $0.groupLimit } == 3000)
  }

  @Test("of several cgroup mounts the one counts that shows the process's group and most groups above it")
  func mounts() throws {
    let other = "34 24 0:30 /else /sys/fs/cgroup/else rw - cgroup2 cgroup2 rw\n"
    let part = "36 24 0:30 /a/b /sys/fs/cgroup/part rw - cgroup2 cgroup2 rw\n"
    let whole = "37 24 0:30 / /sys/fs/cgroup/whole rw - cgroup2 cgroup2 rw\n"
    let files = [
      "else/memory.max": "1", "part/memory.max": "5000", "whole/a/b/memory.max": "5000",
      "whole/a/memory.max": "4000",
    ]
    #expect(try gauge("0::/a/b\n", other + part, files) { $0.groupLimit } == 5000)
    #expect(try gauge("0::/a/b\n", other + part + whole, files) { $0.groupLimit } == 4000)
    #expect(try gauge("0::/a/b\n", whole + other + part, files) { $0.groupLimit } == 4000)
    // Seen from a namespace, the mount's own group is above it.
    let above = "35 24 0:30 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
    #expect(try gauge("0::/\n", above, ["memory.max": "7000"]) { $0.groupLimit } == 7000)
    #expect(try gauge("0::/\n", "", ["memory.max": "7000"]) { $0.groupLimit } == nil)
  }

  @Test("the tightest cgroup decides how much room is left, and pages of files count as room")
  func room() throws {
    func room(_ files: [String: String]) throws -> Int? {
      try gauge("0::/a/b\n", Self.two, files) { $0.groupRoom }
    }
    #expect(try room([:]) == nil)
    // The limit alone, without the group's usage.
    #expect(try room(["a/b/memory.max": "5000"]) == nil)
    var files = [
      "a/b/memory.max": "5000", "a/b/memory.current": "4500",
      "a/b/memory.stat": "anon 2\ninactive_file 2000\nactive_file 1500\nshmem 900",
    ]
    #expect(try room(files) == 4000)
    files["a/memory.max"] = "6000"
    files["a/memory.current"] = "5900"
    #expect(try room(files) == 100)
    files["a/memory.stat"] = "inactive_file 99999\nactive_file -5"
    #expect(try room(files) == 4000)
    files["a/b/memory.current"] = "99999"
    #expect(try room(files) == 0)
    let older = [
      "memory/a/memory.limit_in_bytes": "5000", "memory/a/memory.usage_in_bytes": "4000",
      "memory/a/memory.stat": "inactive_file 1\ntotal_inactive_file 1000\ntotal_active_file 500",
    ]
    #expect(try gauge("4:memory:/a\n", Self.one, older) { $0.groupRoom } == 2500)
  }
}
