import Testing

@testable import NuthatchHTTP

private func head(_ status: Int = 200, _ fields: (String, String)...) -> ResponseHead {
  var head = ResponseHead(status: status)
  for (name, value) in fields { head.fields.append(name, value) }
  return head
}

private func fields(_ pairs: (String, String)...) -> HeaderFields {
  var fields = HeaderFields()
  for (name, value) in pairs { fields.append(name, value) }
  return fields
}

/// 15 November 2023, 22:13:20.
private let now: Int64 = 1_700_000_000

private func stored(_ head: ResponseHead, at time: Int64 = now, isPicture: Bool = false) -> AnswerFacts {
  AnswerFacts(head: head, requestTime: time, responseTime: time, isPicture: isPicture)
}

extension AnswerFacts {
  fileprivate func lifetime(_ rules: FreshnessRules, now: Int64) -> Int64 {
    lifetime(rules, CacheDirectives(head.fields), now: now)
  }
}

@Suite("Dates") struct HTTPDateTests {
  @Test(
    "a date of HTTP has three forms",
    arguments: [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
  func forms(text: String) { #expect(HTTPDate.seconds(text, now: now) == 784_111_777) }

  @Test(
    "a date of any other form is none",
    arguments: [
      "", "0", "-1", "now", "06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 8:49:37 GMT",
      "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
      "Sun, 00 Nov 1994 08:49:37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
      "Sun, 06-Nov-1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "Sun, 29 Feb 1999 00:00:00 GMT",
    ])
  func others(text: String) { #expect(HTTPDate.seconds(text, now: now) == nil) }

  @Test("dates know leap years and the first and last year")
  func edges() {
    #expect(HTTPDate.seconds("Thu, 01 Jan 1970 00:00:00 GMT", now: now) == 0)
    #expect(HTTPDate.seconds("Tue, 29 Feb 2000 23:59:60 GMT", now: now) == 951_868_800)
    #expect(HTTPDate.seconds("Sat, 01 Jan 0000 00:00:00 GMT", now: now) == -62_167_219_200)
    #expect(HTTPDate.seconds("Fri, 31 Dec 9999 23:59:59 GMT", now: now) == 253_402_300_799)
  }

  @Test("a year of two digits lies at most 50 years ahead")
  func centuries() {
    #expect(
      HTTPDate.seconds("Wednesday, 15-Nov-73 22:13:19 GMT", now: now)
        == HTTPDate.seconds("Wed, 15 Nov 2073 22:13:19 GMT", now: now))
    #expect(HTTPDate.seconds("Friday, 01-Jan-74 00:00:00 GMT", now: now) == 126_230_400)
  }
}

@Suite("Cache-Control") struct CacheDirectivesTests {
  @Test(
    "max-age is a number, bare or quoted; of several the least; an invalid one is 0",
    arguments: [
      ("max-age=10", 10), ("MAX-AGE=10", 10), ("max-age=\"10\"", 10), ("a, max-age=10 , b", 10),
      ("max-age=1800, max-age=1", 1), ("max-age=003", 3), ("max-age=99999999999999999999", 1 << 31),
      ("max-age='10'", 0), ("max-age=-1", 0), ("max-age=1.5", 0), ("max-age= 10", 0), ("max-age", 0),
      ("x=\"max-age=100\", max-age=1", 1), ("max-age=1, x=\"max-age=100, y\"", 1),
      ("x=\"a\\\"b\", max-age=7", 7),
    ] as [(String, Int64)])
  func seconds(text: String, expected: Int64) {
    #expect(CacheDirectives(fields(("Cache-Control", text))).seconds("max-age") == expected)
  }

  @Test("a Cache-Control directive lists fields, or stands for the whole answer")
  func listed() {
    let one = CacheDirectives(fields(("Cache-Control", "no-cache=\"A, b\"")))
    #expect(one.fields("no-cache") == ["a", "b"])
    #expect(!one.hasBare("no-cache"))
    #expect(
      CacheDirectives(fields(("Cache-Control", "private"), ("Cache-Control", "No-Cache"))).hasBare("no-cache")
    )
  }

  @Test("random Cache-Control, Age, Expires and Date values never trap", arguments: 0..<200)
  func random(seed: Int) {
    var state = UInt64(seed) &* 6_364_136_223_846_793_005 &+ 1
    let alphabet = Array("max-age=\",\\ 0123456789;*\t'private no-store".utf8)
    let bytes = (0..<60).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return alphabet[Int(state >> 33) % alphabet.count]
    }
    let text = String(decoding: bytes, as: UTF8.self)
    let answer = stored(head(200, ("Cache-Control", text), ("Age", text), ("Expires", text), ("Date", text)))
    for kind in [FreshnessRules.Kind.kit, .rfc9111, .offline, .reload] {
      for time in [Int64.min, 0, now, .max] {
        _ = answer.freshness(for: fields(("Cache-Control", text)), FreshnessRules(kind), now: time)
      }
    }
  }
}

@Suite("Freshness") struct FreshnessTests {
  private func grade(
    _ head: ResponseHead, after seconds: Int64, _ kind: FreshnessRules.Kind = .rfc9111,
    isPicture: Bool = false,
    request: HeaderFields = HeaderFields()
  ) -> Freshness.Grade {
    stored(head, isPicture: isPicture).freshness(for: request, FreshnessRules(kind), now: now + seconds)
      .grade
  }

