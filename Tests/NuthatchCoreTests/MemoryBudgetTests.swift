import Dispatch
import Foundation
import NuthatchImaging
import NuthatchStore
import Testing

@testable import NuthatchCore

@Suite("Memory budgets") struct MemoryBudgetTests {
  private let mib = 1 << 20

  private func budget(_ machine: Int?, _ group: Int?, processors: Int = 2) -> MemoryBudget {
    MemoryBudget(machine: machine.map { $0 << 20 }, group: group.map { $0 << 20 }, processors: processors)
  }

  @Test("a machine without limits has 64 MiB for bodies and 256 MiB for decodes")
  func machines() {
    for large in [budget(16384, nil), budget(nil, nil), budget(16384, 16384), budget(16384, 99999)] {
      #expect(large.group == nil && large.threads == 2)
      #expect(large.inFlight == 64 * mib && large.mostWithoutTurn == 4 * mib)
      #expect(large.decodes == 248 * mib && large.most == 248 * mib)
    }
    let small = budget(512, nil, processors: 4)
    #expect(small.inFlight == 64 * mib && small.decodes == 48 * mib && small.threads == 4)
    #expect(budget(128, nil).decodes == 16 * mib && budget(128, nil).inFlight == 16 * mib)
    #expect(budget(16384, nil, processors: 256).decodes == 16 * mib)
  }

  @Test("a control group's budgets are parts of its limit")
  func groups() {
    let small = budget(16384, 64)
    #expect(small.group == 64 * mib && small.threads == 2)
    #expect(small.inFlight == 8 * mib && small.mostWithoutTurn == 4 * mib && small.decodes == 8 * mib)
    let middle = budget(16384, 128)
    #expect(middle.inFlight == 16 * mib && middle.decodes == 24 * mib)
    // What it was on such a machine before groups counted.
    let large = budget(16384, 2048)
    #expect(large.inFlight == 64 * mib && large.mostWithoutTurn == 4 * mib && large.decodes == 248 * mib)
  }

  @Test("the decoder process has twice the memory of decodes here, and at most half of a control group")
  func decoderProcess() {
    #expect(budget(nil, nil).decoderProcess == 512 * mib && budget(1024, nil).decoderProcess == 256 * mib)
    #expect(budget(16384, nil, processors: 256).decoderProcess == 2080 * mib)
    #expect(budget(16384, 512).decoderProcess == 256 * mib && budget(16384, 4096).decoderProcess == 512 * mib)
    #expect(budget(16384, 32).decoderProcess == 64 * mib)
  }

  @Test(
    "all budgets together leave a quarter of a control group's limit, with any number of processors",
    arguments: [1, 2, 3, 8, 64, 256])
  func shares(processors: Int) {
    for group in [1, 8, 16, 20, 32, 63, 64, 96, 128, 200, 256, 511, 512, 1024, 4096, 8192] {
      let budget = budget(16384, group, processors: processors)
      let limit = group * mib
      #expect(budget.threads >= 1 && budget.threads <= processors)
      #expect(budget.threads <= max(2, group / 16))
      // Beside them is the memory tier, with an eighth at most.
      let shares = budget.inFlight + budget.threads * budget.mostWithoutTurn + budget.decodes + limit / 8
      #expect(shares <= limit / 4 * 3, "\(group) MiB")
      #expect(budget.mostWithoutTurn > 0 && budget.decodes >= budget.mostWithoutTurn, "\(group) MiB")
    }
  }

  private func room(_ group: Int, held: Int, files: Int, promised: Int, processors: Int = 2) throws -> Int {
    let root = try Bench.makeFolder()
    defer { removeTree(root) }
    let texts = [
      "/proc/meminfo": "MemTotal: 16777216 kB",
      "/proc/self/cgroup": "0::/",
      "/proc/self/mountinfo": "35 24 0:30 / /g rw - cgroup2 cgroup2 rw",
      "/g/memory.max": "\(group * mib)",
      "/g/memory.current": "\((held + files) * mib)",
      "/g/memory.stat": "inactive_file \(files * mib / 2)\nactive_file \(files * mib / 2)",
    ]
    for (name, text) in texts {
      let folder = (root + name as NSString).deletingLastPathComponent
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try (text + "\n").write(toFile: root + name, atomically: false, encoding: .utf8)
    }
    let gauge = MemoryGauge(root)
    return MemoryBudget(gauge, processors: processors).roomForOne(gauge, promised: promised * mib)
  }

