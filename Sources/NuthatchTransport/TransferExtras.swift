/// What few requests have. Apart from the others', which pay one pointer for it.
package final class TransferExtras: Sendable {
  /// In the place of `body`.
  package let upload: BodySource?

  package init(upload: BodySource? = nil) {
    self.upload = upload
  }

  /// What a redirect takes along; nil for nothing.
  ///
  /// - Parameters:
  ///   - sendsBody: whether the next request has the body of this one.
  package func following(sendsBody: Bool) -> TransferExtras? {
    sendsBody ? self : nil
  }
}

extension TransferRequest {
  /// Whether there is a body to send.
  package var hasBody: Bool { !body.isEmpty || extras?.upload != nil }

  /// How many bytes there are to send.
  package var bodyCount: Int64 { extras?.upload?.count ?? Int64(body.count) }
}
