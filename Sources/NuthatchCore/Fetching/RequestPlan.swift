import NuthatchTransport

/// A checked request with all defaults filled in.
///
/// A class, because a task and its fetch share it, and 100,000 of them may wait. It has the members of its terms, too.
@dynamicMemberLookup
final class RequestPlan: Sendable {
  /// The part that it shares with other requests.
  let sharedTerms: SharedTerms
  let url: WebURL
  let name: AnswerName
  /// The number of redirects, each a request of its own, that have led here.
  let hops: Int
  /// Whether one of these redirects was stale. It may now lead to another URL.
  let isBehindStale: Bool
  /// Whether a public server has redirected the request here (`TransferRequest.isRedirectedByPublic`).
  let isRedirectedByPublic: Bool
  let priority: Int

  var terms: RequestTerms { _read { yield sharedTerms.terms } }

  /// Don't use it in key paths that are passed on, such as `map(\.plan.retries)`: a key path of a dynamic member is made anew
  /// each time, which takes 50,000 instructions.
  subscript<Value>(dynamicMember member: KeyPath<RequestTerms, Value>) -> Value {
    sharedTerms.terms[keyPath: member]
  }

  /// The credentials of the request, or those of the URL if it has none.
  var credentials: (user: [UInt8], password: [UInt8])? { terms.credentials ?? url.credentials }
  /// Whether the program judges each new answer before it is delivered.
  var wantsVerdict: Bool { terms.questionContext?.request.asks.contains(.verdict) == true }
  /// Whether the program adds headers first, or the command of `awaited` does. Until then the answer's key is unknown.
  var asksForHeaders: Bool {
    terms.questionContext?.request.asks.contains(.headers) == true || awaited != nil
  }
  /// The command whose headers must be added first.
  var awaited: SignInCommand? {
    terms.commandSignIn.flatMap { $0.headers == nil ? $0.command : nil }
  }

  /// The first exchange.
  var first: TransferRequest {
    var first = TransferRequest(url: url)
    first.method = terms.method
    first.headers = terms.headers
    first.body = terms.body
    first.extras = terms.extras
    first.credentials = credentials
    first.proxy = terms.proxy
    first.silence = terms.silence
    first.isRedirectedByPublic = isRedirectedByPublic
    return first
  }

  /// The properties that must be equal for two requests to share a fetch: the answer's key, the address guard, the sign-in, the
  /// limit of redirects, every header that the caller set, the cookies, whether a public server has redirected here, and
  /// whether the policy is `rfc9111`.
  struct CoalescingKey: Hashable, Sendable {
    private let plan: RequestPlan
    /// Stored, because a growing table asks all its entries for it.
    private let hash: Int

    fileprivate init(_ plan: RequestPlan) {
      self.plan = plan
      var hasher = Hasher()
      plan.name.hash(into: &hasher)
      hash = hasher.finalize()
    }

    static func == (left: CoalescingKey, right: CoalescingKey) -> Bool {
      let (one, other) = (left.plan, right.plan)
      return one === other
        || left.hash == right.hash && one.name == other.name
          && one.isRedirectedByPublic == other.isRedirectedByPublic
          && (one.sharedTerms === other.sharedTerms
            || one.guardGrade == other.guardGrade
              && one.terms.coalescingFields == other.terms.coalescingFields
              && one.redirects == other.redirects && one.terms.signIn == other.terms.signIn
              // `rfc9111` decides whether a redirect is an answer of its own (`isHopByHop`).
              && (one.policy == .rfc9111) == (other.policy == .rfc9111))
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
  }

  /// The key in the table of fetches: requests with equal keys share a fetch. Nil: the request never shares one.
  var coalescingKey: CoalescingKey? { isShareable ? CoalescingKey(self) : nil }

  /// Whether other requests may share its fetch.
  var isShareable: Bool { terms.coalescingFields != nil }

  /// Whether the request is from the outbox, or may be put there.
  var mayBeFrozen: Bool { terms.freezingPlan != nil || terms.isReplay }

  var wantsPictures: Bool { !terms.recipes.isEmpty }

  /// Whether each redirect is an answer of its own: stored by its own rules and followed by a new request. Otherwise one fetch
  /// follows all redirects, and the last answer is stored under the URL of the request.
  var isHopByHop: Bool { isShareable && terms.policy == .rfc9111 && !terms.wantsPart }

