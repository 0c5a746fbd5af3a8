import NuthatchTransport

/// A request as it was submitted, kept so that it can be submitted again. For requests whose plan can't be reused.
final class RepeatableRequest: Sendable {
  let request: Request
  /// The `Idempotency-Key` that the library has added. Nil if the request has its own or needs none.
  let key: String?

  init(_ request: Request) {
    self.request = request
    key = nil
  }

  init(_ request: Request, _ plan: RequestPlan) {
    self.request = request
    let isOwn = request.headers.contains { $0.name.equalsIgnoringCase("Idempotency-Key") }
    key =
      plan.freezingPlan == nil || isOwn ? nil : plan.headers.fields.first(where: \.isIdempotencyKey)?.value
  }

  /// The same request with the same key: its server may have received it and must not execute it twice.
  var again: Request {
    guard let key else { return request }
    var again = request
    again.headers.append(("Idempotency-Key", key))
    return again
  }
}

extension RequestPlan {
  /// Whether the plan is for one use only, so that a repeated request needs a new one.
  var isOfOneUse: Bool {
    terms.download != nil || terms.freezingPlan != nil || terms.questionContext != nil
      || terms.extras?.upload != nil
  }
}