  @Test("an answer is fresh for max-age minus Age")
  func maxAge() {
    #expect(grade(head(200, ("Cache-Control", "max-age=10")), after: 9) == .valid)
    #expect(grade(head(200, ("Cache-Control", "max-age=10")), after: 10) == .stale)
    #expect(grade(head(200, ("Cache-Control", "max-age=10"), ("Age", "9")), after: 0) == .valid)
    #expect(grade(head(200, ("Cache-Control", "max-age=10"), ("Age", "9")), after: 1) == .stale)
    for odd in ["-5", "1.5", "abc", ""] {
      #expect(grade(head(200, ("Cache-Control", "max-age=10"), ("Age", odd)), after: 5) == .valid)
    }
    #expect(grade(head(200, ("Cache-Control", "max-age=10"), ("Age", "7200, 0")), after: 0) == .stale)
    #expect(
      grade(head(200, ("Cache-Control", "max-age=10"), ("Age", "99999999999999999999")), after: 0)
        == .stale)
  }

  @Test("age counts how far Date is behind: under RFC 9111 from 2 s on, for the kit from a minute on")
  func date() {
    func age(_ date: String, _ kind: FreshnessRules.Kind) -> Int64 {
      stored(head(200, ("Date", date))).age(FreshnessRules(kind), now: now + 5)
    }
    // now is 22:13:20.
    for (date, rfc, kit): (String, Int64, Int64) in [
      ("Tue, 14 Nov 2023 22:14:20 GMT", 5, 5), ("Tue, 14 Nov 2023 22:13:19 GMT", 5, 5),
      ("Tue, 14 Nov 2023 22:13:18 GMT", 7, 5), ("Tue, 14 Nov 2023 22:12:20 GMT", 65, 5),
      ("Tue, 14 Nov 2023 22:12:19 GMT", 66, 66), ("Tue, 14 Nov 2023 21:13:20 GMT", 3605, 3605),
    ] {
      #expect(age(date, .rfc9111) == rfc && age(date, .kit) == kit, "\(date)")
    }
    let slow = AnswerFacts(
      head: head(200, ("Date", "Tue, 14 Nov 2023 22:13:10 GMT"), ("Age", "7")), requestTime: now - 4,
      responseTime: now, isPicture: false)
    #expect(slow.age(FreshnessRules(.rfc9111), now: now) == 11)
    #expect(slow.age(FreshnessRules(.kit), now: now) == 11)
  }

