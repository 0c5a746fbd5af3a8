// Conditions, ranges, stale answers, and what an answer from the cache looks like.

extension Table {
  static let conditions = Group(
    "Conditions",
    [
      Case(
        .required, "conditional-etag-vary-headers",
        [
          Step(
            request: ["Abc": "123"],
            answer: ["Expires": .at(1), "ETag": "\"abcdef\"", "Date": .now, "Vary": "Abc"], pause: true),
          Step(.etagValidated, request: ["Abc": "123"]).with { $0.serverSees = ["Abc": "123"] },
        ]),
      Case(
        .check, "conditional-etag-vary-headers-mismatch",
        [
          Step(
            request: ["Abc": "123"],
            answer: ["Expires": .at(10_000), "ETag": "\"abcdef\"", "Date": .now, "Vary": "Abc"],
            pause: true),
          Step(request: ["Abc": "456"]).with { $0.serverSees = ["If-None-Match": "\"abcdef\""] },
        ]),
      generating(.optimal, "conditional-etag-strong-generate", "\"abcdef\"", "\"abcdef\""),
      generating(.optimal, "conditional-etag-weak-generate-weak", "W/\"abcdef\"", "W/\"abcdef\""),
      generating(.check, "conditional-etag-strong-generate-unquoted", "abcdef", "\"abcdef\""),
      Case(.check, "conditional-etag-forward", [forwarding("\"abcdef\"")]),
      Case(.check, "conditional-etag-forward-unquoted", [forwarding("abcdef")]),
    ])

  private static func generating(_ kind: Case.Kind, _ id: String, _ tag: String, _ asked: String) -> Case {
    Case(
      kind, id,
      [
        .becomesStale(["ETag": .text(tag)]),
        Step(.etagValidated).with { $0.serverSees = ["If-None-Match": .text(asked)] },
      ])
  }

  private static func forwarding(_ tag: String) -> Step {
    Step(request: ["If-None-Match": .text(tag)]).with { $0.serverSees = ["If-None-Match": "\"abcdef\""] }
  }

  static let conditionsOfTheCaller = Group(
    "Conditions of the caller's",
    [
      answering(.optimal, "conditional-etag-strong-respond", "\"abcdef\"", "\"abcdef\""),
      Case(
        .required, "conditional-304-etag",
        [
          .fresh(["ETag": "\"abcdef\""]),
          notModified(["If-None-Match": "\"abcdef\""]).with { $0.wants = ["ETag": "\"abcdef\""] },
        ]
      ).beyondBrowsers(),
      Case(
        .required, "conditional-etag-precedence",
        [
          .fresh(["Last-Modified": .at(-5000), "ETag": "\"abcdef\""]),
          notModified(["If-None-Match": "\"abcdef\"", "If-Modified-Since": .at(-1)]),
        ]
      ).beyondBrowsers(),
      answering(.check, "conditional-etag-strong-respond-obs-text", "\"abcdefü\"", "\"abcdefü\""),
      answering(.check, "conditional-etag-quoted-respond-unquoted", "\"abcdef\"", "abcdef"),
      answering(.check, "conditional-etag-unquoted-respond-unquoted", "abcdef", "abcdef"),
      answering(.check, "conditional-etag-unquoted-respond-quoted", "abcdef", "\"abcdef\""),
      answering(.optimal, "conditional-etag-weak-respond", "W/\"abcdef\"", "W/\"abcdef\""),
      answering(.check, "conditional-etag-weak-respond-lowercase", "w/\"abcdef\"", "w/\"abcdef\""),
      answering(.check, "conditional-etag-weak-respond-backslash", "W\\\"abcdef\"", "W\\\"abcdef\""),
      answering(.check, "conditional-etag-weak-respond-omit-slash", "W\"abcdef\"", "W\"abcdef\""),
      answering(
        .optimal, "conditional-etag-strong-respond-multiple-first", "\"abcdef\"",
        "\"abcdef\", \"1234\", \"5678\""),
      answering(
        .optimal, "conditional-etag-strong-respond-multiple-second", "\"abcdef\"",
        "\"1234\", \"abcdef\", \"5678\""),
      answering(
        .optimal, "conditional-etag-strong-respond-multiple-last", "\"abcdef\"",
        "\"1234\", \"5678\", \"abcdef\""),
      Case(
        .optimal, "conditional-lm-fresh",
        [.fresh(["Last-Modified": .at(-3000)]), notModified(["If-Modified-Since": .at(-3003)])]
      ).beyondBrowsers(),
      Case(
        .optimal, "conditional-lm-fresh-earlier",
        [.fresh(["Last-Modified": .at(-3000)]), notModified(["If-Modified-Since": .at(-2000)])]
      ).beyondBrowsers(),
      Case(
        .optimal, "conditional-lm-stale",
        [
          .becomesStale(["Last-Modified": .at(-3000)]),
          Step(.dateValidated, request: ["If-Modified-Since": .at(-3003)]).with { $0.wantsStatus = 304 },
        ]
      ).beyondBrowsers(),
      Case(
        .optimal, "conditional-lm-fresh-no-lm", [.fresh(), notModified(["If-Modified-Since": .at(-3000)])]
      ).beyondBrowsers(),
      Case(
        .optimal, "conditional-lm-fresh-rfc850",
        [
          .fresh(["Last-Modified": "Tue, 14 Nov 2023 21:23:20 GMT"]),
          notModified(["If-Modified-Since": "Tuesday, 14-Nov-23 21:23:20 GMT"]),
        ]
      ).beyondBrowsers(),
    ])

