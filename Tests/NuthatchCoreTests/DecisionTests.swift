import Glibc
import NuthatchHTTP
import Testing

@testable import NuthatchCore

/// The table of decisions stands in docs/HTTP.md, cell by cell. The file that `NUTHATCH_DECISIONS` names gets the table as
/// the code has it.
@Suite("What a stored answer is good for")
struct DecisionTests {
  private struct Row {
    let name: String
    let finding: Decision.Finding
    var hasFailed = false
  }

  private static let grades: [(Freshness.Grade, String)] = [
    (.fresh, "fresh"), (.staleWhileRevalidate, "stale-while-revalidate"), (.stale, "stale"),
    (.mustValidate, "must be validated"),
  ]

  private static let rows: [Row] =
    [
      Row(name: "nothing", finding: .nothing),
      Row(name: "nothing, and it failed a moment ago", finding: .nothing, hasFailed: true),
      Row(name: "not for this request", finding: .unfit),
      Row(name: "longer than `max_bytes`", finding: .tooLarge),
    ] + grades.map { Row(name: "an answer, \($0.1)", finding: .answer($0.0)) }
    + grades.map { Row(name: "a redirect, \($0.1)", finding: .redirect($0.0)) } + [
      Row(
        name: "undecodable, fresh, and it failed a moment ago", finding: .undecodable(.fresh), hasFailed: true
      ),
      Row(
        name: "undecodable, stale, and it failed a moment ago", finding: .undecodable(.stale), hasFailed: true
      ),
      Row(name: "undecodable, stale", finding: .undecodable(.stale)),
    ]

  private static let columns: [(String, Decision.Wish)] = {
    let ways: [(String, Bool, Bool, [Request.Delivery])] = [
      ("", true, false, [.twice, .first, .fresh]), (", a verdict", true, true, [.first, .fresh]),
      (", no network", false, false, [.twice, .first, .fresh]),
    ]
    return ways.flatMap { name, mayUseNetwork, wantsVerdict, deliveries in
      deliveries.map {
        let wish = Decision.Wish(
          delivery: $0, mayUseNetwork: mayUseNetwork, wantsVerdict: wantsVerdict, hasShown: false)
        return ("`\($0)`\(name)", wish)
      }
    }
  }()

  private static func words(_ decision: Decision) -> String {
    switch decision {
    case .hit: "hit"
    case .hitThenRevalidate: "hit, ask behind"
    case .showThenAsk: "show, then ask"
    case .ask: "ask"
    case .follow(asksBehind: false): "follow"
    case .follow(asksBehind: true): "follow, ask behind"
    case .refuse(.failedBefore): "that failure"
    case .refuse(.offline): "`offline`"
    case .refuse(.tooLarge): "`too_large`"
    }
  }

  private static var table: String {
    var lines = [["stored"] + columns.map(\.0), Array(repeating: "---", count: columns.count + 1)]
    for row in rows {
      lines.append(
        [row.name] + columns.map { words(Decision(row.finding, $0.1, hasFailed: row.hasFailed)) })
    }
    return lines.map { "| \($0.joined(separator: " | ")) |\n" }.joined()
  }

  @Test("is in docs/HTTP.md, cell by cell")
  func page() throws {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let page = try #require(FileBytes("/\(root)/docs/HTTP.md"))
    if let path = getenv("NUTHATCH_DECISIONS"), let file = fopen(path, "w") {
      fputs(Self.table, file)
      fclose(file)
    }
    let isAsTheCodeHasIt = page.contains(Self.table)
    #expect(isAsTheCodeHasIt)
  }

  @Test("What was shown once is not shown again", arguments: [Freshness.Grade.staleWhileRevalidate, .stale])
  func shown(grade: Freshness.Grade) {
    let wish = Decision.Wish(
      delivery: .twice, mayUseNetwork: true, wantsVerdict: false, hasShown: true)
    #expect(Decision(.answer(grade), wish) == .ask)
  }

  @Test("Whether it failed a moment ago is asked only where that decides")
  func lazily() {
    let wish = Decision.Wish(delivery: .fresh, mayUseNetwork: true, wantsVerdict: false, hasShown: false)
    for finding in [
      Decision.Finding.unfit, .tooLarge, .answer(.stale), .redirect(.stale), .undecodable(.fresh),
    ] {
      var isAsked = false
      func hasFailed() -> Bool {
        isAsked = true
        return true
      }
      _ = Decision(finding, wish, hasFailed: hasFailed())
      #expect(!isAsked, "\(finding)")
    }
  }
}
