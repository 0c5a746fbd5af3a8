import Glibc
import Testing

@Suite("The public cache test suite") struct ConformanceTests {
  /// The reason of each case that fails.
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

  @Test("the public cache test suite has 137 required and 77 optimal cases for browsers, each once")
  func counted() {
    #expect(Set(Table.cases.map(\.id)).count == Table.cases.count)
    #expect(Set(Table.failing.keys).isSubset(of: Table.cases.map(\.id)))
    let counted = Table.cases.filter(\.isForBrowsers)
    #expect(counted.filter { $0.kind == .required }.count == 137)
    #expect(counted.filter { $0.kind == .optimal }.count == 77)
  }

  @Test(
    "the public cache test suite passes, except for the cases that are known to fail",
    arguments: Table.groups.map(\.name))
  func verdicts(group: String) {
    for test in Table.groups.filter({ $0.name == group }).flatMap(\.cases) {
      let failure = Self.failures[test.id]
      let isExpected = (failure == nil) == (Table.failing[test.id] == nil)
      #expect(isExpected, "\(test.id): \(failure ?? "passes, though it is listed as failing")")
    }
  }

  @Test("all required cases of the public cache test suite pass, and at least 70 optimal ones")
  func score() {
    let passing = Table.cases.filter { $0.isForBrowsers && Self.failures[$0.id] == nil }
    #expect(passing.filter { $0.kind == .required }.count == 137)
    #expect(passing.filter { $0.kind == .optimal }.count >= 70)
  }

  /// The section, for docs/HTTP.md, is written to the file that `NUTHATCH_VERDICTS` names.
  @Test("docs/HTTP.md has the results of the public cache test suite")
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
