import Glibc
import Testing

@Suite("The public cache test suite") struct ConformanceTests {
  /// Why each case fails that does.
  static let failures: [String: String] = {
    var failures: [String: String] = [:]
    do {
      let runner = try Runner()
      for test in Table.cases { failures[test.id] = try runner.failure(of: test) }
    } catch {
      Issue.record(error)
    }
    return failures
  }()

  @Test("has 137 required and 77 optimal cases for browsers, each once")
  func counted() {
    #expect(Set(Table.cases.map(\.id)).count == Table.cases.count)
    #expect(Set(Table.failing.keys).isSubset(of: Table.cases.map(\.id)))
    let counted = Table.cases.filter(\.isForBrowsers)
    #expect(counted.filter { $0.kind == .required }.count == 137)
    #expect(counted.filter { $0.kind == .optimal }.count == 77)
  }

  @Test("is passed, but for what is known to fail", arguments: Table.groups.map(\.name))
  func verdicts(group: String) {
    for test in Table.groups.filter({ $0.name == group }).flatMap(\.cases) {
      let failure = Self.failures[test.id]
      let isExpected = (failure == nil) == (Table.failing[test.id] == nil)
      #expect(isExpected, "\(test.id): \(failure ?? "passes, though it is listed as failing")")
    }
  }

  @Test("gives all of what is required, and 70 of what is optimal")
  func score() {
    let passing = Table.cases.filter { $0.isForBrowsers && Self.failures[$0.id] == nil }
    #expect(passing.filter { $0.kind == .required }.count == 137)
    #expect(passing.filter { $0.kind == .optimal }.count >= 70)
  }

  /// The section, for docs/HTTP.md, is written to the file that `NUTHATCH_VERDICTS` names.
  @Test("is in docs/HTTP.md as it came out")
  func documented() throws {
    if let path = getenv("NUTHATCH_VERDICTS"), let file = fopen(path, "w") {
      fputs(VerdictPage.text, file)
      fclose(file)
    }
    let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let page = try #require(FileBytes("/\(root)/docs/HTTP.md"))
    let isAsItCameOut = page.contains(VerdictPage.text)
    #expect(isAsItCameOut)
  }
}
