import Glibc
import NuthatchCore
import SlowDisk
import TestServer
import Testing

/// A folder on a disk that doesn't answer until a test lets it.
final class HeldFolder: Sendable {
  private let path: String

  init(_ path: String) throws {
    let real = try #require(realpath(path, nil))
    self.path = String(cString: real)
    free(real)
    slow_disk_hold(self.path)
  }

  deinit {
    goOn()
    slow_disk_forget(path)
  }

  func waitUntilReached() -> Bool {
    for _ in 0..<60_000 where slow_disk_waiting(path) == 0 { usleep(1000) }
    return slow_disk_waiting(path) > 0
  }

  /// - Parameter error: the number of the error that every call has.
  func goOn(error: Int32 = 0) { slow_disk_release(path, error) }
}

/// One test at a time, because each occupies a writer's thread.
@Suite("Disks that don't answer", .serialized) struct HeldDiskTests {
  @Suite("Downloads to a disk that doesn't answer") struct Downloads {
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

    @Test(
      "a download to a hanging disk holds up no other request, and has bounded memory",
      arguments: [false, true])
    func fresh(isDescriptor: Bool) throws {
      bench.server.on("/a", Script(steps: [.fill(count: Self.count, byte: 7)]))
      let descriptor = open("\(folder)/one", O_WRONLY | O_CREAT, 0o600)
      defer { close(descriptor) }
      let ticket = try submit([isDescriptor ? .descriptor(descriptor) : .file("\(folder)/one")]) {
        $0.progressEvents = true
      }
      try expectOthersGoOn()
      // Bytes that wait for the disk are in memory, so their number has a bound.
      var taken: Int64 = 0
      while let event = try ticket.next(within: 200) { taken = max(taken, event.bytesDone) }
      #expect(taken < Self.count / 2)
      disk.goOn()
      #expect(try ticket.result().status == 200)
      #expect(size("one") == Self.count)
    }

    @Test("saving a stored answer to a hanging disk holds up no other request")
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

