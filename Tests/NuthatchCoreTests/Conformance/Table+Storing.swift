// What may be stored, and with which fields.

extension Table {
  static let responseDirectives = Group(
    "Cache-Control of answers",
    [
      Case(
        .optimal, "cc-resp-private-private", ["Cache-Control": "private, max-age=3600"], .cached,
        pause: false),
      Case(.required, "cc-resp-no-store", ["Cache-Control": "no-store"], .notCached, pause: false),
      Case(
        .required, "cc-resp-no-store-case-insensitive", ["Cache-Control": "No-StOrE"], .notCached,
        pause: false),
      Case(
        .required, "cc-resp-no-store-fresh",
        ["Cache-Control": "max-age=10000, no-store", "Expires": .at(10_000), "Date": .now], .notCached,
        pause: false),
      storedBefore("cc-resp-no-store-old-new", "no-store"),
      storedBefore("cc-resp-no-store-old-max-age", "no-store, max-age=0"),
      Case(
        .required, "cc-resp-no-cache",
        ["Cache-Control": "max-age=10000, no-cache", "Expires": .at(10_000), "Date": .now], .notCached,
        pause: false),
      Case(
        .required, "cc-resp-no-cache-case-insensitive",
        ["Cache-Control": "max-age=10000, No-CaChE", "Expires": .at(10_000), "Date": .now], .notCached,
        pause: false),
      Case(
        .optimal, "cc-resp-no-cache-revalidate", ["Cache-Control": "no-cache", "ETag": "\"abcd\""],
        .etagValidated, pause: false),
      Case(
        .optimal, "cc-resp-no-cache-revalidate-fresh",
        [
          "Cache-Control": "max-age=10000, no-cache", "Expires": .at(10_000), "Date": .now,
          "ETag": "\"abcd\"",
        ], .etagValidated, pause: false),
      Case(
        .check, "headers-omit-headers-listed-in-Cache-Control-no-cache-single",
        [
          Step(
            answer: [
              "Cache-Control": "no-cache=\"a\"", "a": "1", "b": "2", "Cache-Control": "max-age=3600",
              "Date": .now,
            ], pause: true),
          Step(.cached).with {
            $0.wants = ["b": "2"]
            $0.lacks = ["a"]
          },
        ]),
      Case(
        .check, "headers-omit-headers-listed-in-Cache-Control-no-cache",
        [
          Step(
            answer: [
              "Cache-Control": "no-cache=\"a, b\"", "a": "1", "b": "2", "c": "3",
              "Cache-Control": "max-age=3600", "Date": .now,
            ], pause: true),
          Step(.cached).with {
            $0.wants = ["c": "3"]
            $0.lacks = ["a", "b"]
          },
        ]),
      Case(
        .optimal, "cc-resp-must-revalidate-fresh",
        ["Cache-Control": "max-age=10000, must-revalidate", "ETag": "\"abcd\""], .cached, pause: false),
      Case(
        .required, "cc-resp-must-revalidate-stale",
        [
          Step(answer: mustRevalidate), Step(.cached, answer: mustRevalidate, pause: true),
          Step(.etagValidated),
        ]),
      Case(
        .optimal, "cc-resp-immutable-fresh",
        [
          Step(
            answer: ["Cache-Control": "max-age=10000, immutable", "ETag": "\"abcd\""], pause: true),
          Step(.cached, request: reload),
        ]),
      Case(
        .required, "cc-resp-immutable-stale",
        [
          Step(answer: ["Cache-Control": "max-age=2, immutable", "ETag": "\"abcd\""], pause: true),
          Step(.etagValidated, request: reload).with { $0.serverSees = reload },
        ]),
    ])

  private static let mustRevalidate: Lines = [
    "Cache-Control": "max-age=2, must-revalidate", "ETag": "\"abcd\"",
  ]

  /// What a browser sends with every request of the cache mode `no-cache`.
  private static let reload: Lines = ["Cache-Control": "max-age=0"]

  private static func storedBefore(_ id: String, _ control: String) -> Case {
    Case(
      .required, id,
      [
        Step(
          answer: [
            "Cache-Control": "max-age=10000", "Expires": .at(10_000), "Date": .now, "A": "1",
          ], pause: true),
        Step(
          answer: ["Cache-Control": .text(control), "Date": .now, "A": "2"], pause: true),
        Step(.cached).with { $0.wants = ["A": "1"] },
      ])
  }

  static let statuses = Group(
    "Statuses",
    finalStatuses.flatMap { [freshStatus($0), staleStatus($0)] }
      + redirectStatuses.flatMap { [freshStatus($0).beyondBrowsers(), staleStatus($0).beyondBrowsers()] }
      + [
        Case(
          .required, "status-599-must-understand",
          [Step(answer: mustUnderstand).with { $0.status = 599 }, Step(.notCached)]),
        Case(.optimal, "status-200-must-understand", mustUnderstand, .cached, pause: false),
      ])

  private static let finalStatuses = [200, 203, 204, 299, 400, 404, 410, 499, 500, 502, 503, 504, 599]
  private static let redirectStatuses = [301, 302, 303, 307, 308]
  private static let mustUnderstand: Lines = ["Cache-Control": "max-age=3600, no-store, must-understand"]

  private static func freshStatus(_ status: Int) -> Case {
    Case(
      .optimal, "status-\(status)-fresh",
      [Step.fresh().with { $0.status = status }, Step(.cached).with { $0.status = status }])
  }

