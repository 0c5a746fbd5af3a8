import Glibc
import NuthatchCore
import TestServer
import Testing

@Suite("An outbox on a disk that doesn't answer") struct HeldOutboxTests {
  @Test("holds up no request when it is watched")
  func watched() throws {
    let bench = try Bench()
    bench.server.on("/a", .ok("x"))
    let folder = "\(bench.folder)/other"
    mkdir(folder, 0o700)
    mkdir("\(folder)/outbox", 0o700)
    let disk = try HeldFolder("\(folder)/outbox")
    var options = Cache.Options()
    options.outbox = .on
    let cache = try Cache(path: folder, options: options)
    #expect(disk.waitUntilReached())
    let ticket = try bench.cache.submit(Request(bench.server.url("/a")))
    #expect(try ticket.final(within: 60_000)?.response?.text == "x")
    disk.goOn()
    cache.close()
  }
}
