import NuthatchBase
import NuthatchTransport

/// The questions of a request to its program, and the consequences of the replies. Made for the first question.
///
/// Confined to the loop's thread, hence Sendable.
final class Questions: @unchecked Sendable {
  /// What the request does next.
  enum Next {
    /// Looks up the plan with the program's additions. It may be for another answer.
    case read(RequestPlan)
    case answer(FetchedAnswer)
    /// Makes another attempt, which may bring an answer.
    case fetch
    case fail(NuthatchError)
  }

  private static let mostChallenges = 10

  /// The question for whose reply the request waits.
  private struct Open {
    let question: Question
    let timer: LoopTimer
    let then: (Reply) -> Void
  }

  private let ticket: Ticket
  private let shared: SharedCache
  private var open: Open?
  private var count: UInt64 = 0
  /// The number of answers after which the program asked for a retry.
  private var rejected = 0
  /// The number of challenges that the program has answered.
  private var challenges = 0
  /// Whether the command that signs in has run again after a 401.
  private var hasSignedInAgain = false

  init(_ ticket: Ticket, _ shared: SharedCache) {
    self.ticket = ticket
    self.shared = shared
  }

  /// Asks for additional headers, before anything is looked up.
  func askForHeaders(_ plan: RequestPlan, then: @escaping (Next) -> Void) {
    ask(.headers, plan, about: nil) { reply in
      if case .headers = reply { return then(self.adding(reply, to: .headers, plan)) }
      then(self.adding(.headers([]), to: .headers, plan))
    }
  }

  // MARK: The command that signs in

  /// Runs the command that signs in at the host, before anything is looked up.
  func signIn(
    with command: SignInCommand, _ plan: RequestPlan, then: @escaping @Sendable (Next) -> Void
  ) {
    let loop = shared.runtime.loop
    command.find { outcome in
      loop.post { if self.ticket.isOpen { then(self.signedIn(outcome, plan)) } }
    }
  }

  /// Runs it again after a 401: a token may have expired.
  ///
  /// - Returns: false if it isn't to run.
  private func signInAgain(
    about fetched: FetchedAnswer, _ plan: RequestPlan, until deadline: Int64?,
    _ then: @escaping @Sendable (Next) -> Void
  ) -> Bool {
    guard !hasSignedInAgain, let signIn = plan.commandSignIn, let sent = signIn.headers,
      isChallenge(fetched, plan)
    else { return false }
    hasSignedInAgain = true
    let loop = shared.runtime.loop
    signIn.command.find(insteadOf: sent) { outcome in
      loop.post {
        guard self.ticket.isOpen else { return }
        // The server would refuse the same headers again.
        if case .success(let headers) = outcome, headers.elementsEqual(sent, by: ==) {
          return self.ask(about: fetched, plan, until: deadline, then: then)
        }
        then(self.signedIn(outcome, plan))
      }
    }
    return true
  }

  private func signedIn(_ outcome: SignInCommand.Outcome, _ plan: RequestPlan) -> Next {
    guard let questionContext = plan.questionContext else { return .read(plan) }
    do throws(NuthatchError) {
      return .read(try questionContext.plan(after: plan, signedInWith: try outcome.get()))
    } catch {
      return .fail(NuthatchError(error.code, "\(error.message): \(plan.url)"))
    }
  }

  // MARK: Questions about answers

  /// Asks about an answer from the network, if the request asks a question that fits it.
  ///
  /// - Parameter deadline: the time after which another attempt is too late.
  func ask(
    about fetched: FetchedAnswer, _ plan: RequestPlan, until deadline: Int64?,
    then: @escaping @Sendable (Next) -> Void
  ) {
    if signInAgain(about: fetched, plan, until: deadline, then) { return }
    guard let kind = question(about: fetched, plan) else { return then(.answer(fetched)) }
    let response = Response(
      url: ticket.url, head: fetched.head, body: fetched.body, fetched.provenance,
      limits: plan.limits)
    ask(kind, plan, about: response) { reply in
      switch reply {
      case .credentials:
        then(self.adding(reply, to: .credentials, plan, fetched.head.offersMoreThanBasic ? .any : nil))
      case .headers:
        self.challenges += 1
        then(self.adding(reply, to: .challenge, plan))
      case .reject(let reason):
        Self.discardSaved(plan)
        then(.fail(NuthatchError(.http, "\(reason): \(fetched.provenance.finalURL)")))
      case .retry: self.tryAgain(fetched, plan, until: deadline, then)
      case .pass, .accept: self.storeJudged(fetched, plan, then)
      }
    }
  }

