import TestServer

@testable import NuthatchCore

/// What a caller sees of an answer.
struct AnswerFacts: Equatable, CustomStringConvertible {
  var isInCache: Bool
  var isStale: Bool
  var status: Int?
  /// Columns and rows of each picture, or the bytes of the body.
  var sizes: [[Int]]
  var source: Response.Source?
  var redirects: Int?

  init(_ image: Image) {
    self.init([image], nil)
  }

  init(_ response: Response) {
    self.init([], response)
  }

  init(_ images: [Image], _ response: Response?) {
    isInCache = response?.isInCache ?? images.first?.isInCache ?? false
    isStale = response?.isStale ?? images.first?.isStale ?? false
    status = response?.status ?? images.first?.status
    source = response?.source ?? images.first?.source
    redirects = response?.redirects ?? images.first?.redirects
    sizes = images.map { [$0.width, $0.height] } + (response.map { [[$0.bodySize]] } ?? [])
  }

  /// The same, wherever in the cache it was.
  var anywhere: AnswerFacts {
    var result = self
    if source == .memory { result.source = .disk }
    return result
  }

  var description: String {
    let words = ["\(status ?? 0)", "\(sizes)", isInCache ? "in cache" : "new", isStale ? "stale" : "holds"]
    return (words + [source.map { "\($0)" } ?? "-", "\(redirects ?? 0) hops"]).joined(separator: " ")
  }
}

/// What a ticket tells, and what its server sees.
struct TicketFacts: Equatable, CustomStringConvertible {
  struct Told: Equatable, CustomStringConvertible {
    var kind: Event.Kind
    var answer: AnswerFacts?
    var error: ErrorCode?
    /// Whether the error is about what is stored.
    var isErrorInCache: Bool

    init(_ event: Event) {
      kind = event.kind
      error = event.error?.code
      isErrorInCache = event.error?.isInCache ?? false
      answer = event.response == nil && event.images.isEmpty ? nil : AnswerFacts(event.images, event.response)
    }

    var description: String {
      let words = error.map { "\($0)\(isErrorInCache ? " in cache" : "")" } ?? answer.map { "\($0)" }
      return "\(kind) " + (words ?? "-")
    }
  }

  var events: [Told]
  /// What was asked for, in order: `/` for the URL itself; whether with conditions.
  var asked: [String]

  /// The same, wherever in the cache it was. What is asked behind an answer goes on side by side.
  var anywhere: TicketFacts {
    var result = self
    result.asked.sort()
    for place in events.indices { result.events[place].answer = events[place].answer?.anywhere }
    return result
  }

  /// The same, for any number of sizes.
  var ofAnySizes: TicketFacts {
    var result = anywhere
    for place in events.indices {
      result.events[place].answer?.sizes = []
    }
    return result
  }

  /// The answer that the cache gave at once, while the server saw nothing.
  var hit: AnswerFacts? {
    guard asked.isEmpty, events.count == 1, events[0].kind == .cached else { return nil }
    return events[0].answer
  }

  /// What an inspection has to say, so that it says the same.
  var prospects: Set<String> {
    guard let last = events.last else { return [] }
    if asked.isEmpty {
      if last.kind == .cached { return ["hit"] }
      // A 504 of the cache's own.
      if last.kind == .fresh { return ["refuse: offline"] }
      // It was shown, and the server would have been asked.
      if last.error == .offline, events[0].kind == .cached { return ["revalidate"] }
      // What can't be decoded is an answer, too. More pixels than are allowed are none.
      if last.isErrorInCache, last.error != .tooManyPixels { return ["hit"] }
      return ["refuse: failed_before", "refuse: \(last.error?.word ?? "")"]
    }
    // Its server is asked behind it.
    if last.kind == .cached, last.answer?.isStale == true { return ["hit"] }
    if events[0].kind == .cached, events.count > 1 { return ["revalidate"] }
    return asked.contains { $0.hasSuffix("?") } ? ["revalidate"] : ["fetch"]
  }

  var description: String {
    "\(events.map { "\($0)" }.joined(separator: "; ")); asked: \(asked.joined(separator: " "))"
  }
}

/// What the cache says about a URL without asking the server.
struct GlanceFacts: Equatable, CustomStringConvertible {
  /// nil when nothing was given, or when there is no such peek.
  var peek: AnswerFacts?
  /// The same by URL and size alone; nil also where the request says more.
  var barePeek: AnswerFacts?
  var prospect: String
  /// Whether an inspection finds anything.
  var isStored: Bool

  var description: String {
    "peek: \(peek.map { "\($0)" } ?? "nil"), by URL alone: \(barePeek.map { "\($0)" } ?? "nil"); inspect: \(prospect)"
  }
}

extension Cache {
  func glance(_ url: String, _ asked: LookupRequest, _ sides: [Int]) throws -> GlanceFacts {
    let request = asked.request(url, sides)
    let (met, refusal) = try prospect(of: request)
    let prospect = refusal.map { "refuse: \($0.rawValue)" } ?? met.rawValue
    var facts = GlanceFacts(prospect: prospect, isStored: try inspect(request) != nil)
    facts.peek = try peekFacts(url, asked, sides)
    if asked.isBare {
      facts.barePeek =
        switch asked.form {
        case .bytes: try peekResponse(url).map { AnswerFacts($0) }
        case .one: try peek(url, size: sides[0]).map { AnswerFacts($0) }
        case .two: nil
        }
    }
    return facts
  }

  func peekFacts(
    _ url: String, _ asked: LookupRequest, _ sides: [Int], decode: Bool = false
  ) throws -> AnswerFacts? {
    guard asked.form == .one else { return nil }
    return try peek(asked.request(url, sides), decode: decode).map { AnswerFacts($0) }
  }

  /// Submits a request, answers what it asks, and waits until also what goes on behind its answer has ended.
  func facts(
    _ url: String, _ asked: LookupRequest, _ sides: [Int], _ server: TestServer
  ) throws -> TicketFacts {
    server.clearLog()
    let ticket = try submit(asked.request(url, sides))
    var events: [Event] = []
    repeat {
      guard let event = try ticket.next(within: 60_000) else { break }
      events.append(event)
      if let question = event.question {
        try ticket.answer(question, question.kind == .verdict ? .accept : .headers([("X-Added", "1")]))
      }
    } while events.last?.isFinal == false
    _ = shared.revalidations.wait(within: 60_000)
    return TicketFacts(events: events.map { TicketFacts.Told($0) }, asked: server.asked)
  }
}

extension TestServer {
  /// What was asked for since the log was cleared.
  var asked: [String] {
    requests.map { request in
      let isConditional = request.headers["If-None-Match"] != nil
      return (request.path.hasSuffix("/target") ? "target" : "/") + (isConditional ? "?" : "")
    }
  }
}
