import NuthatchTransport

/// The terms of a cache's last requests, for other requests that want the same.
final class TermsCache: Sendable {
  private struct Item {
    let request: Request
    let terms: SharedTerms
  }

  /// Most programs make only a few kinds of requests.
  private static let most = 4

  private let items = Locked<[Item]>([])

  /// Returns the terms of a request. `options` must be those of this object's cache.
  func terms(
    of request: Request, _ options: Options, _ url: WebURL
  ) throws(NuthatchError) -> SharedTerms {
    let known = items.withLock { items in items.first { $0.request.wantsTheSame(as: request) }?.terms }
    if let known { return known }
    let terms = SharedTerms(try RequestTerms(request, options, OutsideReadings(url)))
    // Don't keep large requests.
    guard terms.terms.isMemorable, request.body.isEmpty, request.headers.count <= 16 else { return terms }
    let dropped = items.withLock { items -> Item? in
      items.insert(Item(request: request, terms: terms), at: 0)
      return items.count > Self.most ? items.removeLast() : nil
    }
    // Release it outside of the lock.
    _ = consume dropped
    return terms
  }
}