  private static func answering(_ kind: Case.Kind, _ id: String, _ tag: String, _ asked: String) -> Case {
    Case(kind, id, [.fresh(["ETag": .text(tag)]), notModified(["If-None-Match": .text(asked)])])
      .beyondBrowsers()
  }

  private static func notModified(_ condition: Lines) -> Step {
    Step(.cached, request: condition).with { $0.wantsStatus = 304 }
  }

  // MARK: Ranges

  static let ranges = Group(
    "Ranges",
    [
      partAfterPart("partial-store-partial-reuse-partial", "bytes=-5", "01234"),
      partOfWhole("partial-store-complete-reuse-partial", "01234567890", "bytes=0-1", "01"),
      partOfWhole("partial-store-complete-reuse-partial-no-last", "01234567890", "bytes=1-", "1234567890"),
      partOfWhole("partial-store-complete-reuse-partial-suffix", "0123456789A", "bytes=-1", "A"),
      partAfterPart("partial-store-partial-reuse-partial-byterange", "bytes=6-8", "234"),
      partAfterPart("partial-store-partial-reuse-partial-absent", "bytes=6-", "234"),
      partAfterPart("partial-store-partial-reuse-partial-suffix", "bytes=-1", "4"),
      Case(
        .optimal, "partial-store-partial-complete",
        [
          part("bytes 0-4/10"),
          Step().with {
            $0.serverSees = ["Range": "bytes=5-"]
            $0.checksContent = false
          },
        ]),
      Case(
        .required, "partial-use-headers",
        [
          Step(answer: ["Cache-Control": "max-age=3600", "A": "1"]).with { $0.content = "01234567890" },
          askingForPart("bytes=0-1", "01").with { $0.answer = ["A": "2"] },
        ]),
      Case(
        .required, "partial-use-stored-headers",
        [
          Step(answer: ["Cache-Control": "max-age=3600", "A": "1"]).with { $0.content = "01234567890" },
          askingForPart("bytes=0-1", "01").with { $0.wants = ["A": "1"] },
        ]),
    ])

  private static func partOfWhole(_ id: String, _ whole: String, _ range: String, _ part: String) -> Case {
    Case(
      .optimal, id,
      [
        Step(answer: ["Cache-Control": "max-age=3600"]).with { $0.content = whole },
        askingForPart(range, part),
      ])
  }

  private static func partAfterPart(_ id: String, _ range: String, _ content: String) -> Case {
    Case(.optimal, id, [part("bytes 4-9/10"), askingForPart(range, content)])
  }

  /// The suite's own figures, though `4-9` are six bytes and the body has five.
  private static func part(_ range: String) -> Step {
    Step(
      request: ["Range": "bytes=-5"],
      answer: ["Cache-Control": "max-age=3600", "Content-Range": .text(range)]
    ).with {
      $0.status = 206
      $0.content = "01234"
      $0.serverSees = ["Range": "bytes=-5"]
    }
  }

  private static func askingForPart(_ range: String, _ content: String) -> Step {
    Step(.cached, request: ["Range": .text(range)]).with {
      $0.wantsStatus = 206
      $0.wantsContent = content
    }
  }

  // MARK: Stale answers

  static let staleAnswers = Group(
    "Stale answers",
    [
      Case(.check, "stale-close", [.becomesStale(), cutOff()]),
      Case(
        .check, "stale-503",
        [
          .becomesStale(),
          Step(.cached).with {
            $0.status = 503
            $0.wantsStatus = 200
          },
        ]),
      Case(
        .optimal, "stale-while-revalidate",
        ["Cache-Control": "max-age=1, stale-while-revalidate=3600", "ETag": "\"abc\""], .cachedAtOnce),
      Case(
        .required, "stale-while-revalidate-window",
        [
          Step(
            answer: ["Cache-Control": "max-age=1, stale-while-revalidate=4", "ETag": "\"abc\""],
            pause: true),
          Step(.cachedAtOnce, answer: ["Cache-Control": "no-cache", "ETag": "\"def\""], pause: true),
          Step().with { $0.wants = ["Answer": "3"] },
        ]),
      Case(.check, "stale-sie-close", [staleIfError, cutOff()]),
      // The suite closes the connection here, too, whatever the name says.
      Case(.check, "stale-sie-503", [staleIfError, cutOff()]),
      prohibited("stale-close-must-revalidate", "must-revalidate"),
      prohibited("stale-close-no-cache", "no-cache"),
      Case(.check, "stale-warning-stored", [.stale, cutOff(["Warning": "110"])]),
      Case(.check, "stale-warning-become", [.becomesStale(), cutOff(["Warning": "110"])]),
    ])

