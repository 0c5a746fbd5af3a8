/// A request as it was submitted, kept for those who submit it once more: where its plan is of no use for that.
final class AskedRequest: Sendable {
  let request: Request

  init(_ request: Request) { self.request = request }
}

extension RequestPlan {
  /// Whether it changes with its request, so that another one needs another.
  var isOfOneUse: Bool { download != nil || freezing != nil || inquiry != nil || terms.extras?.upload != nil }
}
