import CSystem
import Foundation
import NuthatchBase
import Testing

@testable import NuthatchStore

/// An event loop whose clock stands still until a test moves it.
private final class FakeHost: PressureHost {
  var now: Int64 = 1_000_000_000_000
  private(set) var watched: [Int32: (events: UInt32, handler: (UInt32) -> Void)] = [:]
  private(set) var timers = TimerQueue()

  func watch(_ descriptor: Int32, _ events: UInt32, _ handler: @escaping (UInt32) -> Void) {
    watched[descriptor] = (events, handler)
  }
  func unwatch(_ descriptor: Int32) { watched[descriptor] = nil }
  func at(_ due: Int64, _ action: @escaping () -> Void) -> LoopTimer { timers.add(due: due, action) }
  func cancelTimer(_ timer: LoopTimer) { timers.cancel(timer) }

  /// Polls all descriptors once and runs the timers that are due.
  func turn(after seconds: Double = 0) {
    now += Int64(seconds * 1e9)
    for (fd, watch) in watched {
      var poll = pollfd(fd: fd, events: Int16(watch.events), revents: 0)
      if Glibc.poll(&poll, 1, 0) > 0 { watch.handler(UInt32(poll.revents)) }
    }
    while let action = timers.popDue(by: now) { action() }
  }
}

private final class FakeSource: PressureSource {
  let origin = PressureOrigin.polling
  let descriptor: (fd: Int32, events: UInt32)? = nil
  let interval: Int64? = 1_000_000_000
  var sign = PressureSign.nothing
  func look(_ events: UInt32) -> PressureSign { sign }
}

/// A pipe: each byte written to it is an event without a grade.
private final class PipeSource: PressureSource {
  let origin = PressureOrigin.kernel
  let descriptor: (fd: Int32, events: UInt32)?
  let interval: Int64? = nil
  private let ends: [Int32]

  init() {
    var ends: [Int32] = [0, 0]
    pipe(&ends)
    // A process that another test starts would keep the pipe open.
    for fd in ends { _ = fcntl(fd, F_SETFD, FD_CLOEXEC) }
    self.ends = ends
    descriptor = (ends[0], UInt32(EPOLLIN.rawValue))
  }

  deinit { close(ends[0]) }

  func tell() { write(ends[1], "x", 1) }
  func end() { close(ends[1]) }

  func look(_ events: UInt32) -> PressureSign {
    var buffer = [UInt8](repeating: 0, count: 16)
    return read(ends[0], &buffer, buffer.count) > 0 ? .pressure(nil) : .gone
  }
}

@Suite("Memory pressure") struct PressureTests {
  let folder: Folder
  init() throws { folder = try Folder() }

  private final class Log: @unchecked Sendable {
    var levels: [MemoryPressure] = []
  }

  private func watch(_ source: any PressureSource, _ host: FakeHost, isShort: Bool = false) -> (
    PressureWatch, Log
  ) {
    let log = Log()
    let watch = PressureWatch(
      sources: [source], isShort: { isShort }, relieve: { level, _ in log.levels.append(level) })
    watch.start(on: host)
    return (watch, log)
  }

  @Test("pressure without a grade is a warning, then critical; for 2 s after each, events are held off")
  func grades() throws {
    let source = PipeSource()
    let host = FakeHost()
    let (watch, log) = watch(source, host)
    host.turn()
    #expect(log.levels.isEmpty)
    source.tell()
    host.turn()
    host.turn()
    #expect(log.levels == [.warning])
    source.tell()
    host.turn(after: 1.9)
    #expect(log.levels == [.warning])
    #expect(watch.heldOff == 1)
    source.tell()
    host.turn(after: 0.2)
    #expect(log.levels == [.warning, .critical])
    source.tell()
    host.turn(after: 11)
    #expect(log.levels == [.warning, .critical, .warning])
    watch.stop()
    #expect(host.watched.isEmpty)
    source.end()
  }

  @Test("a source of memory pressure that has ended is no longer watched")
  func gone() throws {
    let source = PipeSource()
    let host = FakeHost()
    let (watch, log) = watch(source, host)
    source.end()
    // A process that another test starts may have a copy of the end for a moment.
    eventually("it is still watched") {
      host.turn(after: 60)
      return host.watched.isEmpty
    }
    #expect(log.levels.isEmpty)
    withExtendedLifetime(watch) {}
  }

