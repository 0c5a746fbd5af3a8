import NuthatchTransport

/// The terms of the last requests of a cache, for others that want the same.
final class TermsCache: Sendable {
  private struct Item {
    let request: Request
    let terms: RequestTerms
  }

  /// Programs mostly make a few kinds of requests, over and over.
  private static let most = 4

  private let items = Locked<[Item]>([])

  /// The terms of a request with the options of this one's cache.
  func terms(
    of request: Request, _ options: Cache.Options, _ url: WebURL
  ) throws(NuthatchError) -> RequestTerms {
    // What a site, a netrc or a password's place adds depends on the URL; what asks its program something keeps the request itself; what may be frozen
    // has a key of its own.
    guard request.site == nil, request.asks.isEmpty, request.isPlain, request.freezing == nil,
      !request.isReplay, request.netrc == nil, options.netrc == nil, request.userPlace == nil
    else { return try RequestTerms(request, options, url) }
    let known = items.withLock { items in items.first { $0.request.wantsTheSame(as: request) }?.terms }
    if let known { return known }
    let terms = try RequestTerms(request, options, url)
    // Room for all is room for what is large, too.
    guard request.body.isEmpty, request.headers.count <= 16 else { return terms }
    let dropped = items.withLock { items -> Item? in
      items.insert(Item(request: request, terms: terms), at: 0)
      return items.count > Self.most ? items.removeLast() : nil
    }
    // Let go outside of the lock.
    _ = consume dropped
    return terms
  }
}

extension Request {
  /// Whether files have no part in it.
  fileprivate var isPlain: Bool { upload == nil && saveTo.isEmpty && certificate == nil }

  /// Whether all is equal but the URL, what it alone decides (`cacheKey`, `ignoreQuery`), and what has no part in the terms
  /// (`priority`, `tag`).
  func wantsTheSame(as other: Request) -> Bool {
    return boxes == other.boxes && delivery == other.delivery && method == other.method
      && headers.elementsEqual(other.headers, by: { $0 == $1 }) && body == other.body
      && user?.name == other.user?.name && user?.password == other.user?.password
      && isAnonymous == other.isAnonymous
      && maxPixels == other.maxPixels && allowTruncated == other.allowTruncated
      && earlyStop == other.earlyStop
      && policy == other.policy && self.guard == other.guard && partition == other.partition
      && timeout == other.timeout && deadline == other.deadline && isBatched == other.isBatched
      && mayBeDeferred == other.mayBeDeferred
      && giveUpAfter == other.giveUpAfter && retries == other.retries
      && maxBytes == other.maxBytes && reportsProgress == other.reportsProgress && asks == other.asks
      && signIn == other.signIn && certificate == other.certificate && netrc == other.netrc
      && upload == other.upload && saveTo == other.saveTo && resumes == other.resumes
      && download === other.download && site == nil && other.site == nil
  }
}
