import NuthatchImaging
import NuthatchTransport

/// Most of a hundred thousand requests that wait differ in nothing but their URL, and share the rest (`TermsCache`).
final class SharedTerms: Sendable {
  let terms: RequestTerms

  init(_ terms: RequestTerms) { self.terms = terms }
}

/// What a request wants and allows, all but its URL, checked and with every default filled in.
struct RequestTerms: Sendable {
  private(set) var method: String
  private(set) var headers: HeaderFields
  /// Names, in small letters, of headers that go along to other origins.
  let travelling: Set<String>
  private(set) var body: [UInt8]
  /// Those that the request was given; else the URL's own count.
  private(set) var credentials: (user: [UInt8], password: [UInt8])?
  /// What makes the answer of a URL one for somebody, the credentials of the URL itself left aside.
  private(set) var secrets: [(String, [UInt8])]
  let proxy: ProxyChoice
  /// How many redirects are followed; of none, each is the answer.
  let redirects: Int
  let partition: String?
  /// Every header that the caller set; nil for what is never shared.
  private(set) var jointFields: [String]?
  /// Whether the caller wants a part, or sets conditions. A stored answer may do; else it is the server's
  /// business, and what it says an answer to nobody else.
  private(set) var wantsPart: Bool
  let recipes: [Recipe]
  let limits: ImageLimits
  let maxBytes: Int64
  let policy: Policy
  /// For how long what is stored is fresh, by the policy and its numbers.
  let freshness: FreshnessRules
  let guardGrade: Addresses
  /// Whether the network may be asked where nothing is stored.
  private(set) var mayUseNetwork: Bool
  let delivery: Delivery
  /// In nanoseconds.
  let silence: Int64?
  let deadline: Int64?
  /// Whether the program has set it: then a server that wants to be left alone doesn't make it longer.
  let isDeadlineSet: Bool
  /// Whether the waits for its turn in the queue are part of it.
  let deadlineCountsQueue: Bool
  /// For how long it waits for a host that can't be reached or has too much to do, in nanoseconds; nil when it doesn't.
  let patience: Int64?
  /// Whether it is one of many that were submitted at once.
  let isBatched: Bool
  /// Whether it may be put off when nothing comes and others wait for its place.
  let mayBeDeferred: Bool
  let retries: Int
  let reportsProgress: Bool
  /// Whether a transfer may end when its pictures are done.
  let stopsEarly: Bool
  /// For requests that ask their program something.
  let inquiry: QuestionContext?
  /// For answers that are saved while they come; such a request has a fetch of its own.
  let download: Download?
  /// What few requests send.
  private(set) var extras: TransferExtras?
  /// For requests that go to the outbox when their server can't be reached.
  let freezing: FreezingPlan?
  /// Whether it comes from the outbox.
  let isReplay: Bool
  /// The site's.
  let cookies: SiteCookies?
  /// What it sends of them.
  private(set) var cookie: String?
  /// Whether they, and what they lead to, are the same each time: nothing in them is from outside of request and options. Only
  /// then may either be remembered.
  private(set) var isMemorable: Bool

