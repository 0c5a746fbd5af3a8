/// One case of the public cache test suite (http-tests/cache-tests): our own wording of what it exchanges and of what
/// must be seen. The identifiers are the suite's.
struct Case: Sendable {
  enum Kind: String, Sendable {
    /// RFC 9111 demands it.
    case required
    /// A good cache does it.
    case optimal
    /// No standard demands it.
    case check
  }

  let kind: Kind
  let id: String
  /// Whether the suite runs it with browsers, and so counts it for a private cache.
  var isForBrowsers = true
  let steps: [Step]

  init(_ kind: Kind, _ id: String, _ steps: [Step]) {
    self.kind = kind
    self.id = id
    self.steps = steps
  }

  /// An answer with these fields, a pause unless said otherwise, and what a second request sees.
  init(_ kind: Kind, _ id: String, _ answer: Lines, _ seen: Step.Seen, pause: Bool = true) {
    self.init(kind, id, [Step(answer: answer, pause: pause), Step(seen)])
  }

  /// The suite doesn't run it with browsers, but it says something about us.
  func beyondBrowsers() -> Case {
    var result = self
    result.isForBrowsers = false
    return result
  }
}

/// A request, the answer that the server has for it, and what must be seen.
struct Step: Sendable {
  enum Seen: Sendable, Equatable {
    case anything
    /// An earlier step's answer, and nothing reaches the server.
    case cached
    /// An earlier step's answer; the server may be asked behind it.
    case cachedAtOnce
    /// This step's answer.
    case notCached
    /// The server is asked with this field whether the step before still holds, and says so.
    case validated(String)

    static let etagValidated = validated("If-None-Match")
    static let dateValidated = validated("If-Modified-Since")
  }

  var seen = Seen.anything

  var method = "GET"
  /// Behind the case's own path.
  var path = ""
  var request: Lines = [:]
  var sent = ""

  var interim: [(status: Int, fields: Lines)] = []
  var status = 200
  var answer: Lines = [:]
  /// nil: the case's own text.
  var content: String?
  /// The server closes the connection instead of answering.
  var disconnects = false
  /// Seconds that the answer takes.
  var delay: Int64 = 0

  /// Three seconds pass after the step.
  var pause = false

  /// nil: the status of the answer.
  var wantsStatus: Int?
  /// A made-up answer of any status will do.
  var takesAnyStatus = false
  /// nil: the body of the answer.
  var wantsContent: String?
  var checksContent = true
  /// Fields that the response has, with these values.
  var wants: Lines = [:]
  /// A field whose number is above another.
  var wantsAbove: (name: String, number: Int)?
  /// Fields that the response doesn't have.
  var lacks: [String] = []
  /// Fields that the server sees, with these values.
  var serverSees: Lines = [:]
  var interimSeen: [Int]?

  init(_ seen: Seen = .anything) { self.seen = seen }

  init(_ seen: Seen = .anything, request: Lines = [:], answer: Lines = [:], pause: Bool = false) {
    self.seen = seen
    self.request = request
    self.answer = answer
    self.pause = pause
  }

  /// Fresh for a day, then a pause.
  static func fresh(_ more: Lines = [:]) -> Step {
    Step(answer: ["Cache-Control": "max-age=100000", "Date": .now] + more, pause: true)
  }

  /// Stale from the start, then a pause.
  static let stale = Step(
    answer: ["Expires": .at(-5000), "Last-Modified": .at(-100_000), "Date": .now], pause: true)

  /// Fresh for two seconds, then a pause.
  static func becomesStale(_ more: Lines = [:]) -> Step {
    Step(answer: ["Cache-Control": "max-age=2", "Date": .now, "Template-A": "1"] + more, pause: true)
  }

  func with(_ change: (inout Step) -> Void) -> Step {
    var step = self
    change(&step)
    return step
  }
}

/// Header fields in order; times are counted from the moment at which the server answers.
struct Lines: Sendable, ExpressibleByDictionaryLiteral {
  enum Value: Sendable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    case text(String)
    /// A date so many seconds from now.
    case at(Int64)
    /// The URL of another step of the case.
    case url(String)

    static let now = at(0)

    init(stringLiteral text: String) { self = .text(text) }
  }

  var lines: [(name: String, value: Value)]

  init(_ lines: [(name: String, value: Value)] = []) { self.lines = lines }

  init(dictionaryLiteral lines: (String, Value)...) { self.lines = lines.map { ($0.0, $0.1) } }

  static func + (left: Lines, right: Lines) -> Lines {
    var result = left
    result.lines += right.lines
    return result
  }
}
