import NuthatchTransport

/// A base URL with what the requests below it have in common. Its requests are those of its cache in everything else.
///
/// Credentials are sent to the base URL's origin only, also when a request of the site names another, and so are all headers
/// but harmless ones (docs/HTTP.md) and those that it lets go along (`Options.crossOriginHeaders`).
public struct Site: Sendable {
  /// What the site's requests inherit. What isn't given is the cache's own.
  public struct Options: Sendable {
    /// Headers of every request that has none of the same name. None.
    public var headers: [(name: String, value: String)] = []
    /// Names of headers that go along when a redirect, or a request's URL, leads to another origin. Harmless ones go in any
    /// case (docs/HTTP.md). None.
    public var crossOriginHeaders: [String] = []
    /// Credentials. None.
    public var user: (name: String, password: String)?
    /// How they are shown. nil: Basic.
    public var signIn: SignIn?
    /// A certificate for the base URL's origin. None.
    public var certificate: ClientCertificate?
    /// As in `Cache.Options`.
    public var netrc: Netrc?
    /// Whether cookies that its servers set are sent back, and where they are kept meanwhile. Sites with the same base URL,
    /// user and partition share them. What waits in the outbox is sent without. nil: they are ignored.
    public var cookies: CookieStorage?
    /// What its requests ask their program (`Request.asks`). Nothing.
    public var asks: Set<Question.Kind> = []
    /// As in `Cache.Options`.
    public var accept: String?
    /// As in `Cache.Options`.
    public var userAgent: String?
    /// As in `Cache.Options`.
    public var partition: String?
    /// As in `Cache.Options`.
    public var proxy: String?
    /// As in `Cache.Options`.
    public var policy: Policy?
    /// As in `Cache.Options`.
    public var `guard`: Guard?
    /// As in `Cache.Options`.
    public var timeout: Request.Limit?
    /// As in `Cache.Options`.
    public var deadline: Request.Limit?
    /// As in `Cache.Options`.
    public var retries: Int?
    /// As in `Cache.Options`.
    public var maxBytes: Int64?
    /// As in `Cache.Options`.
    public var maxPixels: Int?

    /// Nothing given.
    public init() {}
  }

  /// The base URL as it was passed.
  public let url: String
  /// What it was made with.
  public let options: Options
  /// The cache that its requests go to.
  public let cache: Cache
  fileprivate let base: WebURL
  /// Tells its requests from those of other sites, also of one with the same URL.
  let identity = Identity()

  final class Identity: Sendable {}
  /// Those of its requests.
  let cookies: SiteCookies?
  /// In small letters.
  let travelling: Set<String>

  fileprivate init(_ cache: Cache, _ url: String, _ base: WebURL, _ options: Options) {
    self.cache = cache
    let names = [
      options.user?.name ?? base.userinfo.map { String($0.prefix { $0 != ":" }) }, options.partition,
    ]
    cookies = options.cookies.map {
      cache.shared.cookies.cookies($0, of: base, for: names.map { $0 ?? "" })
    }
    self.url = url
    self.base = base
    self.options = options
    travelling = Set(options.crossOriginHeaders.map { $0.lowercased() })
  }

  /// A GET of `reference`, which may be relative to the base URL, with all that the site adds.
  public func request(_ reference: String) -> Request {
    var request = Request(reference)
    request.site = self
    request.asks = options.asks
    return request
  }

  /// Forgets its cookies.
  public func clearCookies() { cookies?.clear() }

  /// Whether its host could be reached of late; nil when nobody has tried.
  public var reachable: Bool? { cache.shared.runtime.reachability.isReachable(base.origin) }

  /// Cancels the requests of this site that are under way.
  public func cancelAll() { cache.cancelAll(of: identity) }

  /// Changes of `reachable` come as notices (`Cache.nextNotice`) from now on.
  public func watchReachability() {
    cache.notices.watch(base.origin, url)
    cache.shared.outbox.look()
  }
}

extension Cache {
  /// A site of this cache.
  ///
  /// - Throws: `bad_url`; `bad_header`; `invalid`.
  public func site(_ url: String, _ options: Site.Options = Site.Options()) throws(NuthatchError) -> Site {
    let base: WebURL
    do { base = try WebURL(url) } catch { throw NuthatchError(error, url: url) }
    try Lengths.check(options.user)
    try Lengths.check(options.certificate)
    let site = Site(self, url, base, options)
    try site.applied(to: self.options, for: base).check()
    return site
  }

  /// The site that is all of a URL's server.
  package func site(ofServerOf url: String, _ options: Site.Options) throws(NuthatchError) -> Site {
    let base: WebURL
    do throws(URLFault) {
      base = try WebURL(url).resolving(Array("/".utf8))
    } catch {
      throw NuthatchError(error, url: url)
    }
    return try site(base.address, options)
  }
}

