import NuthatchTransport

/// The terms of the last requests of a cache, for others that want the same.
final class TermsCache: Sendable {
  private struct Item {
    let request: Request
    let terms: SharedTerms
  }

  /// Programs mostly make a few kinds of requests, over and over.
  private static let most = 4

  private let items = Locked<[Item]>([])

  /// The terms of a request with the options of this one's cache.
  func terms(
    of request: Request, _ options: Options, _ url: WebURL
  ) throws(NuthatchError) -> SharedTerms {
    let known = items.withLock { items in items.first { $0.request.wantsTheSame(as: request) }?.terms }
    if let known { return known }
    let terms = SharedTerms(try RequestTerms(request, options, OutsideReadings(url)))
    // Room for all is room for what is large, too.
    guard terms.terms.isMemorable, request.body.isEmpty, request.headers.count <= 16 else { return terms }
    let dropped = items.withLock { items -> Item? in
      items.insert(Item(request: request, terms: terms), at: 0)
      return items.count > Self.most ? items.removeLast() : nil
    }
    // Let go outside of the lock.
    _ = consume dropped
    return terms
  }
}
