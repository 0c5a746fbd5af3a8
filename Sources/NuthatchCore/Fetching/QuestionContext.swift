import NuthatchTransport

/// What a task needs in order to ask its program, and to go on with what it is told.
final class QuestionContext: Sendable {
  let request: Request
  let options: Options
  /// Of its URL: what the program answers is sent there.
  let origin: Origin

  init(request: Request, options: Options, origin: Origin) {
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
    if kind != .challenge {
      request.asks.remove(kind)
      request.asksNot.insert(kind)
    }
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
      request.freezing?.isAnswered = true
    case .pass, .accept, .reject, .retry: break
    }
    return try RequestPlan(request, options)
  }
}
