import NuthatchTransport

/// An answer from the network, admitted.
struct FetchedAnswer: Sendable {
  let head: ResponseHead
  let body: SharedBytes
  /// Nil for answers that are no pictures, or when none was wanted.
  let content: Digest?
  let pictures: [Recipe: Result<Picture, NuthatchError>]
  var provenance: Provenance
  /// Whether a public server has had a part in it.
  var isFromPublic = false
  /// Stores it, on a worker's thread, if it may be stored; false when it isn't. Nil when that has been done.
  var keep: (@Sendable () -> Bool)?
}

extension FetchedAnswer {
  /// The error where a picture is wanted, and the server has none.
  var noPicture: NuthatchError? {
    guard !(200..<300).contains(head.status) else { return nil }
    var error = NuthatchError(
      .http, "HTTP \(head.status) instead of a picture: \(provenance.finalURL)", status: head.status)
    error.attempts = provenance.journey.attempts
    return error
  }

  /// What the sizes of a request are to be made from; nil where they were made already.
  func pictureSource(_ plan: RequestPlan) -> PictureSource? {
    guard let content, plan.recipes.contains(where: { pictures[$0] == nil }) else { return nil }
    return PictureSource(content: content, url: provenance.finalURL, body: body)
  }
}
