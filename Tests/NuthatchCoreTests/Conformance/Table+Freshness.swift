// What `Cache-Control`, `Expires` and `Age` say of freshness.

extension Table {
  static let cacheControl = Group(
    "Cache-Control freshness",
    [
      Case(.check, "freshness-none", [:], .notCached),
      Case(.optimal, "freshness-max-age", ["Cache-Control": "max-age=3600"], .cached),
      Case(.required, "freshness-max-age-stale", [.becomesStale(), Step(.notCached)]),
      Case(.required, "freshness-max-age-0", ["Cache-Control": "max-age=0"], .notCached),
      Case(.optimal, "freshness-max-age-max-minus-1", ["Cache-Control": "max-age=2147483647"], .cached),
      Case(.optimal, "freshness-max-age-max", ["Cache-Control": "max-age=2147483648"], .cached),
      Case(.optimal, "freshness-max-age-max-plus-1", ["Cache-Control": "max-age=2147483649"], .cached),
      Case(.optimal, "freshness-max-age-max-plus", ["Cache-Control": "max-age=99999999999"], .cached),
      Case(
        .required, "freshness-max-age-age",
        ["Date": .now, "Cache-Control": "max-age=3600", "Age": "7200"], .notCached),
      Case(
        .check, "freshness-max-age-date", ["Date": .at(-7200), "Cache-Control": "max-age=3600"], .notCached),
      Case(
        .optimal, "freshness-max-age-expires",
        ["Cache-Control": "max-age=3600", "Expires": .at(-7200), "Date": .now], .cached),
      Case(
        .optimal, "freshness-max-age-expires-invalid",
        ["Cache-Control": "max-age=3600", "Expires": "0", "Date": .now], .cached),
      Case(
        .required, "freshness-max-age-0-expires",
        ["Expires": .at(3600), "Cache-Control": "max-age=0", "Date": .now], .notCached),
      Case(
        .optimal, "freshness-max-age-extension", ["Cache-Control": "foobar, max-age=3600"], .cached),
      Case(.optimal, "freshness-max-age-case-insenstive", ["Cache-Control": "MaX-aGe=3600"], .cached),
      Case(.required, "freshness-max-age-negative", ["Cache-Control": "max-age=-3600"], .notCached),
      Case(
        .required, "freshness-max-age-s-maxage-private",
        ["Cache-Control": "s-maxage=3600, max-age=1"], .notCached),
      Case(
        .required, "freshness-max-age-s-maxage-private-multiple",
        ["Cache-Control": "s-maxage=3600", "Cache-Control": "max-age=1"], .notCached),
    ])

  static let cacheControlParsing = Group(
    "Cache-Control parsing",
    [
      Case(
        .check, "freshness-max-age-two-fresh-stale-sameline",
        ["Cache-Control": "max-age=1800, max-age=1"], .cached),
      Case(
        .check, "freshness-max-age-two-fresh-stale-sepline",
        ["Cache-Control": "max-age=1800", "Cache-Control": "max-age=1"], .cached),
      Case(
        .check, "freshness-max-age-two-stale-fresh-sameline",
        ["Cache-Control": "max-age=1, max-age=1800"], .cached),
      Case(
        .check, "freshness-max-age-two-stale-fresh-sepline",
        ["Cache-Control": "max-age=1", "Cache-Control": "max-age=1800"], .cached),
      Case(.check, "freshness-max-age-quoted", ["Cache-Control": "max-age=\"3600\""], .cached),
      Case(
        .required, "freshness-max-age-ignore-quoted",
        ["Cache-Control": "extension=\"max-age=3600\", max-age=1"], .notCached),
      Case(
        .required, "freshness-max-age-ignore-quoted-rev",
        ["Cache-Control": "max-age=1, extension=\"max-age=3600\""], .notCached),
      Case(
        .check, "freshness-max-age-space-before-equals", ["Cache-Control": "max-age =3600"], .notCached),
      Case(
        .check, "freshness-max-age-space-after-equals", ["Cache-Control": "max-age= 3600"], .notCached),
      Case(.required, "freshness-max-age-leading-zero", ["Cache-Control": "max-age=003600"], .cached),
      Case(.required, "freshness-max-age-single-quoted", ["Cache-Control": "max-age='3600'"], .notCached),
      Case(.check, "freshness-max-age-decimal-zero", ["Cache-Control": "max-age=3600.0"], .cached),
      Case(.check, "freshness-max-age-decimal-five", ["Cache-Control": "max-age=3600.5"], .cached),
      Case(.check, "freshness-max-age-a100", ["Cache-Control": "max-age=a3600"], .cached),
      Case(.check, "freshness-max-age-100a", ["Cache-Control": "max-age=3600a"], .cached),
    ])

  static let age = Group(
    "Age",
    [
      aged(.required, "nonnumeric", ["abc"], .cached),
      aged(.required, "negative", ["-7200"], .cached),
      aged(.required, "float", ["7200.0"], .cached),
      aged(.required, "large-minus-one", ["2147483647"], .notCached),
      aged(.required, "large", ["2147483648"], .notCached),
      aged(.required, "larger", ["2147483649"], .notCached),
      aged(.required, "suffix", ["7200, 0"], .notCached),
      aged(.required, "prefix", ["0, 7200"], .cached),
      aged(.required, "suffix-twoline", ["7200", "0"], .notCached),
      aged(.required, "prefix-twoline", ["0", "7200"], .cached),
      aged(.required, "dup-0", ["0, 0"], .cached),
      aged(.required, "dup-0-twoline", ["0", "0"], .cached),
      aged(.required, "dup-old", ["3600", "3600"], .cached, lifetime: 10_000),
      aged(.check, "parameter", ["7200;foo=bar"], .notCached),
      aged(.check, "numeric-parameter", ["7200;foo=111"], .notCached),
    ])