  private static func staleStatus(_ status: Int) -> Case {
    Case(
      .required, "status-\(status)-stale", [Step.stale.with { $0.status = status }, Step(.notCached)])
  }

  static let fields = Group(
    "Fields that are stored",
    [
      Case(
        .required, "headers-omit-headers-listed-in-Connection",
        [
          .fresh(["Connection": "a, b", "a": "1", "b": "2", "c": "3"]),
          Step(.cached).with {
            $0.wants = ["c": "3"]
            $0.lacks = ["a", "b"]
          },
        ])
    ] + Field.all.map(storing))

  private static func storing(_ field: Field) -> Case {
    var answer: Lines = ["Date": .now]
    answer.lines.append((field.name, .text(field.second)))
    if field.name != "Cache-Control" { answer = answer + ["Cache-Control": "max-age=3600"] }
    return Case(
      .required, "headers-store-\(field.name)",
      [
        Step(answer: answer, pause: true).with { $0.checksContent = field.name != "Content-Length" },
        Step(.cached).with {
          $0.checksContent = field.name != "Content-Length"
          if field.isStored {
            $0.wants.lines = [(field.name, .text(field.second))]
          } else {
            $0.lacks = [field.name]
          }
        },
      ])
  }

  static let notModified = Group(
    "Fields that a 304 changes",
    [
      Case(
        .required, "304-lm-use-stored-Test-Header",
        [
          Step(
            answer: [
              "Cache-Control": "max-age=2", "Last-Modified": "Wed, 01 Jan 2020 00:00:00 GMT",
              "Date": .now, "Test-Header": "first",
            ], pause: true),
          Step(
            .dateValidated,
            answer: ["Last-Modified": "Wed, 01 Jan 2020 00:00:00 GMT", "Date": .now]
          ).with { $0.wants = ["Test-Header": "first"] },
        ])
    ] + Field.all.filter(\.isStored).map(renewing))

  private static func renewing(_ field: Field) -> Case {
    func answer(_ value: String, hasTag: Bool) -> Lines {
      var lines: Lines = ["Date": .now]
      lines.lines.append((field.name, .text(value)))
      if field.name != "Cache-Control" { lines = lines + ["Cache-Control": "max-age=2"] }
      if hasTag, field.name != "ETag" { lines = lines + ["ETag": "\"tag of \(field.name)\""] }
      return lines
    }
    let expected = field.change == .mustNot ? field.first : field.second
    let steps = [
      Step(answer: answer(field.first, hasTag: true), pause: true),
      Step(.etagValidated, answer: answer(field.second, hasTag: true)),
      Step(.cached),
    ]
    return Case(
      field.change == .free ? .check : .required, "304-etag-update-response-\(field.name)",
      steps.enumerated().map { index, step in
        step.with {
          $0.checksContent = field.name != "Content-Length"
          if index > 0 { $0.wants.lines = [(field.name, .text(expected))] }
        }
      })
  }
}

/// A field of answers, two values of it, and what is demanded.
struct Field: Sendable {
  enum Change { case must, mustNot, free }

  let name: String
  let first: String
  let second: String
  var change = Change.free
  var isStored = true

  init(_ name: String, _ first: String = "one", _ second: String = "two", _ change: Change = .free) {
    self.name = name
    self.first = first
    self.second = second
    self.change = change
  }

  private static func ofConnection(_ name: String) -> Field {
    var field = Field(name)
    field.isStored = false
    return field
  }

  static let all = [
    Field("Test-Header", "one", "two", .must),
    Field("X-Test-Header", "one", "two", .must),
    Field("Content-Foo", "one", "two", .must),
    Field("X-Content-Foo", "one", "two", .must),
    Field("Cache-Control", "max-age=1", "max-age=3600", .must),
    ofConnection("Connection"),
    Field("Content-Encoding"),
    Field("Content-Length", "36", "10", .mustNot),
    Field("Content-Location", "/foo", "/bar"),
    Field("Content-MD5", "rL0Y20zC+Fzt72VPzMSk2A==", "N7UdGUp1E+RbVvZSTy1R8g=="),
    Field("Content-Range"),
    Field("Content-Security-Policy", "default-src 'self'", "default-src 'self' cdn.example.com"),
    Field("Content-Type", "text/plain", "text/plain;charset=utf-8"),
    Field("Clear-Site-Data", "cache", "cookies"),
    Field("ETag", "\"abcdef\"", "\"ghijkl\""),
    Field("Expires", "Fri, 01 Jan 2038 01:01:01 GMT", "Mon, 11 Jan 2038 11:11:11 GMT"),
    ofConnection("Keep-Alive"),
    ofConnection("Proxy-Authenticate"),
    ofConnection("Proxy-Authentication-Info"),
    ofConnection("Proxy-Authorization"),
    ofConnection("Proxy-Connection"),
    Field("Public-Key-Pins"),
    Field("Set-Cookie", "a=b", "a=c"),
    Field("Set-Cookie2", "a=b", "a=c"),
    ofConnection("TE"),
    ofConnection("Transfer-Encoding"),
    ofConnection("Upgrade"),
    Field("X-Frame-Options", "deny", "sameorigin"),
    Field("X-XSS-Protection", "1", "1; mode=block"),
  ]
}