  private static let staleIfError = Step(
    answer: ["Cache-Control": "max-age=2, stale-if-error=60"], pause: true)

  private static func cutOff(_ wants: Lines = [:]) -> Step {
    Step(.cached).with {
      $0.disconnects = true
      $0.wants = wants
    }
  }

  private static func prohibited(_ id: String, _ directive: String) -> Case {
    Case(
      .required, id,
      [
        Step(answer: ["Cache-Control": "max-age=2, \(directive)"], pause: true),
        Step().with {
          $0.disconnects = true
          $0.takesAnyStatus = true
          $0.checksContent = false
          $0.lacks = ["Answer"]
        },
      ])
  }

  // MARK: Others

  static let others = Group(
    "Others",
    [
      Case(
        .required, "other-age-gen", [.fresh(), Step(.cached).with { $0.wantsAbove = ("Age", 2) }]),
      Case(
        .check, "other-age-delay",
        [
          Step(answer: ["Cache-Control": "max-age=3600", "Date": .now]).with {
            $0.delay = 5
            $0.wantsAbove = ("Age", 0)
          }
        ]),
      Case(
        .required, "other-age-update-expires",
        [
          Step(answer: ["Expires": .at(2_592_000), "Date": .now, "Age": "30"], pause: true),
          Step(.cached).with { $0.wantsAbove = ("Age", 32) },
        ]),
      Case(
        .required, "other-age-update-max-age",
        [.fresh(["Age": "30"]), Step(.cached).with { $0.wantsAbove = ("Age", 32) }]),
      Case(
        .required, "other-date-update",
        [.fresh(), Step(.cached).with { $0.wants = ["Date": .at(-3)] }]),
      Case(
        .required, "other-date-update-expires",
        [
          Step(answer: ["Expires": .at(2_592_000), "Date": .now], pause: true),
          Step(.cached).with { $0.wants = ["Date": .at(-3)] },
        ]),
      Case(
        .check, "other-date-update-expires-update",
        [
          Step(answer: ["Expires": .at(2_592_000), "Date": .now], pause: true),
          Step(.cached).with { $0.wants = ["Expires": .at(2_591_997)] },
        ]),
      Case(
        .required, "query-args-different",
        [.fresh().with { $0.path = "?test=1" }, Step(.notCached).with { $0.path = "?test=2" }]),
      Case(
        .optimal, "query-args-same",
        [.fresh().with { $0.path = "?test=1" }, Step(.cached).with { $0.path = "?test=1" }]),
      Case(
        .check, "other-heuristic-content-disposition-attachment",
        [
          "Last-Modified": .at(-100_000), "Date": .now,
          "Content-Disposition": "attachment; filename=example.txt",
        ], .cached, pause: false),
      Case(
        .check, "other-fresh-content-disposition-attachment",
        [.fresh(["Content-Disposition": "attachment; filename=example.txt"]), Step(.cached)]),
      Case(.optimal, "other-set-cookie", [.fresh(["Set-Cookie": "a=b"]), Step(.cached)]),
      Case(.optimal, "other-cookie", [.fresh(), Step(.cached, request: ["Cookie": "a=b"])]),
    ])

  static let interim = Group(
    "Interim answers",
    [
      preceded(.optimal, "interim-102", 102, [:], []),
      preceded(.optimal, "interim-103", 103, hints, []),
      preceded(.required, "interim-not-cached", 103, ["Link": "</styles.css>; rel=preload; as=style"], []),
      preceded(.optimal, "interim-no-header-reuse", 103, hints, ["X-My-Header"]),
    ])

  private static let hints: Lines = [
    "Link": "</styles.css>; rel=preload; as=style", "X-My-Header": "test",
  ]

  private static func preceded(
    _ kind: Case.Kind, _ id: String, _ status: Int, _ fields: Lines, _ lacks: [String]
  ) -> Case {
    Case(
      kind, id,
      [
        Step(answer: ["Cache-Control": "max-age=100000", "Date": .now], pause: true).with {
          $0.interim = [(status, fields)]
          $0.interimSeen = [status]
          $0.lacks = lacks
        },
        Step(.cached).with {
          $0.interimSeen = []
          $0.lacks = lacks
        },
      ]
    ).beyondBrowsers()
  }
}
