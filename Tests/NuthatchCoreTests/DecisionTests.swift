import NuthatchHTTP
import Testing
import nuthatch_decisions

@testable import NuthatchCore

/// The table of decisions stands in docs/HTTP.md, cell by cell; `make header` writes it there.
@Suite("What a stored answer is good for")
struct DecisionTests {
  @Test("is in docs/HTTP.md, cell by cell")
  func page() throws {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let page = try #require(FileBytes("/\(root)/docs/HTTP.md"))
    let isAsTheCodeHasIt = page.contains(DecisionTable.text)
    #expect(isAsTheCodeHasIt)
  }

  @Test("What was shown once is not shown again", arguments: [Freshness.Grade.staleWhileRevalidate, .stale])
  func shown(grade: Freshness.Grade) {
    let wish = Decision.Wish(
      delivery: .twice, hasShown: true)
    #expect(Decision(.answer(grade), wish) == .fetch)
  }

  @Test("Whether it failed a moment ago is asked only where that decides")
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