  private func question(about fetched: FetchedAnswer, _ plan: RequestPlan) -> Question.Kind? {
    guard let questionContext = plan.questionContext else { return nil }
    let asks = questionContext.request.asks
    let isChallenge = isChallenge(fetched, plan)
    if isChallenge, plan.credentials == nil, asks.contains(.credentials) { return .credentials }
    if isChallenge, asks.contains(.challenge), challenges < Self.mostChallenges { return .challenge }
    return asks.contains(.verdict) ? .verdict : nil
  }

  /// Only for the request's own origin. After a redirect to another origin, the reply would be sent to the redirecting one. A
  /// URL that can't be parsed has no origin.
  private func isChallenge(_ fetched: FetchedAnswer, _ plan: RequestPlan) -> Bool {
    fetched.head.status == 401
      && (try? WebURL(fetched.provenance.finalURL))?.origin == plan.questionContext?.origin
  }

  // MARK: Replies

  private func adding(
    _ reply: Reply, to kind: Question.Kind, _ plan: RequestPlan, _ signIn: SignIn? = nil
  ) -> Next {
    guard let questionContext = plan.questionContext else { return .read(plan) }
    do throws(NuthatchError) {
      return .read(try questionContext.plan(after: plan, adding: reply, to: kind, signIn))
    } catch {
      return .fail(error)
    }
  }

  /// Stores the answer that waited for the program's verdict, then goes on with it.
  private func storeJudged(
    _ fetched: FetchedAnswer, _ plan: RequestPlan, _ then: @escaping @Sendable (Next) -> Void
  ) {
    guard let store = fetched.store else { return then(.answer(fetched)) }
    let isSubmitted = shared.runtime.workers.submit(priority: plan.priority) {
      var fetched = fetched
      fetched.provenance.isStored = store()
      self.shared.runtime.loop.post { [fetched] in then(.answer(fetched)) }
    }
    if !isSubmitted { then(.answer(fetched)) }
  }

  private func tryAgain(
    _ fetched: FetchedAnswer, _ plan: RequestPlan, until deadline: Int64?, _ then: @escaping (Next) -> Void
  ) {
    rejected += 1
    var policy = shared.retryPolicy
    policy.retries = plan.retries
    let loop = shared.runtime.loop
    // Retry regardless of the method: the program has rejected the answer and takes the responsibility.
    let decision = policy.decide(
      attempt: rejected, outcome: .fault(.truncated), method: nil, remaining: deadline.map { $0 &- loop.now })
    guard case .retry(let wait) = decision else {
      Self.discardSaved(plan)
      return then(
        .fail(
          NuthatchError(
            .http,
            "the program rejected all \(rejected) answers (verdict: retry), and no attempt is left: \(fetched.provenance.finalURL)"
          )))
    }
    do throws(NuthatchError) { try plan.download?.discard() } catch { return then(.fail(error)) }
    // If the ticket ends meanwhile, nothing is fetched.
    _ = loop.at(loop.now &+ wait) { then(.fetch) }
  }

  /// Discards the saved bytes, so that they aren't resumed. Ignores the error of streams, which can't take bytes back.
  private static func discardSaved(_ plan: RequestPlan) { _ = try? plan.download?.discard() }

  // MARK: Asking

  private func ask(
    _ kind: Question.Kind, _ plan: RequestPlan, about response: Response?, then: @escaping (Reply) -> Void
  ) {
    let loop = shared.runtime.loop
    count += 1
    let question = Question(kind: kind, url: plan.url.description, response: response, number: count)
    let timer = loop.at(loop.now &+ Question.timeLimit) { [weak self] in
      self?.take(.pass, to: question.number)
    }
    open = Open(question: question, timer: timer, then: then)
    ticket.ask(question) { reply in
      loop.post { self.take(reply, to: question.number) }
    }
  }

  private func take(_ reply: Reply, to number: UInt64) {
    guard let open, open.question.number == number else { return }
    drop()
    if ticket.isOpen { open.then(reply) }
  }

  /// Withdraws the open question.
  func drop() {
    guard let open else { return }
    shared.runtime.loop.cancelTimer(open.timer)
    self.open = nil
    ticket.unask(open.question)
  }

  /// Handles the deadline. Returns true if an answer is there and only a question about it was open; the answer then passes.
  func passAtDeadline() -> Bool {
    guard let open, open.question.kind != .headers else { return false }
    take(.pass, to: open.question.number)
    return true
  }
}

extension ResponseHead {
  fileprivate var offersMoreThanBasic: Bool {
    challenges.contains { ["digest", "ntlm", "negotiate"].contains($0.scheme) }
  }
}
