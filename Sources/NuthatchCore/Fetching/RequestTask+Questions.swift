import NuthatchTransport

/// What a task needs in order to ask its program, and to go on with what it is told.
final class QuestionContext: Sendable {
  let request: Request
  let options: Cache.Options
  /// Of its URL: what the program answers is sent there.
  let origin: Origin

  init(request: Request, options: Cache.Options, origin: Origin) {
    self.request = request
    self.options = options
    self.origin = origin
  }

  /// - Parameters:
  ///   - plan: how far it has come.
  ///   - signIn: what a challenge asks for.
  func plan(
    after plan: RequestPlan, adding reply: Reply, to kind: Question.Kind, _ signIn: SignIn?
  ) throws(NuthatchError) -> RequestPlan {
    var request = request
    // The server may have seen it: this is the same request still.
    if plan.freezing != nil,
      !request.headers.contains(where: { $0.name.equalsIgnoringCase("Idempotency-Key") }),
      let key = plan.headers.fields.first(where: \.isIdempotencyKey)
    {
      request.headers.append((key.name, key.value))
    }
    // Asked and answered; only a challenge may have several steps.
    if kind != .challenge { request.asks.remove(kind) }
    switch reply {
    case .headers(let fields):
      // There is one key of a repetition: the program's own.
      request.headers.removeAll { old in
        (kind == .challenge || old.name.equalsIgnoringCase("Idempotency-Key"))
          && fields.contains { $0.name.equalsIgnoringCase(old.name) }
      }
      request.headers += fields
    case .credentials(let name, let password):
      request.user = (name, password)
      request.signIn = request.signIn ?? signIn
      request.freezing?.answered = plan.freezing?.asked?.provider
    case .pass, .accept, .reject, .retry: break
    }
    return try RequestPlan(request, options)
  }
}

/// What a task and its program say to each other.
final class Talk {
  var open: OpenQuestion?
  /// How many questions there have been, and how many answers the program didn't take.
  var questions: UInt64 = 0
  var refusals = 0
  /// How many challenges it has answered.
  var challenges = 0

  static let mostChallenges = 10
}

/// The question that a task waits with.
struct OpenQuestion {
  let question: Question
  let timer: EventLoop.TimerID
  let then: (Reply) -> Void
}

extension RequestTask {
  func askForHeaders() {
    ask(.headers, about: nil) { reply in
      if case .headers = reply { return self.goOn(reply, to: .headers) }
      self.goOn(.headers([]), to: .headers)
    }
  }

  /// What is to be asked about an answer from the network; nil when it can be delivered as it is.
  func question(about fetched: FetchedAnswer) -> Question.Kind? {
    guard let inquiry = plan.inquiry else { return nil }
    let asks = inquiry.request.asks
    // What the program says for another origin, to which a redirect has led, would be sent to the one that redirects there. An
    // address that can't be read is no origin's.
    let isAsked =
      fetched.head.status == 401 && (try? WebURL(fetched.origin.finalURL))?.origin == inquiry.origin
    if isAsked, plan.credentials == nil, asks.contains(.credentials) { return .credentials }
    if isAsked, asks.contains(.challenge), (talk?.challenges ?? 0) < Talk.mostChallenges { return .challenge }
    return asks.contains(.verdict) ? .verdict : nil
  }

  func ask(_ kind: Question.Kind, about fetched: FetchedAnswer) {
    let response = Response(
      url: ticket.url, head: fetched.head, body: fetched.body, origin: fetched.origin,
      maxPixels: plan.maxPixels)
    ask(kind, about: response) { self.heed($0, fetched) }
  }

  private func heed(_ reply: Reply, _ fetched: FetchedAnswer) {
    switch reply {
    case .credentials: goOn(reply, to: .credentials, fetched.head.asksForMoreThanBasic ? .any : nil)
    case .headers:
      talk?.challenges += 1
      goOn(reply, to: .challenge)
    case .reject(let reason):
      refuseSaved()
      fail(NuthatchError(.http, "\(reason): \(fetched.origin.finalURL)"))
    case .retry: tryAgain(fetched)
    case .pass, .accept: keep(fetched)
    }
  }

