import Glibc
import NuthatchCore
import TestServer
import Testing

@Suite("Answers that are saved to a disk that doesn't answer") struct HeldDownloadTests {
  let bench: Bench
  let folder: String
  let disk: HeldFolder

  init() throws {
    bench = try Bench()
    folder = "\(bench.folder)/saved"
    mkdir(folder, 0o700)
    disk = try HeldFolder(folder)
    bench.server.on("/other", Script.ok("other").with("Cache-Control", "no-store"))
  }

  private static let count = 4 << 20

  private func submit(_ sinks: [Sink], _ change: (inout Request) -> Void = { _ in }) throws -> Ticket {
    var request = Request(bench.server.url("/a"))
    request.saveTo = sinks
    change(&request)
    return try bench.cache.submit(request)
  }

  private func expectOthersGoOn() throws {
    #expect(disk.waitUntilReached())
    let other = try bench.cache.submit(Request(bench.server.url("/other")))
    #expect(try other.final(within: 60_000)?.response?.text == "other")
  }

  private func size(_ name: String) -> Int? {
    var status = stat()
    return stat("\(folder)/\(name)", &status) == 0 ? Int(status.st_size) : nil
  }

  @Test("hold up no other request, and are held up themselves", arguments: [false, true])
  func fresh(isDescriptor: Bool) throws {
    bench.server.on("/a", Script(steps: [.fill(count: Self.count, byte: 7)]))
    let descriptor = open("\(folder)/one", O_WRONLY | O_CREAT, 0o600)
    defer { close(descriptor) }
    let ticket = try submit([isDescriptor ? .descriptor(descriptor) : .file("\(folder)/one")]) {
      $0.reportsProgress = true
    }
    try expectOthersGoOn()
    // What waits is in memory, so that it has a bound.
    var taken: Int64 = 0
    while let event = try ticket.next(within: 200) { taken = max(taken, event.bytesDone) }
    #expect(taken < Self.count / 2)
    disk.goOn()
    #expect(try ticket.result().status == 200)
    #expect(size("one") == Self.count)
  }

  @Test("hold up no other request when they come from the cache")
  func stored() throws {
    bench.server.on(
      "/a", Script(headers: ["Cache-Control": "max-age=60"], steps: [.fill(count: Self.count, byte: 7)]))
    _ = try bench.get("/a")
    let ticket = try submit([.file("\(folder)/one"), .events])
    try expectOthersGoOn()
    disk.goOn()
    var told = 0
    var last: Event?
    while last?.isFinal != true {
      last = try ticket.next(within: 60_000)
      told += last?.data.count ?? 0
    }
    #expect(last?.kind == .cached && told == Self.count)
    #expect(size("one") == Self.count)
  }

  @Test("fail as soon as the disk does, whatever the server does", arguments: [ENOSPC, EIO])
  func failing(number: Int32) throws {
    bench.server.on("/a", Script(headers: ["Content-Length": "10"], steps: [.text("12345"), .wait("gate")]))
    let ticket = try submit([.file("\(folder)/one")])
    try expectOthersGoOn()
    disk.goOn(error: number)
    #expect(try ticket.final(within: 60_000)?.error?.code == (number == ENOSPC ? .noSpace : .io))
    #expect(names(in: folder) == [])
    bench.server.gate("gate").open()
  }

  @Test("end at their deadline, and are gone on with when it answers again")
  func deadline() throws {
    bench.server.on(
      "/a",
      Script(
        headers: ["ETag": "\"1\"", "Content-Length": "\(Self.count)"],
        steps: [.fill(count: Self.count, byte: 7)]))
    let ticket = try submit([.file("\(folder)/one")]) { $0.deadline = .milliseconds(1000) }
    try expectOthersGoOn()
    #expect(try ticket.final(within: 60_000)?.error?.code == .timeout)
    #expect(names(in: folder) == [])
    disk.goOn()
    for _ in 0..<60_000 where size(".one.nuthatch-info") == nil { usleep(1000) }
    #expect((size(".one.nuthatch-part") ?? 0) > 0)
  }

  @Test("are gone on with after a close, too")
  func closed() throws {
    bench.server.on(
      "/a",
      Script(headers: ["ETag": "\"1\"", "Content-Length": "10"], steps: [.text("12345"), .wait("gate")]))
    let ticket = try submit([.file("\(folder)/one")])
    try expectOthersGoOn()
    // A close may have to wait for the disk.
    ticket.whenFinal { [disk] _ in disk.goOn() }
    bench.cache.close()
    for _ in 0..<60_000 where size(".one.nuthatch-info") == nil { usleep(1000) }
    #expect(size(".one.nuthatch-part") == 5)
    bench.server.gate("gate").open()
  }
}
