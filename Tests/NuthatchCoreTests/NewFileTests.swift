import Glibc
import Testing

@testable import NuthatchCore

/// Files that get their names when they are complete.
@Suite("New files that appear when complete") final class NewFileTests {
  private let folder: String
  private let target: String
  private var draft: String { "\(folder)/.a.nuthatch-new" }

  init() throws {
    folder = try Bench.makeFolder()
    target = folder + "/a"
  }

  deinit { removeTree(folder) }

  private func replace(_ text: String) throws {
    let file = try NewFile(for: target)
    let isWritten = Array(text.utf8).withUnsafeBytes { NewFile.write($0, to: file.descriptor, at: 0) }
    #expect(isWritten)
    try file.appear()
  }

  @Test("a new file replaces the old one, and the draft that a killed process left is removed")
  func left() throws {
    try replace("1")
    #expect(creat(draft, 0o600) >= 0)
    // A lock ends with its descriptors, as with its process.
    try replace("2")
    #expect(names(in: folder) == ["a"])
    #expect(try #require(FileBytes(target)).contains("2"))
  }

  @Test("a new file leaves alone a draft that another writer holds, and a link in a draft's place")
  func others() throws {
    try replace("1")
    let other = open(draft, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
    try replace("2")
    #expect(names(in: folder) == [".a.nuthatch-new", "a"])
    close(other)
    #expect(unlink(draft) == 0 && symlink("a", draft) == 0)
    try replace("3")
    #expect(names(in: folder) == [".a.nuthatch-new", "a"])
    #expect(try #require(FileBytes(target)).contains("3"))
  }
}