  @Test("without max-age an answer is fresh until Expires, counted from its own Date")
  func expires() {
    let date = ("Date", "Tue, 14 Nov 2023 22:13:20 GMT")
    let later = ("Expires", "Tue, 14 Nov 2023 23:13:20 GMT")
    #expect(stored(head(200, date, later)).lifetime(FreshnessRules(.rfc9111), now: now) == 3600)
    #expect(stored(head(200, date, ("Expires", "0"))).lifetime(FreshnessRules(.rfc9111), now: now) == 0)
    #expect(stored(head(200, date, later, later)).lifetime(FreshnessRules(.rfc9111), now: now) == 0)
    #expect(
      stored(head(200, date, later, ("Cache-Control", "max-age=5"))).lifetime(
        FreshnessRules(.rfc9111), now: now) == 5)
  }

  @Test("the kit's rules give pictures, validated answers and no-cache lifetimes of their own")
  func kit() {
    let rules = FreshnessRules(.kit)
    func lifetime(_ head: ResponseHead, isPicture: Bool) -> Int64 {
      stored(head, isPicture: isPicture).lifetime(rules, now: now)
    }
    #expect(lifetime(head(), isPicture: true) == 604_800)
    #expect(lifetime(head(), isPicture: false) == 0)
    #expect(lifetime(head(200, ("ETag", "\"1\"")), isPicture: true) == 86_400)
    #expect(lifetime(head(200, ("Cache-Control", "no-cache")), isPicture: false) == 60)
    #expect(lifetime(head(200, ("Cache-Control", "max-age=1, no-cache")), isPicture: true) == 60)
    #expect(lifetime(head(200, ("Cache-Control", "max-age=1")), isPicture: true) == 1)
  }

  @Test("heuristic freshness is a tenth of the time since Last-Modified, at most a day")
  func heuristic() {
    let rules = FreshnessRules(.rfc9111)
    let date = ("Date", "Tue, 14 Nov 2023 22:13:20 GMT")
    let dayBefore = ("Last-Modified", "Mon, 13 Nov 2023 22:13:20 GMT")
    #expect(stored(head(200, date, dayBefore)).lifetime(rules, now: now) == 8640)
    #expect(stored(head(599, date, dayBefore)).lifetime(rules, now: now) == 0)
    let longAgo = ("Last-Modified", "Mon, 13 Nov 1995 22:13:20 GMT")
    #expect(stored(head(200, date, longAgo)).lifetime(rules, now: now) == 86_400)
  }

  @Test("freshness obeys the request's max-age, min-fresh, max-stale, no-cache and Pragma")
  func wishes() {
    let answer = head(200, ("Cache-Control", "max-age=60"))
    func wish(_ control: String) -> HeaderFields { fields(("Cache-Control", control)) }
    #expect(grade(answer, after: 30, request: wish("max-age=10")) == .stale)
    #expect(grade(answer, after: 30, request: wish("min-fresh=20")) == .valid)
    #expect(grade(answer, after: 30, request: wish("min-fresh=60")) == .stale)
    #expect(grade(answer, after: 90, request: wish("max-stale=60")) == .valid)
    #expect(grade(answer, after: 90, request: wish("max-stale=20")) == .stale)
    #expect(grade(answer, after: 9000, request: wish("max-stale")) == .valid)
    #expect(grade(answer, after: 1, request: wish("no-cache")) == .mustValidate)
    #expect(grade(answer, after: 1, request: fields(("Pragma", "no-cache"))) == .mustValidate)
    let strict = head(200, ("Cache-Control", "max-age=60, must-revalidate"))
    #expect(grade(strict, after: 90, request: wish("max-stale")) == .mustValidate)
    let refused = stored(answer).freshness(for: wish("no-cache"), FreshnessRules(.rfc9111), now: now)
    #expect(!refused.mayServeOnError)
  }

  @Test("stale-while-revalidate and stale-if-error allow stale answers for as long as they say")
  func staleness() {
    let patient = head(200, ("Cache-Control", "max-age=10, stale-while-revalidate=20"))
    #expect(grade(patient, after: 5) == .valid)
    #expect(grade(patient, after: 20) == .staleWhileRevalidate)
    #expect(grade(patient, after: 31) == .stale)
    func mayServe(_ control: String, _ kind: FreshnessRules.Kind, after: Int64 = 100) -> Bool {
      stored(head(200, ("Cache-Control", control))).freshness(
        for: HeaderFields(), FreshnessRules(kind), now: now + after
      ).mayServeOnError
    }
    #expect(mayServe("max-age=10", .kit))
    #expect(mayServe("max-age=10", .rfc9111))
    #expect(!mayServe("max-age=10, must-revalidate", .kit))
    #expect(mayServe("no-cache", .kit))
    #expect(!mayServe("no-cache", .rfc9111))
    #expect(mayServe("max-age=10, stale-if-error=200", .rfc9111))
    #expect(!mayServe("max-age=10, stale-if-error=20", .rfc9111))
  }

  @Test(
    "an answer is stale if the clock was set back by more than 5 s",
    arguments: [FreshnessRules.Kind.kit, .rfc9111])
  func future(kind: FreshnessRules.Kind) {
    func freshness(_ control: String, _ back: Int64, _ wish: String? = nil) -> Freshness {
      stored(head(200, ("Cache-Control", control)), isPicture: true).freshness(
        for: wish.map { fields(("Cache-Control", $0)) } ?? HeaderFields(), FreshnessRules(kind),
        now: now - back)
    }
    let control = "max-age=3600, stale-while-revalidate=7200"
    #expect(freshness(control, 5).grade == .valid && !freshness(control, 5).isFromFuture)
    for back: Int64 in [6, 30 * 86_400, .max] {
      let stale = freshness(control, back)
      #expect(stale.grade == .stale && stale.isFromFuture && stale.isStale && stale.mayServeOnError)
      #expect(freshness(control + ", must-revalidate", back).grade == .mustValidate)
      #expect(freshness(control, back, "max-stale=86400").grade == .stale)
      // Takes an answer of any age.
      #expect(freshness(control, back, "max-stale").grade == .valid)
      #expect(freshness(control, back, "max-stale, max-age=86400").grade == .stale)
      #expect(freshness(control + ", immutable", back, "max-age=0").grade == .stale)
    }
    let offline = stored(head(200)).freshness(for: HeaderFields(), FreshnessRules(.offline), now: now - 100)
    #expect(offline.grade == .valid)
  }

  @Test("freshness never traps, whichever times a record holds")
  func oddTimes() {
    for request in [Int64.min, 0, .max] {
      for response in [Int64.min, 0, .max] {
        for time in [Int64.min, 0, now, .max] {
          let answer = AnswerFacts(
            head: head(
              200, ("Date", "Fri, 31 Dec 9999 23:59:59 GMT"), ("Age", "99"), ("Cache-Control", "max-age=5")),
            requestTime: request, responseTime: response, isPicture: true)
          #expect(answer.age(FreshnessRules(.kit), now: time) >= 0)
          _ = answer.freshness(for: fields(("Cache-Control", "max-stale")), FreshnessRules(.kit), now: time)
        }
      }
    }
  }
}

