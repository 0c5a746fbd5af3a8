import NuthatchTransport

/// An answer from the network, after `AnswerProcessor`.
struct FetchedAnswer: Sendable {
  let head: ResponseHead
  let body: SharedBytes
  /// The digest of the body. Nil after an early stop, and for an attempt after which the fetch goes on.
  let content: Digest?
  let pictures: [Recipe: Result<Picture, NuthatchError>]
  var provenance: Provenance
  /// Whether a public server has taken part in the answer.
  var isFromPublic = false
  /// Stores the answer on a worker's thread, if it may be stored. Returns whether it is stored. Nil: there is nothing
  /// left to store.
  var store: (@Sendable () -> Bool)?
}

extension FetchedAnswer {
  /// The error if a picture is wanted and the server has sent none.
  var noPicture: NuthatchError? {
    guard !(200..<300).contains(head.status) else { return nil }
    var error = NuthatchError(
      .http, "HTTP \(head.status) instead of a picture: \(provenance.finalURL)", status: head.status)
    error.attempts = provenance.journey.attempts
    return error
  }

  /// Returns the source of the request's pictures. Nil if all of them were made already.
  func pictureSource(_ plan: RequestPlan) -> PictureSource? {
    guard let content, plan.recipes.contains(where: { pictures[$0] == nil }) else { return nil }
    return PictureSource(content: content, url: provenance.finalURL, body: body)
  }
}