// MARK: - What requests inherit

extension Site {
  /// The options that hold for a request of this site.
  func applied(to outer: Cache.Options, for url: WebURL) -> Cache.Options {
    var result = outer
    let isOwn = url.origin == base.origin
    let own = options.headers.filter {
      isOwn || HeaderFields.Field(name: $0.name, value: "").mayLeaveOrigin(with: travelling)
    }
    result.headers = own + outer.headers.without(namesOf: own)
    if let accept = options.accept { result.accept = accept }
    if let userAgent = options.userAgent { result.userAgent = userAgent }
    if let partition = options.partition { result.partition = partition }
    if let proxy = options.proxy { result.proxy = proxy }
    if let policy = options.policy { result.policy = policy }
    if let grade = options.guard { result.guard = grade }
    if let timeout = options.timeout { result.timeout = timeout }
    if let deadline = options.deadline { result.deadline = deadline }
    if let retries = options.retries { result.retries = retries }
    if let maxBytes = options.maxBytes { result.maxBytes = maxBytes }
    if let maxPixels = options.maxPixels { result.maxPixels = maxPixels }
    if let netrc = options.netrc { result.netrc = netrc }
    return result
  }
}

extension Request {
  /// The same as one of a site's.
  package func to(_ site: Site) -> Request {
    var result = self
    result.site = site
    return result
  }

  /// What is asked for, relative to the site where there is one.
  func absoluteURL() throws(NuthatchError) -> WebURL {
    do {
      guard let site else { return try WebURL(url) }
      return try site.base.resolving(Array(url.utf8))
    } catch {
      throw NuthatchError(error, url: url)
    }
  }

  /// With the headers, the credentials and the partition that it inherits.
  ///
  /// - Throws: `io` for a file of credentials that can't be read.
  func completed(
    with options: Cache.Options, _ outside: inout OutsideReadings
  ) throws(NuthatchError) -> Request {
    var result = self
    if let userPlace, outside.read({ !userPlace.origins.contains($0.origin) }) {
      result.user = nil
      result.headers.removeAll { $0.name.equalsIgnoringCase("Authorization") }
    }
    result.headers += options.headers.without(namesOf: headers)
    if let accept = options.accept, !result.headers.contains(where: { $0.name.equalsIgnoringCase("Accept") })
    {
      result.headers.append(("Accept", accept))
    }
    result.partition = partition ?? options.partition
    if let site, outside.read({ site.base.origin == $0.origin }) {
      if !isAnonymous { result.signIn = signIn ?? site.options.signIn }
      result.certificate = certificate ?? site.options.certificate
      if result.user == nil, !isAnonymous, outside.read({ $0.userinfo == nil }) {
        result.user =
          site.options.user
          ?? site.base.credentials.map {
            (String(decoding: $0.user, as: UTF8.self), String(decoding: $0.password, as: UTF8.self))
          }
      }
    }
    if let netrc = netrc ?? (isAnonymous ? nil : options.netrc), result.user == nil,
      !result.headers.contains(where: { $0.name.equalsIgnoringCase("Authorization") }),
      let entry = try outside.read({ (url) throws(NuthatchError) in
        url.userinfo == nil ? try netrc.entry(for: url) : nil
      })
    {
      result.user = (
        String(decoding: entry.user, as: UTF8.self), String(decoding: entry.password, as: UTF8.self)
      )
    }
    return result
  }
}

extension Cache.Options {
  /// - Throws: `invalid` or `bad_header` for what no request could be sent with.
  func check() throws(NuthatchError) {
    guard maxBytes >= 0 else { throw NuthatchError(.invalid, "max_bytes is negative") }
    guard maxPixels > 0 else { throw NuthatchError(.invalid, "max_pixels is not positive") }
    try Lengths.check(partition, "the partition")
    try Lengths.check(netrc)
    if let proxy, !proxy.isEmpty {
      do throws(URLFault) { try ProxyChoice.check(proxy) } catch {
        throw NuthatchError(
          .invalid,
          "the proxy \(WebURL.redacted(proxy).quotedForMessage) can't be used: \(error.reason), at byte \(error.position)"
        )
      }
    }
    do {
      var fields = try HeaderFields(checking: headers)
      try fields.append(checking: "User-Agent", userAgent)
      if let accept { try fields.append(checking: "Accept", accept) }
      try fields.checkSize()
    } catch {
      throw NuthatchError(.badHeader, error.reason)
    }
  }

  var proxyChoice: ProxyChoice {
    switch proxy {
    case nil: .environment
    case "": .none
    case .some(let proxy): .explicit(proxy)
    }
  }
}

extension ProxyChoice {
  /// The proxy that an option names, empty for none; nil where the environment decides.
  var named: String? {
    switch self {
    case .environment: nil
    case .none: ""
    case .explicit(let proxy): proxy
    }
  }
}
