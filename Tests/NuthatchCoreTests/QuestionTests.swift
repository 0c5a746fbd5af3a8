import NuthatchCore
import TestServer
import Testing

/// Hooks: questions to the program while its request is under way.
@Suite("Questions to the program") struct QuestionTests {
  let bench: Bench

  init() throws { bench = try Bench { $0.retries = 2 } }

  private func submit(
    _ path: String, _ asks: Set<Question.Kind>, _ change: (inout Request) -> Void = { _ in }
  )
    throws -> Ticket
  {
    var request = Request(bench.server.url(path))
    request.asks = asks
    change(&request)
    return try bench.cache.submit(request)
  }

  private static let kept = ["Cache-Control": "max-age=60"] as HeaderLines

  @Test("the question for headers comes first, and its answer selects the stored answer")
  func headers() throws {
    bench.server.on("/a") { request in
      Script(headers: Self.kept, steps: [.text(request.headers["X-Token"] ?? "nobody")])
    }
    for (token, isInCache) in [("ann", false), ("bob", false), ("ann", true)] {
      let ticket = try submit("/a", [.headers])
      let question = try #require(try ticket.next()?.question)
      #expect(question.kind == .headers && question.response == nil)
      #expect(question.url == bench.server.url("/a"))
      try ticket.answer(question, .headers([("X-Token", token)]))
      let response = try ticket.result()
      #expect(response.text == token)
      #expect(response.isInCache == isInCache)
    }
    // Without headers the request gets another answer.
    let ticket = try submit("/a", [.headers])
    #expect(try ticket.final()?.response?.text == "nobody")
  }

  @Test("headers from a program that can't be sent end the request with `bad_header`")
  func badHeaders() throws {
    let event = try submit("/a", [.headers]).final(answering: { _ in .headers([("X", "a\r\nb")]) })
    #expect(event?.error?.code == .badHeader)
    #expect(bench.server.count() == 0)
  }

  @Test(
    "a 401 of another origin behind a redirect asks the program nothing",
    arguments: [Question.Kind.credentials, .challenge], [false, true])
  func otherOrigin(_ kind: Question.Kind, _ isStrict: Bool) throws {
    // Another origin: the same server by another name.
    let other = bench.server.url("/there").replacing("127.0.0.1", with: "localhost")
    bench.server.on("/a", .status(302, headers: ["Location": other]))
    bench.server.on("/there", .status(401, headers: ["WWW-Authenticate": "Basic realm=\"x\""], body: "who?"))
    let asked = Collected<Question>()
    let event = try submit("/a", [kind], { if isStrict { $0.policy = .rfc9111 } }).final(answering: {
      asked.add($0)
      return kind == .challenge
        ? .headers([("Authorization", "Bearer t")]) : .credentials(name: "ann", password: "pw")
    })
    #expect(event?.response?.status == 401)
    #expect(asked.values.isEmpty)
    #expect(bench.server.requests.allSatisfy { $0.headers["Authorization"] == nil })
    #expect(bench.server.count() == 2)
    // Behind a redirect to the same origin it is asked.
    bench.server.on("/b", .status(302, headers: ["Location": "/there"]))
    _ = try submit("/b", [kind], { if isStrict { $0.policy = .rfc9111 } }).final(answering: {
      asked.add($0)
      return .pass
    })
    #expect(asked.values.map(\.kind) == [kind])
  }

  @Test("the question for credentials comes once after a 401")
  func credentials() throws {
    bench.server.on("/a") { request in
      request.headers["Authorization"] == "Basic YW5uOnB3"
        ? Script(headers: Self.kept, steps: [.text("secret")])
        : .status(401, headers: ["WWW-Authenticate": "Basic realm=\"x\""], body: "who?")
    }
    let asked = Collected<Question>()
    func get(_ reply: Reply) throws -> Response {
      let event = try submit("/a", [.credentials]).final(answering: {
        asked.add($0)
        return reply
      })
      return try #require(event).result.get()
    }
    #expect(try get(.credentials(name: "ann", password: "pw")).text == "secret")
    #expect(asked.values.map(\.kind) == [.credentials])
    #expect(asked.values.first?.response?.status == 401)
    #expect(try get(.pass).status == 401)
    #expect(try get(.credentials(name: "ann", password: "wrong")).status == 401)
    #expect(asked.values.count == 3)
    // The answer is stored for ann's credentials only.
    #expect(try bench.get("/a").status == 401)
    #expect(try bench.get("/a") { $0.user = ("ann", "pw") }.isInCache)
  }

