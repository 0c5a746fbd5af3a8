import NuthatchTransport

/// The original request and options. A task needs them to ask its program and to plan again after a reply.
final class QuestionContext: Sendable {
  let request: Request
  let options: Options
  /// The origin of the request's URL. The program's replies are sent only there.
  let origin: Origin

  init(request: Request, options: Options, origin: Origin) {
    self.request = request
    self.options = options
    self.origin = origin
  }

  /// - Parameters:
  ///   - plan: the plan of the request so far.
  ///   - signIn: the sign-in method that the challenge asks for.
  func plan(
    after plan: RequestPlan, adding reply: Reply, to kind: Question.Kind, _ signIn: SignIn?
  ) throws(NuthatchError) -> RequestPlan {
    var request = keyed(plan)
    // Don't ask this question again. Only a challenge may have several steps.
    if kind != .challenge {
      request.asks.remove(kind)
      request.asksNot.insert(kind)
    }
    switch reply {
    case .headers(let fields):
      // There must be only one idempotency key: the program's.
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
  /// - Parameter headers: those of the program that signs in at the host.
  func plan(
    after plan: RequestPlan, signedInWith headers: SignInCommand.Headers
  ) throws(NuthatchError) -> RequestPlan {
    var request = keyed(plan)
    request.signedIn = headers
    return try RequestPlan(request, options)
  }

  /// Returns the request with the idempotency key of its plan, because the server may have received it already.
  private func keyed(_ plan: RequestPlan) -> Request {
    var request = request
    if plan.freezingPlan != nil,
      !request.headers.contains(where: { $0.name.equalsIgnoringCase("Idempotency-Key") }),
      let key = plan.headers.fields.first(where: \.isIdempotencyKey)
    {
      request.headers.append((key.name, key.value))
    }
    return request
  }
}