  @Test("memory pressure is watched 2 s after the start, and never if stopped before")
  func startDelay() throws {
    var made = 0
    func sources() -> [any PressureSource] {
      made += 1
      let source = FakeSource()
      source.sign = .pressure(.warning)
      return [source]
    }
    let host = FakeHost()
    let log = Log()
    let watch = PressureWatch(
      sources: sources(), isShort: { false }, relieve: { level, _ in log.levels.append(level) })
    watch.start(on: host, after: PressureWatch.startDelay)
    host.turn(after: 1.9)
    watch.stop()
    host.turn(after: 10)
    #expect(made == 0 && log.levels.isEmpty && host.timers.nextDue == nil)
    watch.start(on: host, after: PressureWatch.startDelay)
    host.turn(after: 2)
    #expect(made == 1 && log.levels.isEmpty)
    host.turn(after: 1)
    #expect(log.levels == [.warning])
    watch.stop()
    #expect(host.timers.nextDue == nil)
  }

  @Test("pressure is critical at once if hardly any memory is left, even within 2 s of a warning")
  func short() throws {
    let host = FakeHost()
    let source = FakeSource()
    let (watch, log) = watch(source, host, isShort: true)
    source.sign = .pressure(.warning)
    host.turn(after: 1)
    source.sign = .pressure(nil)
    host.turn(after: 1)
    host.turn(after: 1)
    #expect(log.levels == [.warning, .critical])
    #expect(watch.heldOff == 1)
    source.sign = .nothing
    host.turn(after: 10)
    #expect(log.levels.count == 2)
    watch.stop()
    #expect(host.timers.nextDue == nil)
  }

  @Test("an event of the kernel is pressure only if its stall totals have grown enough")
  func stall() throws {
    // A plain file in the place of the kernel's.
    let path = folder.path + "/memory.pressure"
    func set(_ some: Int, _ full: Int) throws {
      try
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=\(some)\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=\(full)\n"
        .write(toFile: path, atomically: false, encoding: .utf8)
    }
    try set(1_000_000, 500_000)
    // What arms it overwrites the beginning of a plain file.
    let some = try #require(StallSource(path, .some, stall: 200_000, window: 2_000_000))
    #expect(
      try Data(contentsOf: URL(fileURLWithPath: path)).starts(with: Array("some 200000 2000000".utf8) + [0]))
    try set(1_000_000, 500_000)
    let full = try #require(StallSource(path, .full, stall: 200_000, window: 2_000_000))
    try set(1_000_000, 500_000)
    for source in [some, full] { _ = source.look(UInt32(POLLPRI)) }
    for source in [some, full] { #expect(source.look(UInt32(POLLPRI)) == .nothing) }
    try set(1_300_000, 550_000)
    #expect(some.look(UInt32(POLLPRI)) == .pressure(nil))
    #expect(full.look(UInt32(POLLPRI)) == .nothing)
    try set(1_400_000, 800_000)
    #expect(some.look(UInt32(POLLPRI)) == .nothing)
    #expect(full.look(UInt32(POLLPRI)) == .pressure(.critical))
    #expect(full.look(UInt32(POLLERR)) == .gone)
  }

  @Test("memory pressure of the kernel can be watched on this machine, if it offers that")
  func kernel() throws {
    let path = "/proc/pressure/memory"
    guard access(path, W_OK) == 0, let source = StallSource(path, .some, stall: 200_000, window: 2_000_000)
    else {
      return
    }
    let host = FakeHost()
    let (watch, log) = watch(source, host)
    host.turn()
    #expect(host.watched.count == 1)
    #expect(log.levels.count <= 1)
    watch.stop()
  }