    @Test("a data: URL that is cancelled while its disk hangs isn't saved when the disk answers")
    func cancelledLocal() throws {
      func save(_ name: String) throws -> Ticket {
        var request = Request("data:,nut")
        request.saveTo = [.file("\(folder)/\(name)")]
        return try bench.cache.submit(request)
      }
      let ticket = try save("one")
      #expect(disk.waitUntilReached())
      ticket.cancel()
      disk.goOn()
      for _ in 0..<3 { #expect(try save("two").result().status == 200) }
      #expect(names(in: folder) == ["two"] && size("two") == 3)
    }

    @Test("a download fails as soon as its disk fails, even if the server hangs", arguments: [ENOSPC, EIO])
    func failing(number: Int32) throws {
      bench.server.on(
        "/a", Script(headers: ["Content-Length": "10"], steps: [.text("12345"), .wait("gate")]))
      let ticket = try submit([.file("\(folder)/one")])
      try expectOthersGoOn()
      disk.goOn(error: number)
      #expect(try ticket.final(within: 60_000)?.error?.code == (number == ENOSPC ? .noSpace : .io))
      #expect(names(in: folder) == [])
      bench.server.gate("gate").open()
    }

    @Test("a download to a hanging disk ends at its deadline, and leaves its part when the disk answers")
    func deadline() throws {
      bench.server.on(
        "/a",
        Script(
          headers: ["ETag": "\"1\"", "Content-Length": "\(Self.count)"],
          steps: [.fill(count: Self.count, byte: 7)]))
      let ticket = try submit([.file("\(folder)/one")]) { $0.deadline = .milliseconds(5000) }
      try expectOthersGoOn()
      #expect(try ticket.final(within: 60_000)?.error?.code == .timeout)
      #expect(names(in: folder) == [])
      disk.goOn()
      for _ in 0..<60_000 where size(".one.nuthatch-info") == nil { usleep(1000) }
      #expect((size(".one.nuthatch-part") ?? 0) > 0)
    }

    @Test("saving a stored answer to a hanging disk ends at its deadline")
    func storedDeadline() throws {
      bench.server.on(
        "/a", Script(headers: ["Cache-Control": "max-age=60"], steps: [.fill(count: Self.count, byte: 7)]))
      _ = try bench.get("/a")
      let ticket = try submit([.file("\(folder)/one")]) { $0.deadline = .milliseconds(5000) }
      try expectOthersGoOn()
      let error = try #require(try ticket.final(within: 60_000)?.error)
      #expect(error.code == .timeout && error.message.contains("not saved"))
      disk.goOn()
    }

    @Test("a download into a pipe that isn't read ends at its deadline")
    func pipe() throws {
      var ends: [Int32] = [0, 0]
      #expect(Glibc.pipe(&ends) == 0)
      defer { for end in ends { close(end) } }
      bench.server.on(
        "/a", Script(headers: ["Content-Length": "100000"], steps: [.fill(count: 100_000, byte: 7)]))
      let ticket = try submit([.descriptor(ends[1])]) { $0.deadline = .milliseconds(100) }
      #expect(try ticket.final(within: 60_000)?.error?.code == .timeout)
    }

    @Test("a download to a hanging disk leaves its part after a close")
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

  @Suite("Received bodies in a file on a disk that doesn't answer") struct Bodies {
    /// More than all may hold, so that no option has to be changed for every other test of the process.
    private static let large = 70 << 20

    /// Begins to receive more than memory has room for, and waits until the disk has to take it.
    private func receive(_ bench: Bench, _ disk: HeldFolder, _ steps: [Script.Step]) throws -> Ticket {
      bench.server.on(
        "/a", Script(headers: ["Cache-Control": "no-store", "Content-Length": "\(Self.large)"], steps: steps))
      let ticket = try bench.cache.submit(Request(bench.server.url("/a")))
      #expect(disk.waitUntilReached())
      let other = try Bench()
      other.server.on("/b", .ok("other"))
      let answer = try other.cache.submit(Request(other.server.url("/b"))).final(within: 60_000)
      #expect(answer?.response?.text == "other")
      return ticket
    }

    @Test("a body that goes on in a file on a hanging disk holds up no other request")
    func heldDisk() throws {
      let bench = try Bench { $0.maxBytes = 100 << 20 }
      let disk = try HeldFolder(bench.folder)
      let ticket = try receive(bench, disk, [.fill(count: Self.large, byte: 7)])
      disk.goOn()
      let isRight = try ticket.result().withBody { body in
        body.count == Self.large && stride(from: 0, to: body.count, by: 4095).allSatisfy { body[$0] == 7 }
      }
      #expect(isRight && bench.cache.statistics.filed == 1)
    }

    @Test(
      "a body that goes on in a file fails as soon as its disk fails, even if the server hangs",
      arguments: [ENOSPC, EIO])
    func failingDisk(number: Int32) throws {
      let bench = try Bench { $0.maxBytes = 100 << 20 }
      let disk = try HeldFolder(bench.folder)
      let ticket = try receive(bench, disk, [.fill(count: Self.large - 1, byte: 7), .wait("gate")])
      disk.goOn(error: number)
      #expect(try ticket.final(within: 60_000)?.error?.code == (number == ENOSPC ? .noSpace : .io))
      bench.server.gate("gate").open()
    }
  }

  @Suite("Uploads from a disk that doesn't answer") struct Uploads {
    let bench: Bench
    let path: String
    let bytes: [UInt8]
    let disk: HeldFolder

    init() throws {
      bench = try Bench()
      let folder = "\(bench.folder)/sent"
      mkdir(folder, 0o700)
      path = "\(folder)/file"
      bytes = (0..<3 << 20).map { UInt8(truncatingIfNeeded: $0 >> 8 ^ $0) }
      let fd = open(path, O_WRONLY | O_CREAT, 0o600)
      #expect(bytes.withUnsafeBytes { write(fd, $0.baseAddress, $0.count) } == bytes.count)
      close(fd)
      disk = try HeldFolder(folder)
      bench.server.on("/other", Script.ok("other").with("Cache-Control", "no-store"))
      bench.server.on("/to", .ok("thanks"))
    }

    /// Sends the file, waits until the disk hangs, and expects another request to go on.
    private func send(_ change: (inout Request) -> Void = { _ in }) throws -> Ticket {
      var request = Request(bench.server.url("/to"))
      request.method = "POST"
      request.upload = .form([FormPart("a", "b"), FormPart("f", file: path)])
      change(&request)
      let ticket = try bench.cache.submit(request)
      #expect(disk.waitUntilReached())
      let other = try bench.cache.submit(Request(bench.server.url("/other")))
      #expect(try other.final(within: 60_000)?.response?.text == "other")
      return ticket
    }

    @Test(
      "an upload from a hanging disk holds up no other request, and arrives whole", arguments: [false, true])
    func held(isKept: Bool) throws {
      // Over a connection that is there its bytes are wanted at once.
      if isKept { _ = try bench.get("/other") }
      // The silence limit doesn't count the disk's time.
      let ticket = try send { $0.timeout = .milliseconds(5000) }
      // Longer than the timeout.
      usleep(6_000_000)
      disk.goOn()
      #expect(try ticket.result().text == "thanks")
      let body = try #require(bench.server.requests.last { $0.path == "/to" }?.body)
      #expect(body.count > bytes.count && body.dropFirst(body.count - bytes.count - 200).contains(bytes[...]))
    }

    @Test("an upload fails as soon as its disk fails", arguments: [EIO, EACCES])
    func failing(number: Int32) throws {
      let ticket = try send()
      disk.goOn(error: number)
      let error = try #require(try ticket.final(within: 60_000)?.error)
      #expect(error.code == .io && error.message.contains(path))
    }

    @Test(
      "an upload from a hanging disk ends at its deadline, or when it is cancelled", arguments: [false, true])
    func ended(isCancelled: Bool) throws {
      let ticket = try send { if !isCancelled { $0.deadline = .milliseconds(5000) } }
      if isCancelled { ticket.cancel() }
      let event = try #require(try ticket.final(within: 60_000))
      #expect(isCancelled ? event.kind == .cancelled : event.error?.code == .timeout)
      disk.goOn()
    }
  }

  @Suite("Outboxes on a disk that doesn't answer") struct Outbox {
    @Test("watching an outbox on a hanging disk holds up no request")
    func watched() throws {
      let bench = try Bench()
      bench.server.on("/a", .ok("x"))
      let folder = "\(bench.folder)/other"
      mkdir(folder, 0o700)
      mkdir("\(folder)/outbox", 0o700)
      let disk = try HeldFolder("\(folder)/outbox")
      var options = Options()
      options.outbox = .auto
      let cache = try Cache(path: folder, options: options)
      #expect(disk.waitUntilReached())
      let ticket = try bench.cache.submit(Request(bench.server.url("/a")))
      #expect(try ticket.final(within: 60_000)?.response?.text == "x")
      disk.goOn()
      cache.close()
    }
  }
}
