import NuthatchCore
import NuthatchHTTP

/// What stored answers are good for (`Decision`), as the code has it.
package enum DecisionTable {
  private struct Row {
    let name: String
    let finding: Decision.Finding
    var remembersFailure = false
  }

  private static let grades: [(Freshness.Grade, String)] = [
    (.valid, "fresh"), (.staleWhileRevalidate, "stale-while-revalidate"), (.stale, "stale"),
    (.mustValidate, "must be validated"),
  ]

  private static let rows: [Row] =
    [
      Row(name: "nothing", finding: .nothing),
      Row(name: "nothing, and it failed a moment ago", finding: .nothing, remembersFailure: true),
      Row(name: "not for this request", finding: .unfit),
      Row(name: "long, and not read in this session", finding: .unchecked),
    ] + grades.map { Row(name: "an answer, \($0.1)", finding: .answer($0.0)) }
    + grades.map { Row(name: "a redirect, \($0.1)", finding: .redirect($0.0)) } + [
      Row(
        name: "undecodable, fresh, and it failed a moment ago", finding: .undecodable(.valid),
        remembersFailure: true
      ),
      Row(
        name: "undecodable, stale, and it failed a moment ago", finding: .undecodable(.stale),
        remembersFailure: true
      ),
      Row(name: "undecodable, stale", finding: .undecodable(.stale)),
      Row(name: "longer than `max_bytes`, fresh", finding: .beyondLimit(.tooLarge, .valid)),
      Row(name: "a picture of more than `max_pixels`, fresh", finding: .beyondLimit(.tooManyPixels, .valid)),
      Row(name: "longer, or of more pixels, stale", finding: .beyondLimit(.tooLarge, .stale)),
      Row(
        name: "longer, or of more pixels, stale, and it failed a moment ago",
        finding: .beyondLimit(.tooManyPixels, .stale), remembersFailure: true),
    ]

  private static let columns: [(String, Decision.Wish)] = {
    let ways: [(String, Bool, Bool, [Delivery])] = [
      ("", true, false, [.twice, .first, .fresh]),
      (", a verdict or saved", true, true, [.twice, .first, .fresh]),
      (", no network", false, false, [.twice, .first, .fresh]),
    ]
    return ways.flatMap { name, mayUseNetwork, fetchesItself, deliveries in
      deliveries.map {
        let wish = Decision.Wish(
          delivery: $0, mayUseNetwork: mayUseNetwork, fetchesItself: fetchesItself, hasShown: false)
        return ("`\($0)`\(name)", wish)
      }
    }
  }()

  private static func words(_ decision: Decision, _ wish: Decision.Wish) -> String {
    switch decision {
    case .hit: "hit"
    case .hitAndRevalidate: "hit, revalidate behind"
    case .showThenFetch: wish.mayUseNetwork ? "show, then fetch" : "show, then `offline`"
    case .fetch: "fetch"
    case .follow(revalidates: false): "follow"
    case .follow(revalidates: true): "follow, revalidate behind"
    case .checkFirst: "check first"
    case .refuse(.failedBefore): "that failure"
    case .refuse(let refusal): "`\(refusal.rawValue)`"
    }
  }

  /// In the form of docs/HTTP.md.
  package static var text: String {
    var lines = [["stored"] + columns.map(\.0), Array(repeating: "---", count: columns.count + 1)]
    for row in rows {
      lines.append(
        [row.name]
          + columns.map { words(Decision(row.finding, $0.1, remembersFailure: row.remembersFailure), $0.1) })
    }
    return lines.map { "| \($0.joined(separator: " | ")) |\n" }.joined()
  }
}
