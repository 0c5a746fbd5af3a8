import CSystem
import Glibc
import Synchronization
import TestServer
import Testing

@testable import NuthatchCore
@testable import NuthatchStore

/// Answers that were looked up when a request came, and can't be trusted any more when its turn comes.
@Suite("Answers that were looked up before their turn") struct LookTests {
  private let clock = TestClock()
  private let bench: Bench

  init() throws {
    let clock = clock
    bench = try Bench { $0.clock = clock.wall }
    bench.server.on(
      "/a",
      Script(
        headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""], steps: [.text("x")],
        answersConditions: true))
    #expect(try bench.get("/a").source == .network)
    clock.advance(seconds: 100)
  }

  /// Asks for the current answer, which only the server can confirm.
  private func ask() throws {
    let asked = bench.server.requests.count
    let response = try bench.get("/a") { $0.delivery = .fresh }
    #expect(response.source == .revalidated && response.isInCache && !response.isStale)
    #expect(bench.server.requests.count == asked + 1)
    clock.advance(seconds: 100)
  }

  @Test("a stale answer is revalidated even while reads of another mapped file keep failing")
  func foreign() throws {
    let isOver = Atomic(false)
    let path = bench.folder + "-foreign"
    let fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try #require(fd >= 0)
    unlink(path)
    defer { close(fd) }
    let thread = TestThread {
      while !isOver.load(ordering: .relaxed) {
        var mapping = nhs_mapping()
        ftruncate(fd, 4096)
        guard nhs_map_file(fd, 0, 4096, NHS_MAP_READ, &mapping) == 0 else { continue }
        ftruncate(fd, 0)
        _ = mapping.base.load(as: UInt8.self)
        nhs_unmap_file(&mapping)
      }
    }
    defer {
      isOver.store(true, ordering: .relaxed)
      thread.join()
    }
    for _ in 0..<20 { try ask() }
  }

  @Test("a stale answer is revalidated even if the index was made anew while the request waited")
  func anew() throws {
    bench.server.on("/slow", Script.ok("y").after(.wait("gate")))
    // As many as a host gets at once.
    let slow = try (0..<6).map { try bench.cache.submit(Request(bench.server.url("/slow?\($0)"))) }
    #expect(bench.server.gate("gate").waitUntilReached(6))
    var request = Request(bench.server.url("/a"))
    request.delivery = .fresh
    let ticket = try bench.cache.submit(request)
    unlink(bench.folder + "/index")
    // Another process, as far as files know.
    let other = try Store.open(bench.folder)
    #expect(ticket.state == .queued)
    bench.server.gate("gate").open()
    let response = try ticket.result()
    #expect(response.source == .revalidated && response.isInCache)
    for ticket in slow { #expect(try ticket.result().status == 200) }
    other.close()
  }
}
