import NuthatchImaging
import NuthatchTransport

/// Terms that several requests share. Most of 100,000 waiting requests differ only in their URL (`TermsCache`).
final class SharedTerms: Sendable {
  let terms: RequestTerms

  init(_ terms: RequestTerms) { self.terms = terms }
}

/// Everything that a request wants and allows, except its URL: checked, and with all defaults filled in.
struct RequestTerms: Sendable {
  private(set) var method: String
  private(set) var headers: HeaderFields
  /// The names, in small letters, of headers that may be sent to other origins after a redirect.
  let travelling: Set<String>
  private(set) var body: [UInt8]
  /// The request's own credentials. If it has none, the URL's count.
  private(set) var credentials: (user: [UInt8], password: [UInt8])?
  /// The values that make an answer personal, without the credentials of the URL.
  private(set) var secrets: [(String, [UInt8])]
  let proxy: ProxyChoice
  /// The number of redirects that are followed. 0: each redirect is the answer.
  let redirects: Int
  let partition: String?
  /// Every header that the caller set. Nil if the request never shares a fetch.
  private(set) var coalescingFields: [String]?
  /// Whether the caller wants a part, or sets conditions. A stored answer may be used. Otherwise the server is asked
  /// without other processes' lock. A part is never stored.
  private(set) var wantsPart: Bool
  let recipes: [Recipe]
  let limits: ImageLimits
  let maxBytes: Int64
  let policy: Policy
  /// How long stored answers are fresh, by the policy and its options.
  let freshness: FreshnessRules
  let guardGrade: Addresses
  /// Whether the network may be used if nothing is stored.
  private(set) var mayUseNetwork: Bool
  let delivery: Delivery
  /// The request's `timeout` (the longest time without a byte) and its deadline, in nanoseconds. Nil: no limit.
  let silence: Int64?
  let deadline: Int64?
  /// Whether the program has set the deadline. A pause that a server asks for makes only the default deadline longer.
  let isDeadlineSet: Bool
  /// Whether the deadline includes the waits for a turn in the queue.
  let deadlineCountsQueue: Bool
  /// How long the request waits for a host that can't be reached or is overloaded, in nanoseconds. Nil: it doesn't wait.
  let patience: Int64?
  /// Whether the request belongs to a batch, submitted with many others.
  let isBatched: Bool
  /// Whether the request may be put off (`Fetch.putOff`), if no byte comes and other requests wait for its place.
  let mayBeDeferred: Bool
  let retries: Int
  let reportsProgress: Bool
  /// Whether a transfer may end when its pictures are done.
  let stopsEarly: Bool
  /// For requests that ask their program a question, or that a program signs in.
  let questionContext: QuestionContext?
  /// For requests that a program signs in.
  private(set) var commandSignIn: CommandSignIn?
  /// For answers that are saved while they arrive. Such a request has a fetch of its own.
  let download: Download?
  /// Rare settings of the transfer.
  private(set) var extras: TransferExtras?
  /// For requests that go to the outbox if their server can't be reached.
  let freezingPlan: FreezingPlan?
  /// Whether the request comes from the outbox.
  let isReplay: Bool
  /// The cookies of the request's site.
  let cookies: SiteCookies?
  /// The `Cookie` header that the request sends.
  private(set) var cookie: String?
  /// Whether the terms depend only on the request and the options. Only then may they, or an answer to the request, be
  /// remembered.
  private(set) var isMemorable: Bool