@Suite("Storing") struct StorageRulesTests {
  private func mayStore(
    _ head: ResponseHead, _ kind: FreshnessRules.Kind, _ request: HeaderFields = HeaderFields()
  ) -> Bool {
    StorageRules.mayStore(stored(head), request: request, FreshnessRules(kind))
  }

  @Test("successes may be stored; under RFC 9111 other statuses too, if they say how long")
  func statuses() {
    #expect(mayStore(head(), .kit))
    #expect(!mayStore(head(404, ("Cache-Control", "max-age=5")), .kit))
    for status in [200, 299, 404, 500, 599] {
      #expect(mayStore(head(status, ("Cache-Control", "max-age=5")), .rfc9111))
    }
    #expect(!mayStore(head(500), .rfc9111))
    #expect(!mayStore(head(206, ("Cache-Control", "max-age=5")), .rfc9111))
    #expect(!mayStore(head(304, ("Cache-Control", "max-age=5")), .rfc9111))
  }

  @Test("no-store, Vary: * and requests for ranges forbid storing")
  func refusals() {
    for kind in [FreshnessRules.Kind.kit, .rfc9111] {
      #expect(!mayStore(head(200, ("Cache-Control", "max-age=5, no-store")), kind))
      #expect(!mayStore(head(200, ("Cache-Control", "max-age=5"), ("Vary", "Accept, *")), kind))
      #expect(!mayStore(head(), kind, fields(("Cache-Control", "no-store"))))
      #expect(!mayStore(head(), kind, fields(("Range", "bytes=0-1"))))
    }
    #expect(mayStore(head(200, ("Cache-Control", "max-age=5, no-store, must-understand")), .rfc9111))
    #expect(!mayStore(head(599, ("Cache-Control", "max-age=5, no-store, must-understand")), .rfc9111))
    #expect(mayStore(head(200, ("Cache-Control", "max-age=5, must-understand")), .rfc9111))
    #expect(!mayStore(head(599, ("Cache-Control", "max-age=5, must-understand")), .rfc9111))
  }