  @Test("a decode that runs alone may take half of a control group's limit, if so much is free")
  func alone() throws {
    #expect(try room(64, held: 10, files: 40, promised: 8) == 32 * mib)
    #expect(try room(128, held: 10, files: 100, promised: 16) == 64 * mib)
    #expect(try room(8192, held: 100, files: 100, promised: 64) == 248 * mib)
    // What the process holds, bodies may still take, and small decodes take meanwhile: 20 + 8 + 4, and an eighth.
    #expect(try room(64, held: 20, files: 0, promised: 8) == 24 * mib)
    #expect(try room(64, held: 20, files: 0, promised: 0) == 32 * mib)
    // Never less than any decode may have.
    #expect(try room(64, held: 63, files: 0, promised: 8) == 4 * mib)
    let machine = budget(16384, nil)
    #expect(machine.roomForOne(MemoryGauge("/nowhere"), promised: 1 << 40) == machine.decodes)
  }

  @Test("refusals of a decode name the control group's limit")
  func note() {
    var limits = ImageLimits()
    budget(16384, 64).limit(&limits, to: 5 * mib)
    #expect(limits.memory == 5 * mib)
    #expect(limits.groupMemory == 64 * mib)
    budget(16384, nil).limit(&limits, to: 6 * mib)
    #expect(limits.memory == 6 * mib)
  }

  @Test("received bodies have the budget's share unless the program sets a limit")
  func bodies() {
    #expect(ProcessQueue.inFlight == MemoryBudget.own.inFlight)
    #expect(ReceiveBudget(limit: 10).room == 10)
    let inFlight = ReceiveBudget(limit: 10)
    #expect(inFlight.take(7) && inFlight.room == 3)
    inFlight.setLimit(5)
    #expect(inFlight.room == 0)
  }
}

@Suite("Decodes that need much memory") struct LargeDecodeTests {
  /// A pool with a thousand bytes for a decode that runs alone; `asked` runs each time the pool asks for the room.
  private func pool(asked: @escaping @Sendable () -> Void = {}) -> WorkerPool {
    let budget = MemoryBudget(machine: 16 << 30, group: 64 << 20, processors: 2)
    return WorkerPool(budget) {
      asked()
      return 1000
    }
  }

  @Test(
    "a decode is told how much memory it may hold, independent of its need",
    arguments: [10, 1000, 5000, 1 << 40])
  func most(need: Int) {
    let workers = pool()
    let heard = Collected<Int?>()
    #expect(workers.submitDecode(priority: 0, need: need) { heard.add($0) })
    while heard.values.isEmpty { usleep(1000) }
    workers.stop()
    #expect(heard.values == [1000])
  }

  @Test("a large decode waits until it is alone if others leave too little memory")
  func waiting() {
    let asked = Collected<Bool>()
    let workers = pool { asked.add(true) }
    let goOn = DispatchSemaphore(value: 0)
    let order = Collected<String>()
    workers.submitDecode(priority: 0, need: 600) { most in
      order.add("first may hold \(most ?? -1)")
      goOn.wait()
      order.add("first ends")
    }
    while order.values.count < 1 { usleep(1000) }
    workers.submitDecode(priority: 0, need: 400) { order.add("second may hold \($0 ?? -1)") }
    while order.values.count < 2 { usleep(1000) }
    workers.submitDecode(priority: 0, need: 401) { order.add("third may hold \($0 ?? -1)") }
    // It looks twice, with the allocator trimmed in between.
    while asked.values.count < 4 { usleep(1000) }
    goOn.signal()
    while order.values.count < 4 { usleep(1000) }
    workers.stop()
    #expect(
      order.values == [
        "first may hold 1000", "second may hold 400", "first ends", "third may hold 1000",
      ])
  }

  @Test("a large decode that waits is told when the pool stops")
  func stopping() {
    let asked = Collected<Bool>()
    let (look, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let workers = pool {
      asked.add(true)
      if asked.values.count == 2 { look.wait() }
    }
    let heard = Collected<Int?>()
    workers.submitDecode(priority: 0, need: 600) { _ in goOn.wait() }
    while asked.values.count < 1 { usleep(1000) }
    workers.submitDecode(priority: 0, need: 500) { most in
      heard.add(most)
      goOn.signal()
    }
    while asked.values.count < 2 { usleep(1000) }
    Thread.detachNewThread {
      // Until the pool takes no more.
      while workers.submit({}) { usleep(1000) }
      look.signal()
    }
    workers.stop()
    #expect(heard.values == [nil])
  }
}
