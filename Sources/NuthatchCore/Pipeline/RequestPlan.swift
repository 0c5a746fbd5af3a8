import NuthatchTransport

/// A request that has been checked, with every default filled in: nothing about it can be wrong any more.
///
/// An object, because errand and fetch share it, and a hundred thousand of them may wait.
final class RequestPlan: Sendable {
  static let longestChain = 10

  let first: TransferRequest
  let name: AnswerName
  /// Every header that the caller set; nil for what is never shared.
  private let jointFields: [String]?
  /// How many redirects, each a request of its own, have led here.
  let hops: Int
  /// Whether one of them was stale, so that what it leads to may not be what it would lead to now.
  let isBehindStale: Bool
  private let partition: String?
  let recipes: [Recipe]
  let maxPixels: Int
  let maxBytes: Int64
  let policy: Policy
  let guardGrade: Guard
  let delivery: Request.Delivery
  /// In nanoseconds.
  let silence: Int64?
  let deadline: Int64?
  let retries: Int
  let priority: Int
  let reportsProgress: Bool
  /// Whether a transfer may end when its pictures are done.
  let stopsEarly: Bool
  /// For requests that ask their program something.
  let inquiry: Inquiry?

  /// What must be equal for two requests to be one at the server: the answer's name, the guard, and every header that
  /// the caller set.
  struct Joint: Hashable, Sendable {
    fileprivate let plan: RequestPlan

    var fields: [String] { plan.jointFields ?? [] }

    static func == (left: Joint, right: Joint) -> Bool {
      let (one, other) = (left.plan, right.plan)
      return one === other
        || one.name == other.name && one.guardGrade == other.guardGrade
          && one.jointFields == other.jointFields
          // Whether a redirect is an answer (`isHopByHop`), and whether a public server sent the request here.
          && (one.policy.rules == .rfc9111) == (other.policy.rules == .rfc9111)
          && one.first.isSentByPublic == other.first.isSentByPublic
    }

    func hash(into hasher: inout Hasher) { plan.name.hash(into: &hasher) }
  }

  /// Requests with the same are answered by one fetch; nil for what is never shared.
  var joint: Joint? { jointFields == nil ? nil : Joint(plan: self) }

  var wantsPictures: Bool { !recipes.isEmpty }

  /// Whether each redirect is an answer of its own, stored by its own rules, and followed by a request of its own; else
  /// one fetch follows them all, and what they lead to is stored under the URL that was asked for.
  var isHopByHop: Bool { jointFields != nil && policy.rules == .rfc9111 && !asksForPart }

  /// Whether what is stored may answer.
  var readsStore: Bool { jointFields != nil && policy.rules != .reload && !(asksForPart && wantsPictures) }

  /// Whether the caller asks for a part, or sets conditions. A fresh stored answer may do; else it is the server's
  /// business, and what it says an answer to nobody else.
  let asksForPart: Bool

  /// Whether an answer may be given whose fetch reached so far. Behind a public server's redirect what isn't public counts as
  /// far as it would have on the way there.
  func admits(_ reach: UInt8) -> Bool {
    guardGrade.admits(first.isSentByPublic && reach > 0 ? AddressReach.link.rawValue : reach)
  }

  /// Whether the network may be asked where nothing is stored.
  var mayUseNetwork: Bool { policy.rules != .offline && !RequestWishes(first.headers).onlyIfCached }

  /// What a failure of this request says nothing about.
  var failureLimits: FailedURLs.Limits {
    FailedURLs.Limits(
      bytes: maxBytes, pixels: maxPixels, allowsDamage: recipes.contains(where: \.allowsDamage))
  }

  /// Whether a URL that is no picture is remembered as such.
  var remembersFailures: Bool { wantsPictures && policy.rules == .kit && jointFields != nil }

  init(_ own: Request, _ cacheOptions: Cache.Options) throws(NuthatchError) {
    let url = try own.absoluteURL()
    let options = own.site?.applied(to: cacheOptions, for: url) ?? cacheOptions
    let request = own.completed(with: options, for: url)
    var first = TransferRequest(url: url)
    first.proxy = options.proxyChoice
    first.method = request.method
    first.headers = try Self.headers(request, options)
    first.body = request.body
    first.credentials =
      request.user.map { (Array($0.name.utf8), Array($0.password.utf8)) } ?? first.url.credentials
    if let (user, password) = first.credentials, (user + password).contains(0) {
      throw NuthatchError(.badURL, "a NUL in user or password: \(first.url)")
    }
    silence = (request.timeout ?? options.timeout).nanoseconds
    first.silence = silence
    let standard = request.boxes.isEmpty ? Request.Limit.none : .milliseconds(120_000)
    deadline = (request.deadline ?? options.deadline ?? standard).nanoseconds
    retries = max(0, request.retries ?? options.retries)
    maxBytes = request.maxBytes ?? options.maxBytes
    maxPixels = request.maxPixels ?? options.maxPixels
    policy = request.policy ?? options.policy
    guardGrade = request.guard ?? options.guard
    delivery = request.delivery
    priority = min(max(request.priority, Priority.least), Priority.most)
    reportsProgress = request.reportsProgress
    stopsEarly = request.earlyStop
    inquiry = own.asks.isEmpty ? nil : Inquiry(request: own, options: cacheOptions)
    guard maxBytes >= 0 else { throw NuthatchError(.invalid, "max_bytes is negative: \(first.url)") }
    guard maxPixels > 0 else { throw NuthatchError(.invalid, "max_pixels is not positive: \(first.url)") }
    recipes = try Self.recipes(request, first.url.description)
    partition = request.partition
    name = Self.name(request, first)
    jointFields = Self.jointFields(request)
    hops = 0
    isBehindStale = false
    asksForPart =
      !request.headers.isEmpty && RequestConditions.names.contains { [first] in first.headers.contains($0) }
    self.first = first
  }

