import Glibc
import NuthatchBase
import Testing

@Suite("Whole files") struct WholeFileTests {
  @Test("a whole file is read with all its bytes, a long one up to about the limit")
  func content() throws {
    var name = Array("/tmp/nuthatch-whole-XXXXXX".utf8CString)
    let file = mkstemp(&name)
    try #require(file >= 0)
    defer { close(file) }
    unlink(name)
    #expect(WholeFile.content(of: file, atMost: 100) == [])
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7919) }
    #expect(write(file, bytes, bytes.count) == bytes.count)
    lseek(file, 0, SEEK_SET)
    #expect(WholeFile.content(of: file, atMost: .max) == bytes)
    lseek(file, 0, SEEK_SET)
    let part = try #require(WholeFile.content(of: file, atMost: 40_000))
    #expect((40_000..<bytes.count).contains(part.count) && part == Array(bytes.prefix(part.count)))
  }

  @Test("reading a file that can't be read returns nil, and errno says why")
  func unreadable() {
    #expect(WholeFile.content(of: "/nowhere/at/all", atMost: 100) == nil && errno == ENOENT)
    #expect(WholeFile.content(of: "/", atMost: 100) == nil && errno == EISDIR)
  }
}
