// What requests ask for, which of several answers they get, and what changes what is stored.

extension Table {
  static let requestDirectives = Group(
    "Cache-Control of requests",
    [
      asking("ccreq-ma0", .fresh(), "max-age=0", .notCached),
      asking("ccreq-ma1", .fresh(), "max-age=1", .notCached),
      asking("ccreq-magreaterage", .fresh(["Age": "1800"]), "max-age=600", .notCached),
      asking("ccreq-max-stale", .becomesStale(), "max-stale=1000", .cached),
      asking(
        "ccreq-max-stale-age", Step(answer: ["Cache-Control": "max-age=1500", "Age": "2000"]),
        "max-stale=1000", .cached),
      asking(
        "ccreq-min-fresh", Step(answer: ["Cache-Control": "max-age=1500"]), "min-fresh=2000", .notCached),
      asking(
        "ccreq-min-fresh-age", Step(answer: ["Cache-Control": "max-age=1500", "Age": "1000"]),
        "min-fresh=1000", .notCached),
      asking(
        "ccreq-no-cache", Step(answer: ["Cache-Control": "max-age=3600"]), "no-cache", .notCached),
      asking(
        "ccreq-no-cache-lm",
        Step(answer: ["Cache-Control": "max-age=3600", "Last-Modified": .at(-10_000), "Date": .now]),
        "no-cache", .dateValidated),
      asking(
        "ccreq-no-cache-etag", Step(answer: ["Cache-Control": "max-age=3600", "ETag": "\"abc\""]),
        "no-cache", .etagValidated),
      asking("ccreq-no-store", .fresh(), "no-store", .notCached),
      Case(
        .check, "ccreq-oic",
        [
          Step(request: ["Cache-Control": "only-if-cached"]).with {
            $0.wantsStatus = 504
            $0.checksContent = false
          }
        ]),
    ])

  private static func asking(_ id: String, _ first: Step, _ control: String, _ seen: Step.Seen) -> Case {
    Case(.check, id, [first, Step(seen, request: ["Cache-Control": .text(control)])])
  }

  static let pragma = Group(
    "Pragma",
    [
      Case(
        .check, "pragma-request-no-cache", [.fresh(), Step(.cached, request: ["Pragma": "no-cache"])]),
      Case(
        .check, "pragma-request-extension",
        [.fresh(), Step(.cached, request: ["Pragma": "unrecognised-extension"])]),
      Case(
        .check, "pragma-response-no-cache", ["Cache-Control": "max-age=3600", "Pragma": "no-cache"],
        .cached, pause: false),
      Case(
        .check, "pragma-response-no-cache-heuristic",
        ["Date": .now, "Last-Modified": .at(-10_000), "Pragma": "no-cache"], .cached, pause: false),
      Case(
        .check, "pragma-response-extension",
        ["Cache-Control": "max-age=3600", "Pragma": "unrecognised-extension"], .cached, pause: false),
    ])

  static let methods = Group(
    "Methods",
    [
      Case(
        .optimal, "method-POST",
        [
          Step(
            request: ["Content-Type": "text/plain"],
            answer: ["Cache-Control": "max-age=3600", "Content-Location": .url(""), "Date": .now],
            pause: true
          ).with {
            $0.method = "POST"
            $0.sent = "12345"
          },
          Step(.cached),
        ])
    ])

  // MARK: Vary

  static let vary = Group(
    "Vary",
    [
      varying(.optimal, "vary-match", ["Foo": "1"], "Foo", ["Foo": "1"], .cached),
      varying(.required, "vary-no-match", ["Foo": "1"], "Foo", ["Foo": "2"], .notCached),
      varying(.required, "vary-omit-stored", [:], "Foo", ["Foo": "1"], .notCached),
      varying(.required, "vary-omit", ["Foo": "1"], "Foo", [:], .notCached),
      Case(
        .optimal, "vary-invalidate",
        [
          Step(request: ["Foo": "1"], answer: varies("Foo")).with { $0.content = "one" },
          Step(.notCached, request: ["Foo": "2"], answer: varies("Foo")).with { $0.content = "two" },
          Step(.cached, request: ["Foo": "1"]).with { $0.content = "one" },
        ]),
      varying(
        .optimal, "vary-cache-key", ["Foo": "1", "Other": "2"], "Foo", ["Foo": "1", "Other": "3"],
        .cached),
      varying(.optimal, "vary-2-match", two, "Foo, Bar", two, .cached),
      varying(.required, "vary-2-no-match", two, "Foo, Bar", ["Foo": "2", "Bar": "abc"], .notCached),
      varying(.required, "vary-2-match-omit", two, "Foo, Bar", [:], .notCached),
      varying(.optimal, "vary-3-match", three, "Foo, Bar, Baz", three, .cached),
      varying(
        .required, "vary-3-no-match", three, "Foo, Bar, Baz",
        ["Foo": "2", "Bar": "abc", "Baz": "789"], .notCached),
      varying(
        .required, "vary-3-order", three, "Foo, Bar, Baz",
        ["Foo": "1", "Baz": "789", "Bar": "abcde"], .notCached),
      varying(.optimal, "vary-3-omit", fooBaz, "Foo, Bar, Baz", fooBaz, .cached),
      varying(.required, "vary-star", fooBaz, "*", fooBaz, .notCached),
      varying(
        .optimal, "vary-normalise-combine", ["Foo": "1, 2"], "Foo", ["Foo": "1", "Foo": "2"], .cached),
      varying(
        .optimal, "vary-normalise-lang-order", language("en, de"), "Accept-Language",
        language("de, en"), .cached),
      varying(
        .optimal, "vary-normalise-lang-case", language("en, de"), "Accept-Language",
        language("eN, De"), .cached),
      varying(
        .optimal, "vary-normalise-lang-space", language("en, de"), "Accept-Language",
        language(" en ,   de"), .cached),
      varying(
        .optimal, "vary-normalise-lang-select", language("en, de"), "Accept-Language",
        language("fr;q=0.5, de;q=1.0"), .cached, ["Content-Language": "de"]),
      varying(.optimal, "vary-normalise-space", ["Foo": "1,2"], "Foo", ["Foo": " 1, 2 "], .cached),
    ])

