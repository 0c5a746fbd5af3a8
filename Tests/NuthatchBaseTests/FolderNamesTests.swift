import Glibc
import NuthatchBase
import Testing

@Suite("Names in a folder") struct FolderNamesTests {
  @Test("folderNames returns all names in a folder except . and ..")
  func names() throws {
    var template = Array("/tmp/nuthatch-names-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    #expect(folderNames(folder) == [])
    let names = ["a name that no string holds inside of itself", ".b", "c"]
    for name in names { #expect(mkdir("\(folder)/\(name)", 0o700) == 0) }
    #expect(folderNames(folder).map { Set($0) } == Set(names))
    for name in names { rmdir("\(folder)/\(name)") }
    rmdir(folder)
  }

  @Test("folderNames returns nil if there is no folder")
  func unreadable() {
    #expect(folderNames("/nowhere/at/all") == nil)
    #expect(folderNames("/etc/passwd") == nil)
    #expect(folderNames(in: -1) == nil && errno == EBADF)
  }
}
