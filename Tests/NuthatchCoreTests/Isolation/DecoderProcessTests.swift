import CSystem
import Foundation
import NuthatchImaging
import NuthatchTransport
import Testing

@testable import NuthatchCore

@Suite(
  "The process that decodes",
  .enabled(if: !isThreadSanitized, "that sanitizer starts a thread before the process forks"))
struct DecoderProcessTests {
  @Test("pictures have the same pixels as those decoded here, in all sizes")
  func pixelsAreTheSame() throws {
    let bench = DecoderBench()
    let boxes = [ThumbnailBox(17), ThumbnailBox(8, fit: .cover), ThumbnailBox(64, enlarge: true)]
    for side in [1, 40, 300] {
      let bytes = DecoderBench.picture(1, side: side)
      let here = try bench.decode(bytes, boxes, isolated: false).get()
      let there = try bench.decode(bytes, boxes).get()
      #expect(there.pictures.map(\.bytes) == here.pictures.map(\.bytes))
      #expect(there.pictures.map(\.isOpaque) == here.pictures.map(\.isOpaque))
      #expect(there.report == here.report)
      #expect(there.info == here.info)
    }
  }

  @Test("a fault is the same as here")
  func faultsAreTheSame() throws {
    let bench = DecoderBench()
    let whole = DecoderBench.picture(2)
    var damaged = whole
    damaged[60] ^= 0x55
    for bytes in [Array(whole.dropLast(30)), damaged, Array("<html>".utf8), []] {
      guard case .failure(let here) = bench.decode(bytes, isolated: false),
        case .failure(let there) = bench.decode(bytes)
      else {
        Issue.record("it was decoded")
        continue
      }
      #expect(there == here)
    }
  }

  @Test("the decoder isn't a child: no wait finds it")
  func waitFindsNothing() throws {
    let bench = DecoderBench()
    _ = try bench.decode(DecoderBench.picture(1)).get()
    let id = try #require(bench.guardID)
    var status: Int32 = 0
    for options in [WNOHANG, WNOHANG | Int32(bitPattern: 0x8000_0000), WNOHANG | 0x4000_0000] {
      errno = 0
      #expect(waitpid(id, &status, options) == -1)
      #expect(errno == ECHILD)
    }
  }