  @Test("storing leaves out Connection's fields, transfer fields and fields that no-cache lists")
  func hopByHop() {
    let kept = StorageRules.stored(
      head(
        200, ("Connection", "a, B"), ("A", "1"), ("b", "2"), ("C", "3"), ("Transfer-Encoding", "chunked"),
        ("Cache-Control", "no-cache=\"d\""), ("D", "4"), ("Set-Cookie", "x=1"), ("Set-Cookie", "y=2")))
    #expect(kept.fields.fields.map(\.name) == ["C", "Cache-Control", "Set-Cookie", "Set-Cookie"])
  }

  @Test("a 304 renews the stored fields except those that describe the body")
  func renewal() throws {
    let old = head(
      200, ("ETag", "\"1\""), ("Date", "Tue, 14 Nov 2023 22:13:20 GMT"), ("Cache-Control", "max-age=1"),
      ("X", "old"),
      ("Age", "5"), ("Content-Length", "9"), ("Content-Type", "image/png"), ("Keep", "1"))
    let news = head(
      304, ("ETag", "\"1\""), ("Cache-Control", "max-age=9"), ("X", "new"), ("Content-Length", "0"),
      ("Connection", "Y"),
      ("Y", "1"))
    let renewed = try #require(StorageRules.renewed(old, by: news))
    #expect(renewed.status == 200)
    #expect(renewed.fields["Cache-Control"] == "max-age=9")
    #expect(renewed.fields["X"] == "new")
    #expect(renewed.fields["Keep"] == "1")
    #expect(renewed.fields["Content-Length"] == "9")
    #expect(renewed.fields["Y"] == nil && renewed.fields["Age"] == nil)
    // An old date would make the renewed answer as old as the first.
    #expect(renewed.fields["Date"] == nil)
    #expect(StorageRules.renewed(old, by: head(304, ("ETag", "\"2\""))) == nil)
    #expect(StorageRules.renewed(old, by: head(304, ("ETag", "W/\"1\""))) != nil)
    let dated = head(200, ("Last-Modified", "Tue, 14 Nov 2023 22:13:20 GMT"))
    let later = head(304, ("Last-Modified", "Tue, 14 Nov 2023 22:13:21 GMT"))
    #expect(StorageRules.renewed(dated, by: later) == nil)
    #expect(
      StorageRules.renewed(dated, by: head(304, ("Last-Modified", "Tue, 14 Nov 2023 22:13:20 GMT"))) != nil)
    #expect(StorageRules.renewed(dated, by: head(304)) != nil)
  }

  @Test("a successful unsafe method invalidates its URL, and Location and Content-Location of its origin")
  func invalidation() throws {
    let url = try WebURL("http://a.example/x")
    func count(_ method: String, _ head: ResponseHead) -> Int {
      StorageRules.invalidated(method: method, url: url, by: head).count
    }
    let moved = head(201, ("Location", "/y"), ("Content-Location", "http://b.example/z"))
    #expect(count("POST", moved) == 2)
    #expect(count("FROBNICATE", head()) == 1)
    #expect(count("POST", head(500)) == 0)
    for method in ["GET", "HEAD", "OPTIONS", "TRACE"] { #expect(count(method, head()) == 0) }
  }

  @Test("Vary compares the requests' values, not how the fields were written")
  func vary() {
    let names = Vary(fieldsOf: "Accept-Language, accept , X", "ACCEPT").names
    #expect(names == ["accept", "accept-language", "x"])
    let one = Vary.values(names, in: fields(("Accept", "a,b"), ("X", "1")))
    let other = Vary.values(names, in: fields(("accept", "a"), ("Accept", "b "), ("x", "1")))
    #expect(one.map(\.value) == other.map(\.value))
    #expect(one[1].value == nil)
    #expect(Vary(fieldsOf: "a", " *").isAny)
  }

  @Test("Retry-After is a number or a date, never negative")
  func retryAfter() {
    func seconds(_ text: String) -> Int64? { head(503, ("Retry-After", text)).retryAfter(now: now) }
    #expect(seconds("120") == 120)
    #expect(seconds("Tue, 14 Nov 2023 22:14:20 GMT") == 60)
    #expect(seconds("Tue, 14 Nov 2023 22:12:20 GMT") == 0)
    #expect(seconds("-5") == nil)
    #expect(seconds("99999999999999999999999") == 1 << 31)
  }
}

extension Vary {
  init(fieldsOf lines: String...) {
    var fields = HeaderFields()
    for line in lines { fields.append("Vary", line) }
    self.init(fields)
  }
}
