import Glibc
import NuthatchCore
import NuthatchTransport
import TestServer

/// Plays cases end to end: a cache under `rfc9111` with a clock that is moved, against the server on loopback.
final class Runner {
  private let clock: TestClock
  private let bench: Bench

  init() throws {
    let clock = TestClock()
    self.clock = clock
    bench = try Bench {
      $0.clock = clock.wall
      $0.policy = .rfc9111
    }
  }

  /// Why a case fails; nil when it passes.
  func failure(of test: Case) throws -> String? {
    bench.server.clearLog()
    let exchange = CaseServer(test, clock: clock)
    bench.server.on(prefix: exchange.path) { exchange.answer($0) }
    defer { bench.server.off(exchange.path) }
    for (index, step) in test.steps.enumerated() {
      let number = index + 1
      var request = Request(bench.server.url(exchange.path + step.path))
      request.method = step.method
      request.body = Array(step.sent.utf8)
      request.delivery = .fresh
      request.headers =
        exchange.resolved(step.request).map { ($0.name, $0.value) } + [("Step", String(number))]
      let ended = fetchesEnded
      let response: Response
      do throws(NuthatchError) {
        response = try bench.cache.submit(request).result()
      } catch {
        return "step \(number): \(error)"
      }
      if let fault = Verdict(exchange, step, number, response).fault { return "step \(number): \(fault)" }
      // The pauses leave time for all exchanges to end: the suite's are longer than an exchange.
      if step.seen == .cachedAtOnce { waitForFetch(after: ended) }
      if step.pause { clock.advance(seconds: 3) }
    }
    return nil
  }

  private var fetchesEnded: Int {
    let statistics = bench.cache.statistics
    return statistics.fetched + statistics.revalidated + statistics.failed
  }

  private func waitForFetch(after count: Int) {
    for _ in 0..<30_000 where fetchesEnded == count { usleep(1000) }
  }
}

/// The server's side of a case.
final class CaseServer: Sendable {
  let test: Case
  let path: String
  private let clock: TestClock
  private let log = Locked<[Visit]>([])

  /// A request that came, and the fields that it was answered with.
  struct Visit: Sendable {
    let step: Int
    let request: ReceivedRequest
    let answer: HeaderLines
  }

  init(_ test: Case, clock: TestClock) {
    self.test = test
    self.clock = clock
    path = "/\(test.id)/"
  }

  /// What came for a step.
  func visits(_ step: Int) -> [Visit] { log.withLock { $0.filter { $0.step == step } } }

  func resolved(_ lines: Lines) -> [(name: String, value: String)] {
    lines.lines.map { line in
      switch line.value {
      case .text(let text): (line.name, text)
      case .at(let offset): (line.name, httpDate(Int(clock.wall.nanoseconds() / 1_000_000_000 + offset)))
      case .url(let name): (line.name, path + name)
      }
    }
  }

  func answer(_ request: ReceivedRequest) -> Script {
    guard let number = request.headers["Step"].flatMap({ Int($0) }), test.steps.indices.contains(number - 1)
    else { return Script(status: 500) }
    let step = test.steps[number - 1]
    clock.advance(seconds: step.delay)
    var script = Script(status: step.status)
    if case .validated(let name) = step.seen { script.status = status(number, request, name) }
    script.headers = ["Answer": "\(number)"]
    for (name, value) in resolved(step.answer) { script.headers.add(name, value) }
    if step.answer.lines.allSatisfy({ $0.name != "Content-Type" }) {
      script.headers.add("Content-Type", "text/plain")
    }
    let visit = Visit(step: number, request: request, answer: script.headers)
    log.withLock { $0.append(visit) }
    if step.disconnects { return .raw([.close]) }
    script.steps = step.interim.map { .interim($0.status, fields($0.fields)) }
    if script.status != 204, script.status != 304 { script.steps.append(.text(step.content ?? test.id)) }
    if script.headers["Transfer-Encoding"] != nil { script.framing = .untilClose }
    return script
  }

  private func fields(_ lines: Lines) -> HeaderLines {
    HeaderLines(resolved(lines).map { HeaderLines.Line($0.name, $0.value) })
  }

