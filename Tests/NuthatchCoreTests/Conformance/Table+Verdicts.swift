// Which cases fail, and why; and what isn't asked of a private cache.

extension Table {
  /// Why the cases fail that do. What isn't here passes.
  static let failing: [String: String] = [
    "freshness-max-age-two-fresh-stale-sameline": leastCounts,
    "freshness-max-age-two-fresh-stale-sepline": leastCounts,
    "freshness-max-age-two-stale-fresh-sameline": leastCounts,
    "freshness-max-age-two-stale-fresh-sepline": leastCounts,
    "freshness-max-age-space-before-equals": "blanks around the name of a directive are forgiven",
    "freshness-max-age-decimal-zero": noNumber,
    "freshness-max-age-decimal-five": noNumber,
    "freshness-max-age-a100": noNumber,
    "freshness-max-age-100a": noNumber,
    "age-parse-parameter": noAge,
    "age-parse-numeric-parameter": noAge,
    "heuristic-delta-5": tenth,
    "heuristic-delta-10": tenth,
    "heuristic-delta-30": tenth,
    "304-etag-update-response-Content-Encoding": ofTheBytes,
    "304-etag-update-response-Content-Range": ofTheBytes,
    "304-etag-update-response-ETag":
      "a 304 with another `ETag` is about something else, and the answer is fetched whole (RFC 9111, 4.3.4)",
    "ccreq-no-store":
      "a request's `no-store` keeps the answer from being stored, and says nothing about what is there",
    "pragma-request-no-cache": "`Pragma: no-cache` is heeded where there is no `Cache-Control`",
    "vary-normalise-lang-select":
      "the two requests don't mean the same, so that another server may answer them differently (RFC 9111, 4.1)",
    "head-200-retain": "a HEAD's answer is given as it came",
    "head-410-update": "a 410 says that the stored 200 is gone",
    "conditional-etag-vary-headers-mismatch": "the other variants' tags aren't offered to the server",
    "conditional-etag-strong-generate-unquoted": "a tag is sent back as it came",
    "conditional-etag-forward-unquoted": "a caller's field is sent as it is",
    "conditional-etag-quoted-respond-unquoted": "tags are compared with their quotes",
    "conditional-etag-unquoted-respond-quoted": "tags are compared with their quotes",
    "conditional-lm-stale": "with a stale answer, a caller's own condition is the server's business",
    "conditional-lm-fresh-no-lm":
      "without `Last-Modified` the `Date` counts, and that is later than the caller's (RFC 9111, 4.3.2)",
    "partial-store-partial-reuse-partial": partStored,
    "partial-store-partial-reuse-partial-byterange": partStored,
    "partial-store-partial-reuse-partial-absent": partStored,
    "partial-store-partial-reuse-partial-suffix": partStored,
    "partial-store-partial-complete": partStored,
    "stale-warning-stored": warning,
    "stale-warning-become": warning,
    "other-age-delay": "what comes from the server is given as it came",
    "other-cookie":
      "whoever sends a cookie has answers of their own, unless the caller names a partition",
  ]

  private static let leastCounts = "of a directive that comes twice the smaller counts"
  private static let noNumber = "a `max-age` that is no number is 0"
  private static let noAge = "an `Age` that is no number is ignored"
  private static let tenth = "a tenth of so short a time is over within the suite's three seconds"
  private static let ofTheBytes = "the field describes the bytes that are stored, which a 304 doesn't change"
  private static let partStored = "parts aren't stored"
  private static let warning = "RFC 9111 has done away with `Warning`"