  /// - Parameter outside: of this request's URL, and the only way to it.
  init(
    _ own: Request, _ cacheOptions: Options, _ outside: OutsideReadings
  ) throws(NuthatchError) {
    var outside = outside
    try Self.check(own, outside.shownURL)
    let request = try own.completed(with: cacheOptions, &outside)
    method = request.method
    var headers = try Self.headers(request)
    extras = try Self.extras(
      request, trustElsewhere: own.trustElsewhere(cacheOptions), &outside, &headers)
    let credentials = request.user.map { (Array($0.name.utf8), Array($0.password.utf8)) }
    self.credentials = credentials
    freezing =
      request.freezing == nil
      ? nil
      : try outside.read { (url) throws(NuthatchError) in
        try FreezingPlan.make(request, url, credentials ?? url.credentials, &headers)
      }
    isReplay = request.isReplay
    self.headers = headers
    travelling = request.options.travelling
    body = request.upload == nil ? request.body : []
    // A header of the program's own takes the place of all of them.
    let jar = request.headers.contains { $0.name.equalsIgnoringCase("Cookie") } ? nil : own.site?.cookies
    cookies = jar
    cookie = jar.flatMap { jar in outside.read { jar.header(for: $0) } }
    secrets = Self.secrets(headers, credentials, extras, cookie)
    proxy = request.options.proxyChoice
    redirects = request.options.redirects ?? Options.Standard.redirects
    partition = request.partition
    jointFields = Self.jointFields(request, cookies, cookie)
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
    deadlineCountsQueue = limit != nil && !request.isBatched || freezing != nil
    patience = Self.patience(request)
    isBatched = request.isBatched
    mayBeDeferred = request.mayBeDeferred
    retries = request.retries ?? Options.Standard.retries
    reportsProgress = request.progressEvents
    stopsEarly = request.earlyStop
    let asks = request.asks
    inquiry =
      asks.isEmpty
      ? nil
      : outside.read { url in
        var asking = own
        asking.asks = asks
        return QuestionContext(request: asking, options: cacheOptions, origin: url.origin)
      }
    isMemorable = outside.isMemorable
  }

  /// The same for another hop, which `next` is.
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
    let kept = jointFields?.filter { line in names.contains(String(line.prefix { $0 != ":" })) }
    jointFields = kept.map { $0 + Self.jointFields(cookies, sent) }
    wantsPart = RequestConditions.names.contains { next.headers.contains($0) }
    mayUseNetwork = policy != .offline && !RequestWishes(next.headers).onlyIfCached
    // A server has led here.
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
      throw NuthatchError(.invalid, "\(request.boxes.count) sizes, at most 64 are made at once: \(url())")
    }
    let sides = 1...ThumbnailBox.maxSide
    for box in request.boxes where !sides.contains(box.width) || !sides.contains(box.height) {
      throw NuthatchError(
        .invalid,
        "a box of \(box.width)x\(box.height): its sides must be 1 to \(ThumbnailBox.maxSide): \(url())")
    }
    guard request.boxes.isEmpty || request.method == "GET" else {
      throw NuthatchError(
        .invalid, "pictures come by GET, not by \(request.method.quotedForMessage): \(url())")
    }
    return request.boxes.map { Recipe($0, allowsDamage: request.allowDamaged) }
  }

  private static func jointFields(_ request: Request, _ cookies: SiteCookies?, _ cookie: String?) -> [String]?
  {
    guard request.method == "GET", request.body.isEmpty, request.upload == nil else { return nil }
    return request.headers.map { "\($0.name.lowercased()): \($0.value)" } + jointFields(cookies, cookie)
  }

  /// What an answer sets is for one site's jar.
  private static func jointFields(_ cookies: SiteCookies?, _ cookie: String?) -> [String] {
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

  /// How user and password are shown.
  var signIn: TransferExtras.SignIn { extras?.signIn ?? .basic }

  /// What makes the answer of `url` one for somebody.
  func secrets(of url: WebURL) -> [(String, [UInt8])] {
    guard credentials == nil, let own = url.credentials else { return secrets }
    return [Self.secret(own)] + secrets
  }

  /// What else makes the answer another one than the usual: whom the request trusts, and which of its headers another origin
  /// sees, to which redirects may lead.
  var nameParts: [(String, [UInt8])] {
    let parts = extras?.trustParts ?? []
    guard !travelling.isEmpty else { return parts }
    let seen = headers.fields.filter { !$0.mayLeaveOrigin(with: []) && $0.mayLeaveOrigin(with: travelling) }
    return parts + Set(seen.map { $0.name.lowercased() }).sorted().map { ("kept", Array($0.utf8)) }
  }

  /// Whom the request's `Host` names, in small letters; nil where that is the URL's host, or nothing.
  func host(otherThanOf url: WebURL) -> String? {
    guard let host = headers["Host"]?.lowercased() else { return nil }
    let isOwn =
      host == "\(url.host):\(url.port)" || host == url.host && url.port == url.scheme.defaultPort
    return isOwn ? nil : host
  }
}