  /// - Parameter outside: reads values for this request's URL. The URL is available only through it.
  init(
    _ own: Request, _ cacheOptions: Options, _ outside: OutsideReadings
  ) throws(NuthatchError) {
    var outside = outside
    try Self.check(own, outside.shownURL)
    let (request, command) = try own.completed(with: cacheOptions, &outside)
    commandSignIn = command
    method = request.method
    var headers = try Self.headers(request)
    extras = try Self.extras(
      request, trustElsewhere: own.trustElsewhere(cacheOptions), &outside, &headers)
    let credentials = request.user.map { (Array($0.name.utf8), Array($0.password.utf8)) }
    self.credentials = credentials
    freezingPlan =
      request.freezing == nil
      ? nil
      : try outside.read { (url) throws(NuthatchError) in
        try FreezingPlan.make(request, url, credentials ?? url.credentials, &headers)
      }
    isReplay = request.isReplay
    self.headers = headers
    travelling = request.options.travelling
    body = request.upload == nil ? request.body : []
    // The program's own `Cookie` header replaces the site's cookies.
    let ofSite =
      own.site?.cookies ?? cacheOptions.hosts.flatMap { hosts in outside.read { hosts.cookies(for: $0) } }
    let jar = request.headers.contains { $0.name.equalsIgnoringCase("Cookie") } ? nil : ofSite
    cookies = jar
    cookie = jar.flatMap { jar in outside.read { jar.header(for: $0) } }
    secrets = Self.secrets(headers, credentials, extras, cookie)
    proxy = request.options.proxyChoice
    redirects = request.options.redirects ?? Options.Standard.redirects
    partition = request.partition
    coalescingFields = Self.coalescingFields(request, cookies, cookie)
    wantsPart =
      !request.headers.isEmpty && RequestConditions.names.contains { [headers] in headers.contains($0) }
    recipes = try Self.recipes(request, outside.shownURL)
    limits = ImageLimits(request.options)
    download = request.download.map { download in outside.read { _ in download } }
    let isSaved = download != nil
    maxBytes = isSaved ? own.maxBytes ?? .max : request.maxBytes ?? Options.Standard.maxBytes
    policy = request.policy ?? Options.Standard.policy
    freshness = FreshnessRules(request.options)
    guardGrade = request.addresses ?? Options.Standard.addresses
    mayUseNetwork = policy != .offline && !RequestWishes(headers).onlyIfCached
    delivery = request.delivery
    silence = (request.timeout ?? Options.Standard.timeout).nanoseconds
    let standard = request.boxes.isEmpty ? Request.Limit.none : .milliseconds(120_000)
    let limit = request.deadline
    deadline = (limit ?? standard).nanoseconds
    isDeadlineSet = limit != nil
    deadlineCountsQueue = limit != nil && !request.isBatched || freezingPlan != nil
    patience = Self.patience(request)
    isBatched = request.isBatched
    mayBeDeferred = request.mayBeDeferred
    retries = request.retries ?? Options.Standard.retries
    reportsProgress = request.progressEvents
    stopsEarly = request.earlyStop
    let asks = request.asks
    questionContext =
      asks.isEmpty && command == nil
      ? nil
      : outside.read { url in
        var asking = own
        asking.asks = asks
        return QuestionContext(request: asking, options: cacheOptions, origin: url.origin)
      }
    isMemorable = outside.isMemorable
  }

  /// Makes the terms for another hop, `next`.
  init(_ last: RequestTerms, _ next: TransferRequest) {
    self = last
    method = next.method
    headers = next.headers
    body = next.body
    credentials = next.credentials
    extras = next.extras
    let sent = cookies?.knownHeader(for: next.url)
    cookie = sent
    secrets = Self.secrets(headers, credentials, extras, cookie)
    let names = Set(next.headers.fields.map { $0.name.lowercased() })
    let kept = coalescingFields?.filter { line in names.contains(String(line.prefix { $0 != ":" })) }
    coalescingFields = kept.map { $0 + Self.coalescingFields(cookies, sent) }
    wantsPart = RequestConditions.names.contains { next.headers.contains($0) }
    mayUseNetwork = policy != .offline && !RequestWishes(next.headers).onlyIfCached
    // It signs in at the origin of the request's URL only.
    commandSignIn = nil
    // The terms now depend on a server's redirect.
    isMemorable = false
  }

  private static func check(_ request: Request, _ url: @autoclosure () -> String) throws(NuthatchError) {
    do { try request.options.check(.request) } catch {
      throw NuthatchError(error.code, "\(error.message): \(url())")
    }
  }

  private static func patience(_ request: Request) -> Int64? {
    let standard: Request.Limit? = request.isBatched ? Request.usualPatience : nil
    guard let limit = request.giveUpAfter ?? standard else { return nil }
    let time = limit.nanoseconds ?? .max / 4
    return time > 0 ? time : nil
  }

  private static func extras(
    _ request: Request, trustElsewhere: TransferExtras.Trust?, _ outside: inout OutsideReadings,
    _ headers: inout HeaderFields
  ) throws(NuthatchError) -> TransferExtras? {
    let signIn = (request.signIn ?? Options.Standard.signIn).scheme
    let trust = request.options.trust
    guard
      request.upload != nil || signIn != .basic || request.cert != nil || trust != nil
        || trustElsewhere != nil
    else { return nil }
    var made: (source: BodySource, type: String?)?
    if let upload = request.upload {
      made = try outside.read { (url) throws(NuthatchError) in try upload.source(for: url) }
    }
    if let type = made?.type, !headers.contains("Content-Type") { headers.append("Content-Type", type) }
    let certificate = request.cert.map {
      TransferExtras.Certificate(path: $0.path, key: $0.key, password: $0.password)
    }
    return TransferExtras(
      upload: made?.source, signIn: signIn, certificate: certificate, trust: trust,
      trustElsewhere: trustElsewhere)
  }