  /// 304 when the request's condition is the one that an earlier step made possible.
  private func status(_ number: Int, _ request: ReceivedRequest, _ name: String) -> Int {
    let validator = name == "If-None-Match" ? "ETag" : "Last-Modified"
    let before = (1..<number).reversed().compactMap { visits($0).last?.answer[validator] }.first
    return before != nil && before == request.headers[name] ? 304 : 999
  }
}

/// What a step must have seen, and didn't.
struct Verdict {
  private(set) var fault: String?
  private let response: Response

  init(_ exchange: CaseServer, _ step: Step, _ number: Int, _ response: Response) {
    self.response = response
    let visits = exchange.visits(number)
    checkSource(step, number, visits)
    checkStatus(step)
    checkContent(step, exchange.test.id)
    checkFields(step, exchange, visits)
    for (name, value) in exchange.resolved(step.serverSees)
    where visits.last?.request.headers.values(of: name) != [value] {
      note("the server saw \(visits.last?.request.headers.values(of: name) ?? []) as \(name), not \(value)")
    }
    if let wanted = step.interimSeen, response.interim.map(\.status) != wanted {
      note("interim answers \(response.interim.map(\.status)), not \(wanted)")
    }
  }

  private mutating func note(_ fault: String) { self.fault = self.fault ?? fault }

  private mutating func checkSource(_ step: Step, _ number: Int, _ visits: [CaseServer.Visit]) {
    let answered = response.header("Answer").flatMap { Int($0) }
    switch step.seen {
    case .anything: break
    case .cached, .cachedAtOnce:
      if answered.map({ $0 >= number }) ?? true { note("not from the cache") }
      if !response.isInCache { note("not said to be from the cache") }
      if step.seen == .cached, !step.disconnects, step.status != 503, !visits.isEmpty {
        note("the server was asked")
      }
    case .notCached:
      if answered != number || visits.count != 1 { note("from the cache") }
      if response.isInCache { note("said to be from the cache") }
    case .validated(let name):
      if visits.count != 1 { note("the server was asked \(visits.count) times") }
      if visits.last?.request.headers[name] == nil { note("the server was asked without \(name)") }
      if response.source != .revalidated { note("not said to be validated") }
    }
  }

  private mutating func checkStatus(_ step: Step) {
    if step.takesAnyStatus { return }
    let wanted = step.wantsStatus ?? step.status
    if response.status != wanted { note("status \(response.status), not \(wanted)") }
  }

  private mutating func checkContent(_ step: Step, _ id: String) {
    guard step.checksContent, step.method != "HEAD", ![204, 304].contains(response.status) else { return }
    let wanted = step.wantsContent ?? step.content ?? id
    if response.text != wanted { note("the body is \(response.text), not \(wanted)") }
  }

  private mutating func checkFields(_ step: Step, _ exchange: CaseServer, _ visits: [CaseServer.Visit]) {
    for (name, value) in exchange.resolved(step.wants) where value != joined(name) {
      note("\(name) is \(joined(name) ?? "missing"), not \(value)")
    }
    if let (name, number) = step.wantsAbove, response.header(name).flatMap({ Int($0) }) ?? -1 <= number {
      note("\(name) is \(joined(name) ?? "missing"), not above \(number)")
    }
    for name in step.lacks where response.header(name) != nil { note("has \(name)") }
    // The fields of the server's last answer must arrive as they were sent, repeated lines apart.
    guard let visit = visits.last, !step.disconnects, response.header("Answer") == visit.answer["Answer"]
    else { return }
    for name in Set(visit.answer.lines.map(\.name)) where step.wants.lines.allSatisfy({ $0.name != name }) {
      let lines = response.headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
      let sent = visit.answer.values(of: name)
      if lines != sent, response.source == .network || !Self.passing.contains(name.lowercased()) {
        note("\(name) arrived as \(lines), not as \(sent)")
      }
    }
  }

  /// What a 304 says of itself.
  private static let passing: Set = ["date", "age", "connection", "content-length"]

  private func joined(_ name: String) -> String? {
    let lines = response.headers.filter { $0.name.lowercased() == name.lowercased() }
    return lines.isEmpty ? nil : lines.map(\.value).joined(separator: ", ")
  }
}
