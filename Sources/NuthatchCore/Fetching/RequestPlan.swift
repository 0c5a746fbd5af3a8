import NuthatchTransport

/// A request that has been checked, with every default filled in: nothing about it can be wrong any more.
///
/// An object, because task and fetch share it, and a hundred thousand of them may wait. Has the members of its terms.
@dynamicMemberLookup
final class RequestPlan: Sendable {
  /// What it shares with other requests.
  let sharedTerms: SharedTerms
  let url: WebURL
  let name: AnswerName
  /// How many redirects, each a request of its own, have led here.
  let hops: Int
  /// Whether one of them was stale, so that what it leads to may not be what it would lead to now.
  let isBehindStale: Bool
  /// Whether a public server sent the request here (`TransferRequest.isSentByPublic`).
  let isSentByPublic: Bool
  let priority: Int

  var terms: RequestTerms { _read { yield sharedTerms.terms } }

  /// Not for key paths that are passed on, such as `map(\.plan.retries)`: one of a dynamic member is made anew each time, which
  /// takes 50,000 instructions.
  subscript<Value>(dynamicMember member: KeyPath<RequestTerms, Value>) -> Value {
    sharedTerms.terms[keyPath: member]
  }

  /// The URL's own, where the request was given none.
  var credentials: (user: [UInt8], password: [UInt8])? { terms.credentials ?? url.credentials }
  /// Whether the program says of each new answer whether it is one: none comes without it.
  var wantsVerdict: Bool { terms.inquiry?.request.asks.contains(.verdict) == true }
  /// Whether the program says who asks, so that nothing is known of the answer before.
  var asksForHeaders: Bool { terms.inquiry?.request.asks.contains(.headers) == true }

  /// The exchange that it begins with.
  var first: TransferRequest {
    var first = TransferRequest(url: url)
    first.method = terms.method
    first.headers = terms.headers
    first.body = terms.body
    first.extras = terms.extras
    first.credentials = credentials
    first.proxy = terms.proxy
    first.silence = terms.silence
    first.isSentByPublic = isSentByPublic
    return first
  }

  /// What must be equal for two requests to be one at the server: the answer's name, the guard, how they sign in, and every
  /// header that the caller set.
  struct Joint: Hashable, Sendable {
    private let plan: RequestPlan
    /// Kept, because a table that grows asks each of its entries.
    private let hash: Int

    fileprivate init(_ plan: RequestPlan) {
      self.plan = plan
      var hasher = Hasher()
      plan.name.hash(into: &hasher)
      hash = hasher.finalize()
    }

    static func == (left: Joint, right: Joint) -> Bool {
      let (one, other) = (left.plan, right.plan)
      return one === other
        || left.hash == right.hash && one.name == other.name && one.isSentByPublic == other.isSentByPublic
          && (one.sharedTerms === other.sharedTerms
            || one.guardGrade == other.guardGrade && one.terms.jointFields == other.terms.jointFields
              && one.redirects == other.redirects && one.terms.signIn == other.terms.signIn
              // Whether a redirect is an answer of its own (`isHopByHop`).
              && (one.policy == .rfc9111) == (other.policy == .rfc9111))
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
  }

  /// Requests with the same are answered by one fetch; nil for what is never shared.
  var joint: Joint? { isShared ? Joint(self) : nil }

  /// Whether others may be answered by its fetch.
  var isShared: Bool { terms.jointFields != nil }

  /// Whether it is known from the outbox, or may come to it.
  var mayBeFrozen: Bool { terms.freezing != nil || terms.isReplay }

  var wantsPictures: Bool { !terms.recipes.isEmpty }

  /// Whether each redirect is an answer of its own, stored by its own rules, and followed by a request of its own; else
  /// one fetch follows them all, and what they lead to is stored under the URL that was asked for.
  var isHopByHop: Bool { isShared && terms.policy == .rfc9111 && !terms.wantsPart }

  /// Whether an answer isn't the one that is wanted, which it leads to.
  func isLedOn(by head: ResponseHead) -> Bool { terms.redirects > 0 && head.redirection != nil }

  /// The same of a stored one.
  func isLedOn(by stored: StoredAnswer) -> Bool { isLedOn(by: stored.record.head) }

  func tooManyRedirects(from url: WebURL) -> NuthatchError {
    let most = "\(terms.redirects) redirect\(terms.redirects == 1 ? "" : "s")"
    return NuthatchError(.tooManyRedirects, "more than \(most), the last from: \(url)")
  }

  /// Whether what is stored may answer.
  var readsStore: Bool { isShared && terms.policy != .reload && !(terms.wantsPart && wantsPictures) }

  /// Whether an answer may be given whose fetch reached so far. Behind a public server's redirect what isn't public counts as
  /// far as it would have on the way there.
  func admits(_ reach: AddressReach) -> Bool {
    terms.guardGrade.admits(isSentByPublic && !reach.countsAsPublic ? .link : reach)
  }