  @Test("a named pressure file that isn't the kernel's is ignored, and /dev/null turns pressure off")
  func standard() throws {
    func origins(_ named: String?) -> [PressureOrigin] {
      PressureWatch.standardSources(folder.path, named: named).map(\.origin)
    }
    #expect(origins("/dev/null") == [])
    #expect(origins("") == [])
    // A file that isn't the kernel's is ignored, and nothing is written to it.
    let (fifo, text) = (folder.path + "/fifo", folder.path + "/text")
    mkfifo(fifo, 0o600)
    let stalls = "some avg10=0.00 total=5\nfull avg10=0.00 total=5\n"
    try stalls.write(toFile: text, atomically: false, encoding: .utf8)
    let pipe = open(fifo, O_RDWR | O_NONBLOCK)
    defer { close(pipe) }
    #expect(write(pipe, "!", 1) == 1)
    for other in [nil, fifo, text, folder.path, folder.path + "/missing", "relative"] {
      #expect(origins(other) == [.polling])
    }
    #expect(try folder.read("text") == Array(stalls.utf8))
    var event: UInt8 = 0
    #expect(read(pipe, &event, 1) == 1 && event == UInt8(ascii: "!"))
    #expect(StallSource(folder.path + "/missing", .some, stall: 1, window: 2) == nil)
    try FileManager.default.createDirectory(
      atPath: folder.path + "/proc/pressure", withIntermediateDirectories: true)
    // What arms it overwrites the beginning of a plain file, and the second source finds the first one's lines gone.
    let lines =
      "full avg10=0.00 total=0\n" + String(repeating: " ", count: 40) + "\nsome avg10=0.00 total=0\n"
    for name in ["proc/pressure/memory", "named"] {
      try (String(repeating: " ", count: 40) + "\n" + lines).write(
        toFile: folder.path + "/" + name, atomically: false, encoding: .utf8)
    }
    #expect(origins(folder.path + "/named") == [.kernel, .kernel])
    // The kernel's own file was armed, not the named one.
    #expect(try folder.read("named").starts(with: [UInt8](repeating: 32, count: 40)))
    #expect(try folder.read("proc/pressure/memory").starts(with: Array("full 200000".utf8)))
  }

  @Test("memory pressure makes every open store give up memory, and each store counts it")
  func stores() throws {
    let others = try Folder()
    let one = try Store.open(folder.path, .init(memoryBytes: 1 << 20, spill: .pressure))
    let two = try Store.open(others.path, .init(memoryBytes: 1 << 20))
    try one.commit(RecordKey(.meta, "k"), content(1, 2000))
    let lease = try two.commit(RecordKey(.thumb, "t"), content(2, 2000))
    try two.keep(RecordKey(.thumb, "t"), lease, bytes: lease)
    let source = PipeSource()
    let watch = PressureWatch(
      sources: [source], isShort: { true },
      // Other tests have stores open at the same time.
      relieve: { level, _ in for store in [one, two] { store.records.relieve(level) } })
    let host = FakeHost()
    watch.start(on: host)
    source.tell()
    host.turn()
    source.end()
    for store in [one, two] {
      let statistics = try store.statistics()
      #expect(statistics.memory.privateBytes == 0 && statistics.memory.items == 0)
      #expect(statistics.pressure == PressureCounts(criticals: 1))
    }
    #expect(try one.bytes(RecordKey(.meta, "k")) == content(1, 2000))
  }

  @Test("polled memory pressure follows the tighter of the machine's and the cgroup's memory")
  func polling() throws {
    func level(available: Int, limit: Int? = nil, used: Int = 0, inactive: Int = 0) throws -> MemoryPressure?
    {
      let root = try Machine()
      try root.put("proc/meminfo", "MemTotal: 1000000 kB\nMemFree: 10 kB\nMemAvailable: \(available) kB\n")
      if let limit {
        try root.put("proc/self/cgroup", "0::/a\n")
        try root.put("proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
        try root.put("sys/fs/cgroup/a/memory.max", "\(limit)\n")
        try root.put("sys/fs/cgroup/a/memory.current", "\(used)\n")
        try root.put("sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_file \(inactive)\n")
      }
      return withExtendedLifetime(root) { MemoryGauge(root.path).level }
    }
    #expect(try level(available: 500_000) == nil)
    #expect(try level(available: 90_000) == .warning)
    #expect(try level(available: 40_000) == .critical)
    #expect(try level(available: 500_000, limit: 1000, used: 500) == nil)
    #expect(try level(available: 500_000, limit: 1000, used: 920) == .warning)
    #expect(try level(available: 500_000, limit: 1000, used: 980) == .critical)
    #expect(try level(available: 500_000, limit: 1000, used: 980, inactive: 500) == nil)
    #expect(try level(available: 500_000, limit: 1000, used: 2000) == .critical)
    #expect(MemoryGauge("/nowhere").level == nil)
    #expect(MemoryGauge("/nowhere").total == nil)
    #expect(MemoryGauge().total ?? 0 > 64 << 20)
  }
}

/// System files of a machine that doesn't exist.
final class Machine {
  let path = NSTemporaryDirectory() + "/nuthatch-machine-" + UUID().uuidString
  init() throws {}
  deinit { try? FileManager.default.removeItem(atPath: path) }
  func put(_ name: String, _ text: String) throws {
    let file = path + "/" + name
    try FileManager.default.createDirectory(
      atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try text.write(toFile: file, atomically: false, encoding: .utf8)
  }
}

@Suite("Control groups that are found through /proc") struct CgroupTests {
  private func machine(_ cgroup: String, _ mountinfo: String, _ files: [String: String]) throws -> Machine {
    let machine = try Machine()
    try machine.put("proc/meminfo", "MemTotal:       8000 kB\nMemAvailable:   4000 kB\n")
    try machine.put("proc/self/cgroup", cgroup)
    try machine.put("proc/self/mountinfo", mountinfo)
    for (name, text) in files { try machine.put(name, text) }
    return machine
  }