  /// What the suite asks of others.
  static let notAsked: [(of: String, identifiers: [String])] = [
    (
      "shared caches",
      [
        "freshness-s-maxage-shared", "freshness-max-age-s-maxage-shared-longer",
        "freshness-max-age-s-maxage-shared-longer-reversed",
        "freshness-max-age-s-maxage-shared-longer-multiple", "freshness-max-age-s-maxage-shared-shorter",
        "freshness-max-age-s-maxage-shared-shorter-expires", "cc-resp-private-shared",
        "other-authorization", "other-authorization-public", "other-authorization-must-revalidate",
        "other-authorization-smaxage", "stale-close-proxy-revalidate", "stale-close-s-maxage=2",
      ]
    ),
    (
      "surrogates",
      [
        "", "-max", "-max-plus", "-me-target", "-other-target", "-age", "-space-before-equals",
        "-space-after-equals", "-0", "-extension", "-case-insensitive", "-expires",
        "-cc-max-age-invalid-expires", "-0-expires", "-short-cc-max-age", "-long-cc-max-age",
      ].map { "surrogate-max-age\($0)" } + [
        "surrogate-no-store", "surrogate-no-store-cc-fresh", "surrogate-fresh-cc-nostore",
        "surrogate-append-capabilities", "surrogate-remove-header",
      ]
    ),
    (
      "content delivery networks",
      [
        "", "-max", "-max-plus", "-age", "-space-before-equals", "-space-after-equals", "-0", "-extension",
        "-case-insensitive", "-expires", "-cc-max-age-invalid-expires", "-0-expires", "-short-cc-max-age",
        "-long-cc-max-age",
      ].map { "cdn-max-age\($0)" } + [
        "cdn-private", "cdn-no-cache", "cdn-no-store-cc-fresh", "cdn-fresh-cc-nostore",
        "cdn-cc-invalid-sh-type-unknown", "cdn-cc-invalid-sh-type-wrong", "cdn-remove-header",
        "cdn-remove-age-exceed", "cdn-date-update-exceed", "cdn-expires-update-exceed",
      ]
    ),
  ]
}

/// The section of docs/HTTP.md that lists every case with its verdict.
enum VerdictPage {
  static let title = "## The public cache test suite"

  static var text: String {
    var lines = [title, ""]
    let counted = Table.cases.filter(\.isForBrowsers)
    func score(_ kind: Case.Kind) -> String {
      let all = counted.filter { $0.kind == kind }
      return "\(all.filter { Table.failing[$0.id] == nil }.count) of \(all.count) \(kind)"
    }
    lines += filled(
      """
      The suite http-tests/cache-tests, in its profile for browsers, under `rfc9111`: \(score(.required)), \
      \(score(.optimal)), \(score(.check)). `Tests/NuthatchCoreTests/Conformance` has our own wording of each case, plays \
      it end to end with a clock that is moved, and holds this section to what came out. ✘ marks what fails, and ° what the \
      suite doesn't run with browsers.
      """)
    for group in Table.groups {
      lines.append("")
      var text = "**\(group.name).**"
      for kind in [Case.Kind.required, .optimal, .check] {
        let cases = group.cases.filter { $0.kind == kind }
        guard !cases.isEmpty else { continue }
        text += " \(kind): " + cases.map(mark).joined(separator: " ") + "."
      }
      lines += filled(text)
    }
    lines += ["", "What fails, fails because", ""]
    let reasons = Dictionary(grouping: Table.cases.map(\.id).filter { Table.failing[$0] != nil }) {
      Table.failing[$0] ?? ""
    }
    let order = Table.cases.compactMap { Table.failing[$0.id] }
    for reason in order.enumerated().filter({ order.firstIndex(of: $1) == $0 }).map(\.element) {
      let names = reasons[reason, default: []].map { "`\($0)`" }.joined(separator: ", ")
      lines += filled("- \(reason): \(names).", indent: "  ")
    }
    for (whom, identifiers) in Table.notAsked {
      lines.append("")
      let names = identifiers.map { "`\($0)`" }.joined(separator: " ")
      lines += filled("Not for a private cache, but for \(whom): \(names).")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func mark(_ test: Case) -> String {
    (Table.failing[test.id] == nil ? "" : "✘") + "`\(test.id)`" + (test.isForBrowsers ? "" : "°")
  }

  private static func filled(_ text: String, indent: String = "") -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, line.count + 1 + word.count > 120 {
        lines.append(line)
        line = indent + word
      } else {
        line += (line.isEmpty || line == indent ? "" : " ") + word
      }
    }
    return lines + [line]
  }
}