  /// What was held back until now is stored, and then delivered.
  private func keep(_ fetched: FetchedAnswer) {
    guard let keep = fetched.keep else { return deliver(fetched) }
    let isSubmitted = runtime.workers.submit(priority: priority) {
      var fetched = fetched
      fetched.origin.isStored = keep()
      self.runtime.loop.post { [fetched] in self.deliver(fetched) }
    }
    if !isSubmitted { deliver(fetched) }
  }

  private func tryAgain(_ fetched: FetchedAnswer) {
    let talk = talking
    talk.refusals += 1
    var policy = shared.retryPolicy
    policy.retries = plan.retries
    // Whatever its method: who knows the answer to be none knows that it may be sent again.
    let decision = policy.decide(
      attempt: talk.refusals, outcome: .fault(.truncated), method: nil, remaining: remaining)
    guard case .retry(let wait) = decision else {
      refuseSaved()
      return fail(
        NuthatchError(
          .http, "the program took none of \(talk.refusals) answers for one: \(fetched.origin.finalURL)"))
    }
    do throws(NuthatchError) { try plan.download?.refuse() } catch { return fail(error) }
    // A ticket that ends meanwhile has nothing left to fetch for.
    _ = runtime.loop.at(runtime.loop.now &+ wait) { self.fetch() }
  }

  /// Nothing of it is kept to be gone on with. What streams were given they can't give back: the error says enough.
  private func refuseSaved() { _ = try? plan.download?.refuse() }

  /// Goes on with what the program has added. Whose answer it is may be another matter now.
  private func goOn(_ reply: Reply, to kind: Question.Kind, _ signIn: SignIn? = nil) {
    guard let inquiry = plan.inquiry else { return }
    do throws(NuthatchError) {
      let last = plan
      plan = try inquiry.plan(after: last, adding: reply, to: kind, signIn)
      plan.freezing?.takeOver(last.freezing)
    } catch {
      return fail(error)
    }
    let plan = plan
    let isSubmitted = runtime.workers.submit(priority: priority) {
      let found = self.shared.find(plan)
      let failure = self.shared.decide(found, plan).failure
      self.runtime.loop.post {
        if let failure { return self.fail(failure) }
        if let freezing = plan.freezing {
          return kind == .headers ? self.beginFreezable(freezing) : self.goOnFreezable(freezing)
        }
        self.decide(found)
      }
    }
    if !isSubmitted { fail(runtime.workers.refusal) }
  }

  // MARK: Asking

  private var talking: Talk {
    if let talk { return talk }
    let new = Talk()
    talk = new
    return new
  }

  private func ask(_ kind: Question.Kind, about response: Response?, then: @escaping (Reply) -> Void) {
    let loop = runtime.loop
    let talk = talking
    talk.questions += 1
    let question = Question(
      kind: kind, url: plan.url.description, response: response, number: talk.questions)
    let timer = loop.at(loop.now &+ Question.patience) { [weak self] in self?.take(.pass, to: question.number)
    }
    talk.open = OpenQuestion(question: question, timer: timer, then: then)
    ticket.ask(question) { reply in
      loop.post { self.take(reply, to: question.number) }
    }
  }

  private func take(_ reply: Reply, to number: UInt64) {
    guard let open = talk?.open, open.question.number == number else { return }
    dropQuestion()
    guard ticket.isOpen else { return }
    open.then(reply)
  }

  func dropQuestion() {
    guard let open = talk?.open else { return }
    runtime.loop.cancelTimer(open.timer)
    talk?.open = nil
    ticket.unask(open.question)
  }

  /// The deadline has come. True when an answer is at hand about which there was only a question left.
  func answersAtDeadline() -> Bool {
    guard let open = talk?.open, open.question.kind != .headers else { return false }
    take(.pass, to: open.question.number)
    return true
  }
}

extension ResponseHead {
  fileprivate var asksForMoreThanBasic: Bool {
    challenges.contains { ["digest", "ntlm", "negotiate"].contains($0.scheme) }
  }
}