  private static func headers(_ request: Request) throws(NuthatchError) -> HeaderFields {
    do {
      try checkMethod(request.method)
      var fields = try HeaderFields(checking: request.headers)
      let accept = request.boxes.isEmpty ? "*/*" : Cache.pictureAccept
      for (name, value) in [("User-Agent", "nuthatch/\(Version.string)"), ("Accept", accept)]
      where !fields.contains(name) {
        try fields.append(checking: name, value)
      }
      try fields.checkSize()
      return fields
    } catch {
      throw NuthatchError(.badHeader, "\(error.reason): \(WebURL.redacted(request.url))")
    }
  }

  static func recipes(
    _ request: Request, _ url: @autoclosure () -> String
  ) throws(NuthatchError) -> [Recipe] {
    guard request.boxes.count <= 64 else {
      throw NuthatchError(
        .invalid, "the request has \(request.boxes.count) sizes; at most 64 are allowed: \(url())")
    }
    let sides = 1...ThumbnailBox.maxSide
    for box in request.boxes where !sides.contains(box.width) || !sides.contains(box.height) {
      throw NuthatchError(
        .invalid,
        "a size is \(box.width)x\(box.height); its sides must be 1 to \(ThumbnailBox.maxSide): \(url())")
    }
    guard request.boxes.isEmpty || request.method == "GET" else {
      throw NuthatchError(
        .invalid, "a request with sizes must be a GET, not \(request.method.quotedForMessage): \(url())")
    }
    return request.boxes.map { Recipe($0, allowsDamage: request.allowDamaged) }
  }

  private static func coalescingFields(_ request: Request, _ cookies: SiteCookies?, _ cookie: String?)
    -> [String]?
  {
    guard request.method == "GET", request.body.isEmpty, request.upload == nil else { return nil }
    return request.headers.map { "\($0.name.lowercased()): \($0.value)" } + coalescingFields(cookies, cookie)
  }

  /// Cookies that an answer sets go to the jar of one site, so only requests with that jar may share a fetch.
  private static func coalescingFields(_ cookies: SiteCookies?, _ cookie: String?) -> [String] {
    guard let cookies else { return [] }
    let jar = UInt(bitPattern: ObjectIdentifier(cookies).hashValue)
    return ["jar \(jar): \(cookie ?? "")"]
  }

  private static func secrets(
    _ headers: HeaderFields, _ credentials: (user: [UInt8], password: [UInt8])?, _ extras: TransferExtras?,
    _ cookie: String?
  ) -> [(String, [UInt8])] {
    var secrets = credentials.map { [secret($0)] } ?? []
    if let cookie { secrets.append(("cookie", Array(cookie.utf8))) }
    if let certificate = extras?.certificate { secrets.append(("certificate", Array(certificate.path.utf8))) }
    if extras?.signIn == .negotiate { secrets.append(("negotiate", [])) }
    for field in headers.fields where field.isSecret && !field.isIdempotencyKey {
      secrets.append((field.name.lowercased(), Array(field.value.utf8)))
    }
    return secrets
  }

  private static func secret(_ credentials: (user: [UInt8], password: [UInt8])) -> (String, [UInt8]) {
    ("user", credentials.user + [0] + credentials.password)
  }

  /// How user and password are sent.
  var signIn: TransferExtras.SignIn { extras?.signIn ?? .basic }

  /// Returns the values that make the answer of `url` personal.
  func secrets(of url: WebURL) -> [(String, [UInt8])] {
    guard credentials == nil, let own = url.credentials else { return secrets }
    return [Self.secret(own)] + secrets
  }

  /// The other values that belong to the answer's key: the certificates that the request trusts, and which of its headers
  /// another origin gets after a redirect.
  var nameParts: [(String, [UInt8])] {
    let parts = extras?.trustParts ?? []
    guard !travelling.isEmpty else { return parts }
    let seen = headers.fields.filter { !$0.mayLeaveOrigin(with: []) && $0.mayLeaveOrigin(with: travelling) }
    return parts + Set(seen.map { $0.name.lowercased() }).sorted().map { ("kept", Array($0.utf8)) }
  }

  /// Returns the host in the request's `Host` header, in small letters. Nil if it is the URL's host, or if there is none.
  func host(otherThanOf url: WebURL) -> String? {
    guard let host = headers["Host"]?.lowercased() else { return nil }
    let isOwn =
      host == "\(url.host):\(url.port)" || host == url.host && url.port == url.scheme.defaultPort
    return isOwn ? nil : host
  }
}