  private func total(_ cgroup: String, _ mountinfo: String, _ files: [String: String]) throws -> Int? {
    let machine = try machine(cgroup, mountinfo, files)
    return withExtendedLifetime(machine) { MemoryGauge(machine.path).total }
  }

  private static let two = "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"

  @Test("cgroup v2 limits are searched from the process's own group up to the root")
  func version2() throws {
    let machine = try machine(
      "0::/user.slice/a b.service\n", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n" + Self.two,
      [
        "sys/fs/cgroup/user.slice/a b.service/memory.max": "max\n",
        "sys/fs/cgroup/user.slice/memory.max": "4096000\n",
        "sys/fs/cgroup/user.slice/a b.service/memory.pressure": "",
      ])
    #expect(MemoryGauge(machine.path).total == 4_096_000)
    #expect(
      Cgroups(machine.path).pressureFile == machine.path
        + "/sys/fs/cgroup/user.slice/a b.service/memory.pressure")
    #expect(Cgroups(machine.path).levels.count == 3)
    try machine.put("sys/fs/cgroup/user.slice/a b.service/memory.max", "1000\n")
    #expect(MemoryGauge(machine.path).total == 1000)
    #expect(MemoryLimits.standard(MemoryGauge(machine.path)) == 125)
    try machine.put("sys/fs/cgroup/user.slice/a b.service/memory.max", "0\n")
    #expect(MemoryLimits.standard(MemoryGauge(machine.path)) == 0)
  }

  @Test("a cgroup v1 limit beside v2 counts, except the number that means no limit")
  func version1() throws {
    let machine = try machine(
      "9:name=systemd:/\n4:cpu,memory:/x/y\n0::/\n",
      "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpuset\n"
        + "35 31 0:32 / /sys/fs/cgroup/mem\\040ory rw,relatime - cgroup cgroup rw,cpu,memory\n"
        + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
      [
        "sys/fs/cgroup/mem ory/memory.limit_in_bytes": "9223372036854771712\n",
        "sys/fs/cgroup/mem ory/x/memory.limit_in_bytes": "3000000\n",
        "sys/fs/cgroup/mem ory/x/y/memory.limit_in_bytes": "9223372036854771712\n",
      ])
    #expect(MemoryGauge(machine.path).total == 3_000_000)
    #expect(Cgroups(machine.path).pressureFile == machine.path + "/sys/fs/cgroup/unified/memory.pressure")
  }

  @Test("a container's cgroup limit is found when its own group is mounted as the root")
  func container() throws {
    let mount = "35 24 0:30 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup ro\n"
    let files = ["sys/fs/cgroup/memory.max": "2000000\n", "sys/fs/cgroup/in/memory.max": "1000000\n"]
    #expect(try total("0::/docker/abc/in\n", mount, files) == 1_000_000)
    #expect(try total("0::/docker/abc\n", mount, files) == 2_000_000)
    // Seen from inside of a namespace.
    #expect(try total("0::/../elsewhere\n", Self.two, files) == 2_000_000)
    // A path that isn't below what is mounted: what is mounted counts.
    #expect(try total("0::/docker/other\n", mount, files) == 2_000_000)
  }

  @Test("cgroup files that make no sense set no limit")
  func nonsense() throws {
    for text in ["", "-5\n", "many\n", "99999999999999999999\n", "\n"] {
      #expect(try total("0::/a\n", Self.two, ["sys/fs/cgroup/a/memory.max": text]) == 8000 << 10, "\(text)")
    }
    for cgroup in ["", "0\n", "0:\n", ":::::\n", "0::\n"] {
      #expect(try total(cgroup, "nothing - here\n" + Self.two, [:]) == 8000 << 10)
    }
    #expect(
      try total("0::/a\n", "- cgroup2 x\n35 24 - cgroup2\n", [:]) == 8000 << 10)
  }
}