  static let varyParsing = Group(
    "Vary parsing",
    [
      varying(.required, "vary-syntax-star", fooBaz, "*", fooBaz, .notCached),
      varying(.required, "vary-syntax-star-star", fooBaz, "*, *", fooBaz, .notCached),
      varying(.required, "vary-syntax-star-star-lines", fooBaz, "*", fooBaz, .notCached, ["Vary": "*"]),
      varying(.required, "vary-syntax-empty-star", fooBaz, ", *", fooBaz, .notCached),
      varying(.required, "vary-syntax-empty-star-lines", fooBaz, "", fooBaz, .notCached, ["Vary": "*"]),
      varying(.required, "vary-syntax-star-foo", fooBaz, "*, Foo", fooBaz, .notCached),
      varying(.required, "vary-syntax-foo-star", fooBaz, "Foo, *", fooBaz, .notCached),
    ])

  private static let two: Lines = ["Foo": "1", "Bar": "abc"]
  private static let three: Lines = ["Foo": "1", "Bar": "abc", "Baz": "789"]
  private static let fooBaz: Lines = ["Foo": "1", "Baz": "789"]

  private static func language(_ languages: String) -> Lines { ["Accept-Language": .text(languages)] }

  private static func varies(_ names: String) -> Lines {
    [
      "Cache-Control": "max-age=5000", "Last-Modified": .at(-3000), "Date": .now, "Vary": .text(names),
    ]
  }

  private static func varying(
    _ kind: Case.Kind, _ id: String, _ first: Lines, _ names: String, _ second: Lines, _ seen: Step.Seen,
    _ more: Lines = [:]
  ) -> Case {
    Case(
      kind, id, [Step(request: first, answer: varies(names) + more), Step(seen, request: second)])
  }

  // MARK: Changes

  static let invalidation = Group(
    "Invalidation",
    ["POST", "PUT", "DELETE", "M-SEARCH"].flatMap { method in
      let change = Step().with {
        $0.method = method
        $0.sent = "abc"
      }
      return [
        Case(.required, "invalidate-\(method)", [.fresh(), change, Step(.notCached)]),
        Case(
          .optimal, "invalidate-\(method)-failed",
          [.fresh(), change.with { $0.status = 500 }, Step(.cached)]),
        invalidating(method, "location", "Location", change),
        invalidating(method, "cl", "Content-Location", change),
      ]
    })

  private static func invalidating(_ method: String, _ suffix: String, _ name: String, _ change: Step)
    -> Case
  {
    let target = Step(
      answer: ["Cache-Control": "max-age=100000", "Last-Modified": .now, "Date": .now]
    ).with { $0.path = suffix }
    return Case(
      .check, "invalidate-\(method)-\(suffix)",
      [
        target, change.with { $0.answer.lines = [(name, .url(suffix))] },
        target.with { $0.seen = .notCached },
      ])
  }

  static let head = Group(
    "HEAD",
    [
      Case(.check, "head-writethrough", [.becomesStale(), asksForHead().with { $0.seen = .notCached }]),
      Case(
        .check, "head-200-retain",
        [.becomesStale(), asksForHead().with { $0.wants = ["Template-A": "1"] }]),
      Case(
        .check, "head-200-freshness-update",
        [.becomesStale(), asksForHead(["Cache-Control": "max-age=1000"]), Step(.cached)]),
      Case(
        .check, "head-200-update",
        [
          .becomesStale(), asksForHead(["Template-A": "2", "Cache-Control": "max-age=1000"]),
          Step(.cached).with { $0.wants = ["Template-A": "2"] },
        ]),
      Case(
        .check, "head-410-update",
        [
          .becomesStale(),
          asksForHead(["Template-A": "2", "Cache-Control": "max-age=1000"]).with { $0.status = 410 },
          Step(.cached).with { $0.wants = ["Template-A": "2"] },
        ]),
    ])

  private static func asksForHead(_ answer: Lines = [:]) -> Step {
    Step(answer: answer).with { $0.method = "HEAD" }
  }
}
