import NuthatchHTTP
import Testing

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

private let now: Int64 = 1_700_000_000

@Suite("Ranges") struct ByteRangeTests {
  private func bytes(_ text: String, in length: Int64 = 10) -> Range<Int64>? {
    ByteRange(fields(("Range", text)))?.resolved(in: length)
  }

  @Test("a range selects the bytes that the body has of it")
  func resolved() {
    #expect(bytes("bytes=0-1") == 0..<2)
    #expect(bytes("bytes=3-") == 3..<10)
    #expect(bytes("bytes=-4") == 6..<10)
    #expect(bytes("bytes=-40") == 0..<10)
    #expect(bytes("bytes=9-99999999999999999999999") == 9..<10)
    #expect(bytes("bytes=0-9223372036854775807") == 0..<10)
    for text in ["bytes=10-", "bytes=-0", "bytes=99999999999999999999-"] { #expect(bytes(text) == nil) }
    #expect(bytes("bytes=0-", in: 0) == nil && bytes("bytes=-1", in: 0) == nil)
  }

  @Test(
    "a range of another form is ignored",
    arguments: [
      "", "bytes", "bytes=", "bytes=-", "bytes=2-1", "bytes=a-b", "bytes=0-1,2-3", "lines=1-2", "bytes=1--2",
    ])
  func others(text: String) { #expect(ByteRange(fields(("Range", text))) == nil) }
}

@Suite("Conditions") struct RequestConditionTests {
  private func reply(_ head: ResponseHead, _ request: (String, String)...) -> RequestConditions.Reply? {
    var wanted = HeaderFields()
    for (name, value) in request { wanted.append(name, value) }
    return RequestConditions.reply(to: wanted, from: head, length: 10, now: now)
  }

  private let date = ("Date", "Tue, 14 Nov 2023 22:13:20 GMT")
  private let changed = ("Last-Modified", "Tue, 14 Nov 2023 21:13:20 GMT")

  @Test("If-None-Match compares weakly and is above If-Modified-Since")
  func tags() {
    let tagged = head(200, ("ETag", "\"a,b\""), changed, date)
    #expect(reply(tagged, ("If-None-Match", "\"x\", W/\"a,b\"")) == .notModified)
    #expect(reply(tagged, ("If-None-Match", "\"x\""), ("If-None-Match", "\"a,b\"")) == .notModified)
    #expect(reply(tagged, ("If-None-Match", "\"a"), ("If-Modified-Since", date.1)) == .whole)
    #expect(reply(head(), ("If-None-Match", "*")) == .notModified)
    #expect(reply(head(), ("If-None-Match", "\"a\"")) == .whole)
  }

  @Test("If-Modified-Since compares with Date if the answer has no Last-Modified")
  func dates() {
    #expect(reply(head(200, changed), ("If-Modified-Since", changed.1)) == .notModified)
    #expect(reply(head(200, changed), ("If-Modified-Since", "Tue, 14 Nov 2023 21:13:19 GMT")) == .whole)
    #expect(reply(head(200, date), ("If-Modified-Since", date.1)) == .notModified)
    #expect(reply(head(200, changed), ("If-Modified-Since", "yesterday")) == .whole)
    #expect(reply(head(), ("If-Modified-Since", date.1)) == .whole)
  }

  @Test("If-Range compares strongly")
  func parts() {
    let range = ("Range", "bytes=0-1")
    let tagged = head(200, ("ETag", "\"1\""), changed, date)
    #expect(reply(tagged, range, ("If-Range", "\"1\"")) == .part(0..<2))
    #expect(reply(tagged, range, ("If-Range", changed.1)) == .part(0..<2))
    for other in ["\"2\"", "W/\"1\"", date.1, "nonsense"] {
      #expect(reply(tagged, range, ("If-Range", other)) == .whole)
    }
    #expect(reply(head(200, ("ETag", "W/\"1\"")), range, ("If-Range", "W/\"1\"")) == .whole)
    // Within one second there may be two versions with one date.
    #expect(reply(head(200, ("Last-Modified", date.1), date), range, ("If-Range", date.1)) == .whole)
  }

  @Test("conditions and ranges that only the server can judge get no reply from the cache")
  func passedOn() {
    #expect(reply(head(), ("If-Match", "\"1\"")) == nil)
    #expect(reply(head(), ("If-Unmodified-Since", date.1)) == nil)
    #expect(reply(head(), ("Range", "bytes=0-1,3-4")) == nil)
    #expect(reply(head(404), ("Range", "bytes=0-1")) == nil)
    #expect(reply(head(200, ("Content-Encoding", "gzip")), ("Range", "bytes=0-1")) == nil)
  }

  @Test("random conditions and ranges never trap", arguments: 0..<200)
  func random(seed: Int) {
    var state = UInt64(seed) &* 6_364_136_223_846_793_005 &+ 1
    func text(_ alphabet: String) -> String {
      let letters = Array(alphabet.utf8)
      return String(
        decoding: (0..<30).map { _ in
          state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          return letters[Int(state >> 33) % letters.count]
        }, as: UTF8.self)
    }
    let stored = head(200, ("ETag", text("\"W/,ab")), ("Last-Modified", text("Tue, 14Nov:GMT ")))
    for length in [Int64.min, -1, 0, 10, .max] {
      for range in [
        "bytes=" + text("0123456789-"), "bytes=-9223372036854775807", "bytes=0-9223372036854775807",
      ] {
        let wanted = fields(
          ("Range", range), ("If-Range", text("\"W/ab")), ("If-None-Match", text("\"W/,ab*")),
          ("If-Modified-Since", text("Tue, 14Nov:GMT ")))
        for request in [wanted, fields(("Range", range))] {
          guard let reply = RequestConditions.reply(to: request, from: stored, length: length, now: now)
          else {
            continue
          }
          _ = RequestConditions.head(of: reply, from: stored, length: length)
        }
      }
    }
  }

  @Test("replies of the cache have the fields that belong to 206, 304 and 416")
  func heads() {
    let stored = head(
      200, ("ETag", "\"1\""), ("Content-Type", "image/png"), ("Content-Length", "10"),
      ("Cache-Control", "max-age=5"))
    let part = RequestConditions.head(of: .part(2..<5), from: stored, length: 10)
    #expect(part.status == 206 && part.fields.values("Content-Length") == ["3"])
    #expect(part.fields["Content-Range"] == "bytes 2-4/10" && part.fields["Content-Type"] == "image/png")
    let same = RequestConditions.head(of: .notModified, from: stored, length: 10)
    #expect(same.status == 304 && same.fields.fields.map(\.name) == ["ETag", "Cache-Control"])
    let none = RequestConditions.head(of: .unsatisfiable, from: stored, length: 10)
    #expect(none.status == 416 && none.fields["Content-Range"] == "bytes */10")
    #expect(RequestConditions.head(of: .whole, from: stored, length: 10) == stored)
  }
}

@Suite("Rarer rules of RFC 9111") struct OtherRulesTests {
  private func grade(_ control: String, after age: Int64, _ wish: String) -> Freshness.Grade {
    AnswerFacts(
      head: head(200, ("Cache-Control", control)), requestTime: now, responseTime: now, isPicture: false
    )
    .freshness(for: fields(("Cache-Control", wish)), FreshnessRules(.rfc9111), now: now + age).grade
  }

  @Test("a reload doesn't revalidate an immutable answer that is fresh")
  func immutable() {
    #expect(grade("max-age=10, immutable", after: 5, "max-age=0") == .valid)
    #expect(grade("max-age=10, immutable", after: 10, "max-age=0") == .stale)
    #expect(grade("max-age=10, immutable", after: 5, "max-age=3") == .stale)
    #expect(grade("max-age=10, immutable", after: 5, "no-cache") == .mustValidate)
    #expect(grade("max-age=10", after: 5, "max-age=0") == .stale)
  }

  @Test("max-stale includes its own number")
  func maxStale() {
    #expect(grade("max-age=10", after: 70, "max-stale=60") == .valid)
    #expect(grade("max-age=10", after: 71, "max-stale=60") == .stale)
    #expect(grade("max-age=10", after: 10, "max-stale=0") == .valid)
    #expect(grade("max-age=10", after: 10, "max-age=20") == .stale)
    // Being old and being stale are two things, and a request may limit both.
    #expect(grade("max-age=10", after: 30, "max-age=20, max-stale=60") == .stale)
    #expect(grade("max-age=10", after: 15, "max-age=20, max-stale=60") == .valid)
  }

  @Test("capitals don't matter in dates")
  func dates() {
    for text in [
      "SUN, 06 nov 1994 08:49:37 gmt", "sunday, 06-NOV-94 08:49:37 Gmt", "sUn nOv  6 08:49:37 1994",
    ] {
      #expect(HTTPDate.seconds(text, now: now) == 784_111_777)
    }
  }

  @Test("Vary compares lists without an order in any order")
  func vary() {
    func value(_ name: String, _ text: String) -> String? {
      Vary.values([name], in: fields((name, text)))[0].value
    }
    #expect(value("accept-language", "en, de") == value("accept-language", " De ,  eN"))
    #expect(value("accept-language", "en;q=0.5") == value("accept-language", "EN ; q=0.5"))
    #expect(value("accept-language", "en, de") != value("accept-language", "en, de;q=0.5"))
    #expect(value("accept", "a/b, c/d") == value("accept", "c/d,a/b"))
    #expect(value("x", "a, b") != value("x", "b, a"))
    // A coding that isn't taken off depends on the request.
    let coded = fields(("Vary", "Accept-Encoding"), ("Content-Encoding", "br"))
    #expect(Vary(coded).names == ["accept-encoding"])
    #expect(Vary(fields(("Vary", "Accept-Encoding"), ("Content-Encoding", "gzip"))).names.isEmpty)
  }

  @Test("an answer to HEAD says whether the stored answer is still the same")
  func head200() {
    let stored = head(200, ("ETag", "\"1\""), ("Content-Length", "5"), ("X", "old"))
    func verdict(_ fields: (String, String)...) -> StorageRules.HeadVerdict {
      var answer = head(200, ("X", "new"))
      for (name, value) in fields { answer.fields.append(name, value) }
      return StorageRules.verdict(on: stored, byHead: answer)
    }
    for same in [("ETag", "\"1\""), ("Content-Length", "5")] {
      guard case .same(let renewed) = verdict(same) else {
        Issue.record("\(same) is not taken for the same")
        continue
      }
      #expect(renewed.fields["X"] == "new" && renewed.fields["Content-Length"] == "5")
    }
    #expect(verdict(("ETag", "W/\"1\"")) == .another)
    #expect(verdict(("ETag", "\"1\""), ("Content-Length", "6")) == .another)
    // A page of a captive portal, for instance.
    #expect(verdict() == .unknown)
    #expect(verdict(("Last-Modified", "Tue, 14 Nov 2023 22:13:20 GMT")) == .unknown)
    let outdated = AnswerFacts(
      head: StorageRules.outdated(head(200, ("Cache-Control", "max-age=60"))), requestTime: now,
      responseTime: now, isPicture: true)
    for kind in [FreshnessRules.Kind.kit, .rfc9111] {
      #expect(outdated.freshness(for: HeaderFields(), FreshnessRules(kind), now: now).grade == .stale)
    }
  }

  @Test("an answer to POST is stored for GET only if it names the URL and a lifetime")
  func post() throws {
    let url = try WebURL("http://a.example/x?y")
    func isStored(_ head: ResponseHead, _ kind: FreshnessRules.Kind = .rfc9111) -> Bool {
      let answer = AnswerFacts(head: head, requestTime: now, responseTime: now, isPicture: false)
      return StorageRules.answersGet(answer, at: url, FreshnessRules(kind))
    }
    let long = ("Cache-Control", "max-age=60")
    #expect(isStored(head(200, long, ("Content-Location", "/x?y"))))
    #expect(!isStored(head(200, long, ("Content-Location", "/x?y")), .kit))
    #expect(!isStored(head(200, long, ("Content-Location", "/x"))))
    #expect(!isStored(head(200, ("Content-Location", "/x?y"))))
    #expect(!isStored(head(201, long, ("Content-Location", "/x?y"))))
    #expect(!isStored(head(200, long)))
  }
}
