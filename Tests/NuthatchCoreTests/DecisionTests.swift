import NuthatchHTTP
import Testing
import nuthatch_decisions

@testable import NuthatchCore

/// The table of decisions stands in docs/HTTP.md, cell by cell; `make header` writes it there.
@Suite("The decision table for stored answers")
struct DecisionTests {
  @Test("the table of decisions in docs/HTTP.md is the code's, cell by cell")
  func page() throws {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let page = try #require(FileBytes("/\(root)/docs/HTTP.md"))
    let isAsTheCodeHasIt = page.contains(DecisionTable.text)
    #expect(isAsTheCodeHasIt)
  }

  @Test(
    "a stale answer that was shown once is not shown again",
    arguments: [Freshness.Grade.staleWhileRevalidate, .stale])
  func shown(grade: Freshness.Grade) {
    let wish = Decision.Wish(
      delivery: .twice, hasShown: true)
    #expect(Decision(.answer(grade), wish) == .fetch)
  }

  @Test("a remembered failure is looked up only where that decides")
  func lazily() {
    let wish = Decision.Wish(delivery: .fresh, hasShown: false)
    for finding in [
      Decision.Finding.unfit, .beyondLimit(.tooLarge, .valid), .unchecked, .answer(.stale), .redirect(.stale),
      .undecodable(.valid),
    ] {
      var isAsked = false
      func remembersFailure() -> Bool {
        isAsked = true
        return true
      }
      _ = Decision(finding, wish, remembersFailure: remembersFailure())
      #expect(!isAsked, "\(finding)")
    }
  }
}