  /// Returns whether an answer is a redirect that the request follows.
  func followsRedirect(in head: ResponseHead) -> Bool { terms.redirects > 0 && head.redirection != nil }

  /// Returns whether a stored answer is a redirect that the request follows.
  func followsRedirect(in stored: StoredAnswer) -> Bool { followsRedirect(in: stored.record.head) }

  func tooManyRedirects(from url: WebURL) -> NuthatchError {
    let most = "\(terms.redirects) redirect\(terms.redirects == 1 ? "" : "s")"
    return NuthatchError(.tooManyRedirects, "more than \(most), the last from: \(url)")
  }

  /// Whether a stored answer may be used.
  var readsStore: Bool { isShareable && terms.policy != .reload && !(terms.wantsPart && wantsPictures) }

  /// Returns whether an answer may be given whose fetch contacted such addresses. After a redirect by a public server, a
  /// private address counts as the most private class, as it would during the fetch.
  func admits(_ reach: AddressReach) -> Bool {
    terms.guardGrade.admits(isRedirectedByPublic && !reach.countsAsPublic ? .link : reach)
  }

  /// The limits of this request. Its failure shows nothing about a request that allows more.
  var failureLimits: RememberedFailures.Limits {
    RememberedFailures.Limits(
      bytes: terms.maxBytes, pixels: terms.limits.pixels,
      allowsDamage: terms.recipes.contains(where: \.allowsDamage))
  }

  /// Whether a failure of this request is remembered.
  var remembersFailures: Bool { wantsPictures && terms.policy == .kit && isShareable }

  /// - Parameter known: the terms of recent requests with the same options, which this one may share.
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
      throw NuthatchError(.badURL, "the user or the password contains a NUL byte: \(url)")
    }
    self.url = url
    name = AnswerName(
      address: Self.address(request, url), secrets: terms.secrets(of: url), named: terms.partition,
      host: terms.host(otherThanOf: url), proxy: terms.proxy.named, terms.nameParts,
      follows: terms.redirects > 0)
    priority = min(max(request.priority, Priority.least), Priority.most)
    hops = 0
    isBehindStale = false
    isRedirectedByPublic = false
  }

  /// Returns the address under which the answer is stored.
  private static func address(_ request: Request, _ url: WebURL) -> String {
    var address = request.cacheKey ?? url.address
    // Usually it is the caller's string. Then use that, so that there is no copy.
    if address == request.url { address = request.url }
    if request.cacheKey == nil, request.ignoreQuery, let query = address.firstIndex(of: "?") {
      address = String(address[..<query])
    }
    return address
  }

  /// Returns the request for the target of a redirect.
  ///
  /// - Parameters:
  ///   - sentByPublic: whether a public server sent the redirect.
  ///   - isStale: whether the redirect is stale.
  func following(
    _ head: ResponseHead, sentByPublic: Bool, isStale: Bool = false
  ) throws(NuthatchError) -> RequestPlan {
    guard hops < terms.redirects else { throw tooManyRedirects(from: url) }
    var next = first.redirected(
      to: try Self.target(of: head, from: url), status: head.status, travelling: terms.travelling)
    next.isRedirectedByPublic = isRedirectedByPublic || sentByPublic
    return RequestPlan(self, next, isBehindStale: isBehindStale || isStale)
  }

  /// Makes the plan for another hop.
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
    isRedirectedByPublic = next.isRedirectedByPublic
  }

  static func target(of head: ResponseHead, from url: WebURL) throws(NuthatchError) -> WebURL {
    let location = head.redirection ?? ""
    let target: WebURL
    do {
      target = try url.resolving(Array(location.utf8))
    } catch {
      let place =
        "\(error.reason), at byte \(error.position) of \(WebURL.redacted(location).quotedForMessage)"
      throw NuthatchError(.badURL, "the redirect can't be followed (\(place)), from: \(url)")
    }
    if let (user, password) = target.credentials, (user + password).contains(0) {
      throw NuthatchError(.badURL, "the redirect's user or password contains a NUL byte, from: \(url)")
    }
    return target
  }
}

extension TransferRequest {
  /// Returns the request that a redirect leads to (RFC 9110, 15.4), without the data that must not leave the origin.
  ///
  /// - Parameter travelling: the names of headers that may leave it.
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
