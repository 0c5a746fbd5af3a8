import NuthatchTransport

/// A request as it was submitted, kept for those who submit it once more: where its plan is of no use for that.
final class RepeatableRequest: Sendable {
  let request: Request
  /// The `Idempotency-Key` that it was given; nil when it came with one, or needs none.
  let key: String?

  init(_ request: Request) {
    self.request = request
    key = nil
  }

  init(_ request: Request, _ plan: RequestPlan) {
    self.request = request
    let isOwn = request.headers.contains { $0.name.equalsIgnoringCase("Idempotency-Key") }
    key = plan.freezing == nil || isOwn ? nil : plan.headers.fields.first(where: \.isIdempotencyKey)?.value
  }

  /// The same request still: its server may have had it, and isn't to do it twice.
  var again: Request {
    guard let key else { return request }
    var again = request
    again.headers.append(("Idempotency-Key", key))
    return again
  }
}

extension RequestPlan {
  /// Whether it changes with its request, so that another one needs another.
  var isOfOneUse: Bool {
    terms.download != nil || terms.freezing != nil || terms.inquiry != nil || terms.extras?.upload != nil
  }
}
