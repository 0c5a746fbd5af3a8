import Glibc
import TestServer
import Testing

@testable import NuthatchCore

/// Bodies that are being received, and the memory that they may hold together.
@Suite("Memory of received bodies") struct InFlightTests {
  private func fill(_ buffer: ByteBuffer, _ count: Int, from start: Int = 0) -> Int32 {
    let bytes = (start..<start + count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    return bytes.withUnsafeBytes { buffer.append($0) }
  }

  private func isWhole(_ buffer: ByteBuffer, _ count: Int) -> Bool {
    buffer.count == count
      && buffer.contents.enumerated().allSatisfy { $1 == UInt8(truncatingIfNeeded: $0 &* 31) }
  }

  @Test("a body goes on in a file when the memory budget is used up, and gives its share back")
  func file() throws {
    let folder = try Bench.makeFolder()
    defer { removeTree(folder) }
    let inFlight = ReceiveBudget(limit: 10_000)
    do {
      let first = ByteBuffer(inFlight, else: folder)
      #expect(fill(first, 6000) == 0)
      #expect(inFlight.bytes >= 6000)
      let second = ByteBuffer(inFlight, else: folder)
      #expect(fill(second, 3000) == 0)
      #expect(!second.isInFile)
      #expect(fill(second, 3000, from: 3000) == 0)
      #expect(second.isInFile && isWhole(second, 6000))
      #expect(inFlight.bytes <= 9000)
      // Over several growths.
      for part in 1..<500 { #expect(fill(second, 6000, from: part * 6000) == 0) }
      #expect(isWhole(second, 3_000_000))
      second.trim()
      #expect(isWhole(second, 3_000_000))
      #expect(isWhole(first, 6000) && !first.isInFile)
      #expect(names(in: folder).isEmpty)
      first.trim()
      #expect(inFlight.bytes == 6000)
      first.stopCounting()
      #expect(inFlight.bytes == 0)
      #expect(isWhole(first, 6000))
    }
    #expect(inFlight.bytes == 0)
  }

  @Test("a body whose file was truncated is marked as broken, and the process goes on")
  func cutFile() throws {
    let folder = try Bench.makeFolder()
    defer { removeTree(folder) }
    let buffer = ByteBuffer(ReceiveBudget(limit: 10), else: folder)
    #expect(fill(buffer, 2_000_000) == 0)
    let body = SharedBytes(buffer)
    #expect(isWhole(buffer, 2_000_000) && !body.isBroken)
    let files = (3..<1024).filter { (fd: Int32) in
      var path = [UInt8](repeating: 0, count: 4096)
      let length = path.withUnsafeMutableBytes { bytes in
        bytes.baseAddress.map { readlink("/proc/self/fd/\(fd)", $0, bytes.count) } ?? -1
      }
      return length > 0 && String(decoding: path.prefix(length), as: UTF8.self).contains(folder)
    }
    for fd in files { ftruncate(fd, 4096) }
    #expect(!files.isEmpty && !isWhole(buffer, 2_000_000))
    #expect(body.isBroken)
    // Bytes are appended by a system call, which makes the file longer again.
    #expect(fill(buffer, 6000, from: 2_000_000) == 0)
  }

  @Test("a body that finds neither memory nor a file reports the error")
  func noFile() {
    let inFlight = ReceiveBudget(limit: 10)
    let buffer = ByteBuffer(inFlight, else: "/nowhere")
    #expect(fill(buffer, 5) == 0)
    #expect(fill(buffer, 6, from: 5) == ENOENT)
    #expect(isWhole(buffer, 5))
  }

  /// More than all may hold, so that no option has to be changed for every other test of the process.
  private static let large = 70 << 20

  @Test("a body of 70 MiB goes through a file and is stored whole")
  func throughTheCache() throws {
    let bench = try Bench { $0.maxBytes = 100 << 20 }
    bench.server.on(
      "/a", Script(headers: ["Cache-Control": "max-age=60"], steps: [.fill(count: Self.large, byte: 7)]))
    for isInCache in [false, true] {
      let response = try bench.get("/a")
      #expect(response.isInCache == isInCache)
      let isRight = response.withBody { body in
        body.count == Self.large && stride(from: 0, to: body.count, by: 4095).allSatisfy { body[$0] == 7 }
      }
      #expect(isRight)
    }
    #expect(bench.cache.statistics.filed == 1)
    #expect(names(in: bench.folder).allSatisfy { !$0.hasPrefix("inflight") })
  }

  @Test("a transfer fails with `io` if there is neither memory nor a file for its body")
  func noFolder() throws {
    let bench = try Bench { $0.maxBytes = 100 << 20 }
    bench.server.on(
      "/a", Script(steps: [.text("x"), .wait("gate"), .fill(count: Self.large, byte: 7)]))
    let ticket = try bench.cache.submit(Request(bench.server.url("/a")))
    #expect(bench.server.gate("gate").waitUntilReached(1))
    removeTree(bench.folder)
    bench.server.gate("gate").open()
    let error = try #require(try ticket.final()?.error)
    #expect(error.code == .io)
    #expect(error.message.contains("no temporary file for") && error.message.contains(bench.server.url("/a")))
  }
}