  @Test("the question for a verdict comes before the answer is stored; rejected ones aren't stored")
  func verdict() throws {
    bench.server.on(
      "/a",
      sequence: [
        Script(headers: Self.kept, steps: [.text("error")]),
        Script(headers: Self.kept, steps: [.text("good")]),
      ])
    let first = try submit("/a", [.verdict])
    let question = try #require(try first.next()?.question)
    #expect(question.response?.text == "error")
    try first.answer(question, .reject("an error page with status 200"))
    let error = try #require(try first.final()?.error)
    #expect(error.code == .http)
    #expect(error.message == "an error page with status 200: \(bench.server.url("/a"))")
    let second = try submit("/a", [.verdict]).final(answering: { _ in .accept })
    #expect(second?.response?.text == "good" && second?.kind == .fresh)
    // A stored answer has been judged already.
    let third = try submit("/a", [.verdict]).next()
    #expect(third?.kind == .cached && third?.response?.text == "good")
    #expect(bench.server.count("/a") == 2)
  }

  @Test("the verdict on a POST's answer comes before the answer is stored for GET")
  func verdictOfPost() throws {
    bench.server.on("/a") { request in
      Script(
        headers: ["Cache-Control": "max-age=60", "Content-Location": "/a"],
        steps: [.text(request.method)])
    }
    func post(_ reply: Reply) throws -> Event? {
      try submit("/a", [.verdict]) { ($0.method, $0.policy) = ("POST", .rfc9111) }
        .final(answering: { _ in reply })
    }
    #expect(try post(.reject("no"))?.error?.code == .http)
    #expect(try bench.failure("/a") { $0.policy = .offline }.code == .offline)
    #expect(try post(.accept)?.response?.text == "POST")
    #expect(try bench.get("/a") { $0.policy = .rfc9111 }.text == "POST")
    #expect(bench.server.count("/a") == 2)
  }

  @Test("a verdict may ask for a retry, as often as the request may be tried")
  func retry() throws {
    bench.server.on("/a", sequence: [.ok("no"), .ok("no"), .ok("yes")])
    let event = try submit("/a", [.verdict]).final(answering: {
      $0.response?.text == "yes" ? .accept : .retry
    })
    #expect(event?.response?.text == "yes")
    bench.server.on("/b", .ok("no"))
    let failure = try submit("/b", [.verdict]).final(answering: { _ in .retry })
    #expect(failure?.error?.code == .http)
    #expect(bench.server.count("/b") == 3)
  }

  @Test("a verdict can be asked about a picture")
  func picture() throws {
    bench.server.on("/a.png", .ok(Pictures.png(width: 20, height: 10), type: "image/png"))
    let event = try submit("/a.png", [.verdict]) { $0.boxes = [ThumbnailBox(10)] }.final(answering: {
      question in
      question.response?.bodySize ?? 0 > 0 ? .accept : .reject("empty")
    })
    #expect(event?.images.first?.width == 10)
  }

  @Test("a question without an answer at the deadline is passed over")
  func deadline() throws {
    bench.server.on("/a", .ok("x"))
    let ticket = try submit("/a", [.verdict]) { $0.deadline = .milliseconds(5000) }
    let question = try #require(try ticket.next()?.question)
    let event = try #require(try ticket.next())
    #expect(event.kind == .fresh && event.response?.text == "x")
    #expect(throws: NuthatchError.self) { try ticket.answer(question, .accept) }
    // Without headers nothing has been asked for.
    let mute = try submit("/a", [.headers]) { $0.deadline = .milliseconds(200) }
    var last = try mute.next()
    while last?.isFinal == false { last = try mute.next() }
    #expect(last?.error?.code == .timeout)
  }

  @Test("a question takes one reply of its own kind while the request is open")
  func wrongAnswers() throws {
    bench.server.on("/a", .ok("x"))
    let ticket = try submit("/a", [.headers])
    let question = try #require(try ticket.next()?.question)
    let wrong = try #require(throws: NuthatchError.self) { try ticket.answer(question, .accept) }
    #expect(wrong.code == .invalid)
    try ticket.answer(question, .pass)
    let again = try #require(throws: NuthatchError.self) { try ticket.answer(question, .pass) }
    #expect(again.code == .invalid)
    #expect(try ticket.result().text == "x")
    let cancelled = try submit("/a", [.headers])
    let late = try #require(try cancelled.next()?.question)
    cancelled.cancel()
    #expect(throws: NuthatchError.self) { try cancelled.answer(late, .pass) }
    #expect(try cancelled.next()?.kind == .cancelled)
  }

  @Test("closing a cache ends requests with open questions")
  func close() throws {
    let ticket = try submit("/a", [.headers])
    bench.cache.close()
    #expect(try ticket.final()?.error?.code == .closed)
  }
}