  private static func aged(
    _ kind: Case.Kind, _ name: String, _ ages: [String], _ seen: Step.Seen, lifetime: Int = 3600
  ) -> Case {
    var answer: Lines = ["Date": .now, "Cache-Control": "max-age=\(lifetime)"]
    answer.lines += ages.map { ("Age", .text($0)) }
    return Case(kind, "age-parse-\(name)", answer, seen)
  }

  static let expires = Group(
    "Expires",
    [
      Case(.optimal, "freshness-expires-future", ["Expires": .at(2_592_000), "Date": .now], .cached),
      Case(.required, "freshness-expires-past", ["Expires": .at(-2_592_000), "Date": .now], .notCached),
      Case(
        .required, "freshness-expires-present", ["Expires": .now, "Date": .now], .notCached, pause: false),
      Case(
        .required, "freshness-expires-old-date", ["Expires": .at(300), "Date": .at(400)], .notCached),
      Case(.required, "freshness-expires-invalid", ["Expires": "0", "Date": .now], .notCached),
      Case(
        .optimal, "freshness-expires-invalid-date", ["Date": "foo", "Expires": .at(10)], .cached,
        pause: false),
      Case(
        .required, "freshness-expires-age-slow-date",
        ["Date": .at(-10), "Expires": .at(10), "Age": "25"], .notCached, pause: false),
      Case(
        .required, "freshness-expires-age-fast-date",
        ["Date": .at(10), "Expires": .at(20), "Age": "15"], .notCached, pause: false),
    ])

  static let expiresParsing = Group(
    "Expires parsing",
    [
      expiring(.optimal, "32bit", ["Tue, 19 Jan 2038 14:14:08 GMT"], .cached),
      expiring(.optimal, "far-future", ["Sun, 21 Nov 2286 04:46:39 GMT"], .cached),
      expiring(.optimal, "rfc850", ["Thursday, 18-Aug-50 02:01:18 GMT"], .cached),
      expiring(.optimal, "ansi-c", ["Thu Aug  8 02:01:18 2050"], .cached),
      expiring(.optimal, "wrong-case-weekday", ["THU, 18 Aug 2050 02:01:18 GMT"], .cached),
      expiring(.optimal, "wrong-case-month", ["Thu, 18 AUG 2050 02:01:18 GMT"], .cached),
      expiring(.optimal, "wrong-case-tz", ["Thu, 18 Aug 2050 02:01:18 gMT"], .cached),
      expiring(.required, "invalid-utc", ["Thu, 18 Aug 2050 02:01:18 UTC"], .notCached),
      expiring(.required, "invalid-aest", ["Thu, 18 Aug 2050 02:01:18 AEST"], .notCached),
      expiring(.required, "invalid-2-digit-year", ["Thu, 18 Aug 50 02:01:18 GMT"], .notCached),
      expiring(.required, "invalid-no-comma", ["Thu 18 Aug 2050 02:01:18 GMT"], .notCached),
      expiring(.required, "invalid-multiple-spaces", ["Thu, 18  Aug  2050 02:01:18 GMT"], .notCached),
      expiring(.required, "invalid-date-dashes", ["Thu, 18-Aug-2050 02:01:18 GMT"], .notCached),
      expiring(.required, "invalid-time-periods", ["Thu, 18 Aug 2050 02.01.18 GMT"], .notCached),
      expiring(.required, "invalid-1-digit-hour", ["Thu, 18 Aug 2050 2:01:18 GMT"], .notCached),
      expiring(
        .required, "invalid-multiple-lines",
        ["Thu, 18 Aug 2050 2:01:18 GMT", "Thu, 18 Aug 2050 2:01:19 GMT"], .notCached),
    ])

  private static func expiring(_ kind: Case.Kind, _ name: String, _ dates: [String], _ seen: Step.Seen)
    -> Case
  {
    let answer = Lines(dates.map { ("Expires", .text($0)) })
    return Case(kind, "freshness-expires-\(name)", answer + ["Date": .now], seen)
  }

  static let heuristic = Group(
    "Heuristic freshness",
    [200, 203, 204, 404, 405, 410, 414, 501].map { heuristic($0, isKept: true) }
      + [201, 202, 403, 502, 503, 504, 599].map { heuristic($0, isKept: false) }
      + [heuristic(599, isKept: true, ["Cache-Control": "public"])]
      + [5, 10, 30, 60, 300, 600, 1200, 1800, 3600, 43_200, 86_400].map { age in
        Case(.check, "heuristic-delta-\(age)", ["Last-Modified": .at(-Int64(age)), "Date": .now], .cached)
      })

  private static func heuristic(_ status: Int, isKept: Bool, _ more: Lines = [:]) -> Case {
    let answer = ["Last-Modified": .at(-86_400), "Date": .now] + more
    return Case(
      isKept ? .optimal : .required, "heuristic-\(status)-\(isKept ? "cached" : "not_cached")",
      [
        Step(answer: answer).with { $0.status = status },
        Step(isKept ? .cached : .notCached).with { $0.status = status },
      ])
  }
}