  @Test("the decoder has only its own descriptors, no network, and a session of its own")
  func itInheritsNothing() throws {
    let inherited = open("/dev/zero", O_RDONLY)
    defer { close(inherited) }
    let bench = DecoderBench()
    _ = try bench.decode(DecoderBench.picture(1)).get()
    let id = try #require(bench.decoderID)
    let folder = "/proc/\(id)/fd"
    let open = try FileManager.default.contentsOfDirectory(atPath: folder).map {
      try FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
    }
    #expect(open.filter { $0.hasPrefix("socket:") }.count == 2)
    #expect(open.filter { !$0.hasPrefix("socket:") }.allSatisfy { $0 == "/dev/null" }, "\(open)")
    let status = try String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)
    #expect(status.contains("NoNewPrivs:\t1\n"))
    #expect(status.contains("Seccomp:\t2\n"))
    #expect(getsid(id) != getsid(0))
  }

  @Test("a decoder that is killed fails its picture; the next one is decoded by a new decoder")
  func killed() throws {
    let bench = DecoderBench()
    var ends = 0
    // If the decoder is killed before it gets the picture, the next one decodes it.
    for _ in 0..<50 where ends < 3 {
      guard let fault = bench.whileStopped(DecoderBench.picture(5), { kill($0, SIGKILL) }) else { continue }
      ends += 1
      #expect(fault.kind == .decoderFailed(refusedFor: nil))
      #expect(fault.message.contains("killed"))
    }
    #expect(ends == 3)
    // It wasn't the picture's fault.
    #expect(throws: Never.self) { try bench.decode(DecoderBench.picture(5)).get() }
  }

  @Test("a decoder that was killed while it had nothing to do fails no picture")
  func killedWhileIdle() throws {
    let bench = DecoderBench()
    _ = try bench.decode(DecoderBench.picture(1)).get()
    for isGuard in [false, true] {
      let (id, other) = (try #require(bench.decoderID), try #require(bench.guardID))
      kill(isGuard ? other : id, SIGKILL)
      // Each ends with the other one, a moment later.
      waitUntil { kill(id, 0) != 0 && kill(other, 0) != 0 }
      #expect(throws: Never.self) { try bench.decode(DecoderBench.picture(1)).get() }
    }
  }

  @Test(
    "a picture that ends the decoder twice is refused for ten minutes",
    // The address sanitizer makes a status of SIGSEGV.
    arguments: isSanitized ? [SIGSYS, SIGABRT] : [SIGSEGV, SIGSYS, SIGABRT])
  func crashed(signal: Int32) throws {
    let time = Locked<Int64>(0)
    let bench = DecoderBench(refused: RefusedPictures(now: { time.withLock { $0 } }))
    let bad = DecoderBench.picture(6)
    var ends = 0
    // A thread may answer before another one takes the signal.
    for _ in 0..<50 where ends < 2 {
      let fault = bench.whileStopped(bad) {
        kill($0, signal)
        kill($0, SIGCONT)
      }
      guard fault != nil else { continue }
      ends += 1
      #expect(fault?.kind == .decoderFailed(refusedFor: nil))
      #expect(fault?.message.contains("signal \(signal)") == true)
    }
    guard case .failure(let refusal) = bench.decode(bad) else {
      Issue.record("it wasn't refused")
      return
    }
    #expect(refusal.kind == .decoderFailed(refusedFor: 600))
    #expect(throws: Never.self) { try bench.decode(DecoderBench.picture(7)).get() }
    time.withLock { $0 = 600_000_000_001 }
    #expect(throws: Never.self) { try bench.decode(bad).get() }
  }

  @Test("a decoder that hangs is killed after the time limit")
  func hung() throws {
    let bench = DecoderBench(seconds: 6)
    let fault = bench.whileStopped(DecoderBench.picture(8)) { _ in }
    #expect(fault?.kind == .decoderFailed(refusedFor: nil))
    #expect(fault?.message.contains("longer than 6 s") == true)
    #expect(throws: Never.self) { try bench.decode(DecoderBench.picture(9)).get() }
  }

  @Test("if the decoder ends with several pictures, the others are decoded by the next")
  func othersGoOn() throws {
    let bench = DecoderBench(lanes: 4)
    _ = try bench.decode(DecoderBench.picture(1)).get()
    let decoder = try #require(bench.decoderID)
    DecoderBench.stop(decoder)
    let made = Locked(0)
    for number in 0..<4 {
      _ = DetachedThread.start("picture") {
        if case .success = bench.decode(DecoderBench.picture(10 + number)) { made.withLock { $0 += 1 } }
      }
    }
    waitUntil { bench.process.state.withLock { $0.busy } == 4 }
    usleep(300_000)
    kill(decoder, SIGKILL)
    waitUntil { made.withLock { $0 } == 4 }
    #expect(made.withLock { $0 } == 4)
  }

  @Test("a new decoder decodes its first pictures side by side")
  func beginsWithSeveral() throws {
    let svg = Array("<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'/>".utf8)
    for round in 0..<20 {
      let bench = DecoderBench(lanes: 4)
      let ended = Locked(0)
      let failures = Locked<[String]>([])
      for number in 0..<4 {
        _ = DetachedThread.start("picture") {
          let result = bench.decode(number % 2 == 0 ? svg : DecoderBench.picture(round))
          if case .failure(let fault) = result, case .decoderFailed = fault.kind {
            failures.withLock { $0.append(fault.message) }
          }
          ended.withLock { $0 += 1 }
        }
      }
      waitUntil { ended.withLock { $0 } == 4 }
      #expect(ended.withLock { $0 } == 4)
      #expect(failures.withLock { $0 } == [])
    }
  }

  @Test("both processes end with the one that asks")
  func endsWithTheCaller() throws {
    let bench = DecoderBench()
    _ = try bench.decode(DecoderBench.picture(1)).get()
    let ids = [try #require(bench.guardID), try #require(bench.decoderID)]
    // The end of this process would close it.
    let control = try #require(bench.process.state.withLock { $0.running?.process.control })
    shutdown(control, Int32(SHUT_RDWR))
    waitUntil { ids.allSatisfy { kill($0, 0) != 0 } }
    #expect(ids.allSatisfy { kill($0, 0) != 0 })
  }

  @Test("thousands of pictures leave no descriptor open")
  func descriptorsAreClosed() throws {
    let bench = DecoderBench()
    func open() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
    let pictures = (0..<8).map { DecoderBench.picture($0) }
    _ = try bench.decode(pictures[0]).get()
    let lane = try #require(bench.process.state.withLock { $0.running?.process.lanes.0 })
    for number in 0..<3000 { _ = try bench.decode(pictures[number & 7]).get() }
    // Other tests open files, too, so that only a leak shows.
    #expect(try open() < 1000)
    #expect(bench.process.state.withLock { $0.running?.process.lanes.0 } == lane)
    let id = try #require(bench.decoderID)
    #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/fd").count < 12)
  }

  @Test("a program that is missing or isn't a decoder is told by name")
  func missing() {
    for program in [nil, "/nonexistent/nuthatch-decoder", "/bin/true"] {
      guard case .failure(let fault) = DecoderBench(program).decode(DecoderBench.picture(1)) else {
        Issue.record("it was decoded")
        continue
      }
      #expect(fault.kind == .decoderFailed(refusedFor: nil))
      #expect(fault.message.contains("nuthatch-decoder"))
    }
  }
}