  /// What a failure of this request says nothing about.
  var failureLimits: RememberedFailures.Limits {
    RememberedFailures.Limits(
      bytes: terms.maxBytes, pixels: terms.limits.pixels,
      allowsDamage: terms.recipes.contains(where: \.allowsDamage))
  }

  /// Whether a URL that is no picture is remembered as such.
  var remembersFailures: Bool { wantsPictures && terms.policy == .kit && isShared }

  /// - Parameter known: where terms are looked for that it may share; those of a cache with these options.
  init(
    _ request: Request, _ options: Options, _ known: TermsCache? = nil
  ) throws(NuthatchError) {
    try request.check()
    let url = try request.absoluteURL()
    sharedTerms =
      if let known { try known.terms(of: request, options, url) } else {
        SharedTerms(try RequestTerms(request, options, OutsideReadings(url)))
      }
    let terms = sharedTerms.terms
    if let (user, password) = terms.credentials ?? url.credentials, (user + password).contains(0) {
      throw NuthatchError(.badURL, "a NUL in user or password: \(url)")
    }
    self.url = url
    name = AnswerName(
      address: Self.address(request, url), secrets: terms.secrets(of: url), named: terms.partition,
      host: terms.host(otherThanOf: url), proxy: terms.proxy.named, terms.nameParts,
      follows: terms.redirects > 0)
    priority = min(max(request.priority, Priority.least), Priority.most)
    hops = 0
    isBehindStale = false
    isSentByPublic = false
  }

  /// What the answer is kept under.
  private static func address(_ request: Request, _ url: WebURL) -> String {
    var address = request.cacheKey ?? url.address
    // Mostly it is what the caller wrote; then it is that string, and no copy.
    if address == request.url { address = request.url }
    if request.cacheKey == nil, request.ignoreQuery, let query = address.firstIndex(of: "?") {
      address = String(address[..<query])
    }
    return address
  }

  /// The request for what a redirect leads to.
  ///
  /// - Parameters:
  ///   - sentByPublic: whether a public server said so.
  ///   - isStale: whether it said so too long ago.
  func following(
    _ head: ResponseHead, sentByPublic: Bool, isStale: Bool = false
  ) throws(NuthatchError) -> RequestPlan {
    guard hops < terms.redirects else { throw tooManyRedirects(from: url) }
    var next = first.redirected(
      to: try Self.target(of: head, from: url), status: head.status, travelling: terms.travelling)
    next.isSentByPublic = isSentByPublic || sentByPublic
    return RequestPlan(self, next, isBehindStale: isBehindStale || isStale)
  }

  /// The same for another hop.
  private init(_ last: RequestPlan, _ next: TransferRequest, isBehindStale: Bool) {
    let terms = RequestTerms(last.terms, next)
    sharedTerms = SharedTerms(terms)
    url = next.url
    name = AnswerName(
      address: url.address, secrets: terms.secrets(of: url), named: terms.partition,
      host: terms.host(otherThanOf: url), proxy: terms.proxy.named, terms.nameParts,
      follows: true)
    priority = last.priority
    hops = last.hops + 1
    self.isBehindStale = isBehindStale
    isSentByPublic = next.isSentByPublic
  }

  /// Where a redirect leads.
  static func target(of head: ResponseHead, from url: WebURL) throws(NuthatchError) -> WebURL {
    let location = head.redirection ?? ""
    let target: WebURL
    do {
      target = try url.resolving(Array(location.utf8))
    } catch {
      let place =
        "\(error.reason), at byte \(error.position) of \(WebURL.redacted(location).quotedForMessage)"
      throw NuthatchError(.badURL, "a redirect that can't be followed (\(place)) from: \(url)")
    }
    if let (user, password) = target.credentials, (user + password).contains(0) {
      throw NuthatchError(.badURL, "a redirect with a NUL in user or password, from: \(url)")
    }
    return target
  }
}

extension TransferRequest {
  /// The request that a redirect from this one leads to (RFC 9110, 15.4), without what must stay with the origin.
  ///
  /// - Parameter travelling: names of headers that need not.
  func redirected(to url: WebURL, status: Int, travelling: Set<String>) -> TransferRequest {
    var next = self
    next.url = url
    let becomesGet = status == 303 ? method != "HEAD" : (status == 301 || status == 302) && method == "POST"
    if becomesGet {
      next.method = "GET"
      next.body = []
      next.headers.remove { $0.name.lowercased().hasPrefix("content-") || $0.isIdempotencyKey }
    }
    let staysAtOrigin = url.origin == self.url.origin
    next.extras = extras?.following(sendsBody: !becomesGet, staysAtOrigin: staysAtOrigin)
    if !staysAtOrigin {
      next.credentials = nil
      next.headers.remove { !$0.mayLeaveOrigin(with: travelling) }
    }
    if let own = url.credentials { next.credentials = own }
    return next
  }
}
