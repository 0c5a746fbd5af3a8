import NuthatchTransport

/// A request that has been checked, with every default filled in: nothing about it can be wrong any more.
struct RequestPlan: Sendable {
  static let longestChain = 10

  let first: TransferRequest
  let name: AnswerName
  /// Requests with the same are answered by one fetch; nil for what is never shared.
  let joint: Joint?
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
    let name: AnswerName
    let guardGrade: Guard
    let fields: [String]
  }

  var wantsPictures: Bool { !recipes.isEmpty }

  /// Whether what is stored may answer.
  var readsStore: Bool { joint != nil && policy.rules != .reload && !(asksForPart && wantsPictures) }

  /// Whether the caller asks for a part, or sets conditions. A fresh stored answer may do; else it is the server's
  /// business, and what it says an answer to nobody else.
  var asksForPart: Bool { RequestConditions.names.contains { first.headers.contains($0) } }

  /// Whether the network may be asked where nothing is stored.
  var mayUseNetwork: Bool { policy.rules != .offline && !RequestWishes(first.headers).onlyIfCached }

  /// What a failure of this request says nothing about.
  var failureLimits: FailedURLs.Limits {
    FailedURLs.Limits(
      bytes: maxBytes, pixels: maxPixels, allowsDamage: recipes.contains(where: \.allowsDamage))
  }

  /// Whether a URL that is no picture is remembered as such.
  var remembersFailures: Bool { wantsPictures && policy.rules == .kit && joint != nil }

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
    recipes = try Self.recipes(request, first.url)
    name = Self.name(request, first)
    joint = Self.joint(request, name, guardGrade)
    self.first = first
  }

  private static func headers(_ request: Request, _ options: Cache.Options) throws(NuthatchError)
    -> HeaderFields
  {
    do {
      try checkMethod(request.method)
      var fields = try HeaderFields(checking: request.headers)
      let accept = request.boxes.isEmpty ? "*/*" : Cache.pictureAccept
      for (name, value) in [("User-Agent", options.userAgent), ("Accept", accept)]
      where !fields.contains(name) {
        try fields.append(checking: name, value)
      }
      return fields
    } catch {
      throw NuthatchError(.badHeader, "\(error.reason): \(WebURL.redacted(request.url))")
    }
  }

  private static func recipes(_ request: Request, _ url: WebURL) throws(NuthatchError) -> [Recipe] {
    guard request.boxes.count <= 64 else {
      throw NuthatchError(.invalid, "\(request.boxes.count) sizes, at most 64 are made at once: \(url)")
    }
    let sides = 1...ThumbnailBox.maxSide
    for box in request.boxes where !sides.contains(box.width) || !sides.contains(box.height) {
      throw NuthatchError(
        .invalid,
        "a box of \(box.width)x\(box.height): its sides must be 1 to \(ThumbnailBox.maxSide): \(url)")
    }
    guard request.boxes.isEmpty || request.method == "GET" else {
      throw NuthatchError(.invalid, "pictures come by GET, not by \(request.method): \(url)")
    }
    return request.boxes.map { Recipe($0, allowsDamage: request.allowTruncated) }
  }

  private static func name(_ request: Request, _ first: TransferRequest) -> AnswerName {
    var address = request.key ?? first.url.address
    if request.key == nil, request.ignoreQuery, let query = address.firstIndex(of: "?") {
      address = String(address[..<query])
    }
    var secrets: [(String, [UInt8])] = []
    if let (user, password) = first.credentials { secrets.append(("user", user + [0] + password)) }
    for field in first.headers.fields where field.isSecret {
      secrets.append((field.name.lowercased(), Array(field.value.utf8)))
    }
    return AnswerName(address: address, secrets: secrets, named: request.partition)
  }

  private static func joint(_ request: Request, _ name: AnswerName, _ guardGrade: Guard) -> Joint? {
    guard request.method == "GET", request.body.isEmpty else { return nil }
    return Joint(
      name: name, guardGrade: guardGrade,
      fields: request.headers.map { "\($0.name.lowercased()): \($0.value)" })
  }
}

extension TransferRequest {
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