  private static func headers(_ request: Request, _ options: Cache.Options) throws(NuthatchError)
    -> HeaderFields
  {
    do {
      try checkMethod(request.method)
      if request.headers.isEmpty, let known = StandardFields.known(request, options) { return known }
      var fields = try HeaderFields(checking: request.headers)
      let accept = request.boxes.isEmpty ? "*/*" : Cache.pictureAccept
      for (name, value) in [("User-Agent", options.userAgent), ("Accept", accept)]
      where !fields.contains(name) {
        try fields.append(checking: name, value)
      }
      if request.headers.isEmpty { StandardFields.keep(fields, request, options) }
      return fields
    } catch {
      throw NuthatchError(.badHeader, "\(error.reason): \(WebURL.redacted(request.url))")
    }
  }

  static func recipes(
    _ request: Request, _ url: @autoclosure () -> String
  ) throws(NuthatchError) -> [Recipe] {
    guard request.boxes.count <= 64 else {
      throw NuthatchError(.invalid, "\(request.boxes.count) sizes, at most 64 are made at once: \(url())")
    }
    let sides = 1...ThumbnailBox.maxSide
    for box in request.boxes where !sides.contains(box.width) || !sides.contains(box.height) {
      throw NuthatchError(
        .invalid,
        "a box of \(box.width)x\(box.height): its sides must be 1 to \(ThumbnailBox.maxSide): \(url())")
    }
    guard request.boxes.isEmpty || request.method == "GET" else {
      throw NuthatchError(.invalid, "pictures come by GET, not by \(request.method): \(url())")
    }
    return request.boxes.map { Recipe($0, allowsDamage: request.allowTruncated) }
  }

  private static func name(_ request: Request, _ first: TransferRequest) -> AnswerName {
    var address = request.key ?? first.url.address
    // Mostly it is what the caller wrote; then it is that string, and no copy.
    if address == request.url { address = request.url }
    if request.key == nil, request.ignoreQuery, let query = address.firstIndex(of: "?") {
      address = String(address[..<query])
    }
    return AnswerName(address: address, secrets: first.secrets, named: request.partition)
  }

  private static func jointFields(_ request: Request) -> [String]? {
    guard request.method == "GET", request.body.isEmpty else { return nil }
    return request.headers.map { "\($0.name.lowercased()): \($0.value)" }
  }

  /// The request for what a redirect leads to.
  ///
  /// - Parameters:
  ///   - sentByPublic: whether a public server said so.
  ///   - isStale: whether it said so too long ago.
  func following(
    _ head: ResponseHead, sentByPublic: Bool, isStale: Bool = false
  ) throws(NuthatchError) -> RequestPlan {
    guard hops < Self.longestChain else {
      throw NuthatchError(
        .tooManyRedirects, "more than \(Self.longestChain) redirects, the last from: \(first.url)")
    }
    var next = first.redirected(to: try Self.target(of: head, from: first.url), status: head.status)
    next.isSentByPublic = first.isSentByPublic || sentByPublic
    return RequestPlan(self, next, isBehindStale: isBehindStale || isStale)
  }

  /// The same for another hop.
  private init(_ last: RequestPlan, _ first: TransferRequest, isBehindStale: Bool) {
    self.first = first
    hops = last.hops + 1
    self.isBehindStale = isBehindStale
    name = AnswerName(address: first.url.address, secrets: first.secrets, named: last.partition)
    let names = Set(first.headers.fields.map { $0.name.lowercased() })
    jointFields = last.jointFields?.filter { line in names.contains(String(line.prefix { $0 != ":" })) }
    asksForPart = RequestConditions.names.contains { first.headers.contains($0) }
    partition = last.partition
    recipes = last.recipes
    maxPixels = last.maxPixels
    maxBytes = last.maxBytes
    policy = last.policy
    guardGrade = last.guardGrade
    delivery = last.delivery
    silence = last.silence
    deadline = last.deadline
    retries = last.retries
    priority = last.priority
    reportsProgress = last.reportsProgress
    stopsEarly = last.stopsEarly
    inquiry = last.inquiry
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
  /// What makes its answer one for somebody.
  fileprivate var secrets: [(String, [UInt8])] {
    var secrets: [(String, [UInt8])] = []
    if let (user, password) = credentials { secrets.append(("user", user + [0] + password)) }
    for field in headers.fields where field.isSecret {
      secrets.append((field.name.lowercased(), Array(field.value.utf8)))
    }
    return secrets
  }

  /// The request that a redirect from this one leads to (RFC 9110, 15.4), without what must stay with the origin.
  func redirected(to url: WebURL, status: Int) -> TransferRequest {
    var next = self
    next.url = url
    let becomesGet = status == 303 ? method != "HEAD" : (status == 301 || status == 302) && method == "POST"
    if becomesGet {
      next.method = "GET"
      next.body = []
      next.headers.remove { $0.name.lowercased().hasPrefix("content-") }
    }
    if url.origin != self.url.origin {
      next.credentials = nil
      next.headers.remove { $0.isSecret || $0.name.equalsIgnoringCase("Host") }
    }
    if let own = url.credentials { next.credentials = own }
    return next
  }
}
