import Glibc
import TestServer
import Testing

@testable import NuthatchCore

/// Random requests, cancellations, removals, questions, closes and faults, all at once: each ticket has one end, each answer
/// is right, and nothing is left over.
///
/// `NUTHATCH_SOAK_SECONDS` has it go on for longer, `NUTHATCH_SOAK_SEED` begins with the numbers of another run.
@Suite("Soak of a cache") struct SoakTests {
  private static func number(_ name: String) -> UInt64? {
    getenv(name).flatMap { UInt64(String(cString: $0)) }
  }

  private static var residentBytes: Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    guard fgets(&line, 256, file) != nil else { return 0 }
    let words = line.prefix { $0 != 0 }.split(separator: 32)
    return words.count > 1 ? (Int(String(decoding: words[1].map(UInt8.init), as: UTF8.self)) ?? 0) * 4096 : 0
  }

  @Test("under random use every ticket has one end, every answer is right, and no fetch is left over")
  func soak() throws {
    let seconds = Self.number("NUTHATCH_SOAK_SECONDS")
    let seed = Self.number("NUTHATCH_SOAK_SEED") ?? UInt64.random(in: 0...UInt64(UInt32.max))
    let clock = TestClock()
    let server = try SoakServer(seed: seed)
    let folder = try Bench.makeFolder()
    defer { removeTree(folder) }
    var options = TestOptions()
    options.clock = clock.wall
    options.thumbStore = .lossless
    options.diskBytes = 16 << 20
    options.memoryBytes = 4 << 20
    options.retryPolicy.base = 5_000_000
    let whole = try SoakTarget(folder + "/whole", options)
    options.keepSource = false
    let thumbs = try SoakTarget(folder + "/thumbs", options)
    defer {
      whole.cache.close()
      thumbs.cache.close()
      server.server.stop()
    }
    let references = try SoakReferences(server, whole.cache)

    var requests = 0
    var answers = 0
    var resident: [Int] = []
    let begin = time(nil)
    var round: UInt64 = 0
    repeat {
      round += 1
      let first = seed &+ round * 4
      let clients = (0..<4).map {
        SoakClient(server, [whole, thumbs], references, clock, seed: first &+ $0)
      }
      onThreads(clients.count) { clients[$0].run(seconds == nil ? 40 : 100) }
      for client in clients {
        requests += client.requests
        answers += client.answers
        for complaint in client.complaints { Issue.record("seed \(seed), round \(round): \(complaint)") }
      }
      for target in [whole, thumbs] {
        #expect(try target.cache.waitUntilIdle(within: 90_000), "seed \(seed)")
        #expect(target.cache.activity == 0, "seed \(seed)")
      }
      // What grows from here on is the cache's.
      server.server.clearLog()
      resident.append(Self.residentBytes)
    } while time(nil) - begin < Int(seconds ?? 0) || round < 2
    #expect(answers > requests / 4)

    for target in [whole, thumbs] {
      let shared = target.cache.shared
      let isEmpty = eventually { shared.isIdle }
      #expect(isEmpty, "seed \(seed)")
    }
    guard seconds != nil else { return }
    let runtime = whole.cache.shared.runtime
    #expect(eventually { runtime.inFlight.bytes == 0 && runtime.queue.activity == 0 }, "seed \(seed)")
    print(
      "soaked: \(round) rounds, \(requests) requests, \(answers) answers; MB resident after each: "
        + resident.map { String($0 >> 20) }.joined(separator: " "))
    print(whole.cache.statistics, thumbs.cache.statistics)
  }

  private func eventually(_ holds: () -> Bool) -> Bool {
    for _ in 0..<3000 {
      if holds() { return true }
      usleep(10_000)
    }
    return false
  }
}

extension SharedCache {
  /// Whether nothing of any fetch is left.
  fileprivate var isIdle: Bool {
    let seen = Collected<Bool>()
    runtime.loop.post { seen.add(self.fetches.joinable.isEmpty && self.decodes.underWay.isEmpty) }
    while seen.values.isEmpty { usleep(1000) }
    return seen.values == [true]
  }
}
