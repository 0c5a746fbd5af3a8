import NuthatchTransport

/// A base URL with options that the site's requests share. Other options come from the cache.
///
/// Credentials are sent to the base URL's origin only, also if a request of the site has a URL of another origin. The same is true of all
/// headers except harmless ones (docs/HTTP.md) and those named by `Options.keepHeadersAcrossOrigins`.
public struct Site: Sendable {
  /// The base URL as it was passed.
  public let url: String
  /// The options that the site was created with.
  public let options: Options
  /// The cache that the site's requests go to.
  public let cache: Cache
  fileprivate let base: WebURL
  /// Identifies the site's requests. Two sites with the same URL have different identities.
  let identity = Identity()

  final class Identity: Sendable {}
  /// The cookies of the site's requests.
  let cookies: SiteCookies?

  fileprivate init(_ cache: Cache, _ url: String, _ base: WebURL, _ options: Options) {
    self.cache = cache
    let names = [
      options.user?.name ?? base.userinfo.map { String($0.prefix { $0 != ":" }) }, options.partition,
    ]
    cookies =
      options.cookieJar == .off
      ? nil : cache.shared.cookies.cookies(options.cookieJar, of: base, for: names.map { $0 ?? "" })
    self.url = url
    self.base = base
    self.options = options
  }

  /// Returns a GET of `reference`, which may be relative to the base URL, with the options of the site.
  public func request(_ reference: String) -> Request {
    var request = Request(reference)
    request.site = self
    return request
  }

  /// Deletes the site's cookies.
  public func clearCookies() { cookies?.clear() }

  /// Whether the last connection to the site's host succeeded; nil if none was tried.
  public var reachable: Bool? { cache.shared.runtime.reachability.isReachable(base.origin) }

  /// Cancels the requests of this site that are under way.
  public func cancelAll() { cache.cancelAll(of: identity) }

  /// From now on, sends a notice (`Cache.nextNotice`) for each change of `reachable`.
  public func watchReachability() {
    cache.notices.watch(base.origin, url)
    cache.shared.outbox.look()
  }
}

extension Cache {
  /// Creates a site of this cache.
  ///
  /// - Throws: `bad_url`; `bad_header`; `invalid`.
  public func site(_ url: String, _ options: Options = Options()) throws(NuthatchError) -> Site {
    let base: WebURL
    do { base = try WebURL(url) } catch { throw NuthatchError(error, url: url) }
    try options.check(.site)
    try options.checkContents()
    return Site(self, url, base, options)
  }

  /// Creates a site for the whole server of a URL.
  package func site(ofServerOf url: String, _ options: Options) throws(NuthatchError) -> Site {
    let base: WebURL
    do throws(URLFault) {
      base = try WebURL(url).resolving(Array("/".utf8))
    } catch {
      throw NuthatchError(error, url: url)
    }
    return try site(base.address, options)
  }
}

// MARK: - Inherited options

extension Site {
  /// Returns the options that the site's requests inherit at a URL. At another origin, options that are only for the site's
  /// origin are left out.
  ///
  /// - Parameter travelling: names of headers that are also sent to other origins.
  func inherited(at url: WebURL, _ travelling: Set<String>) -> Options {
    guard url.origin != base.origin else { return options }
    var result = options
    (result.user, result.signIn, result.cert) = (nil, nil, nil)
    (result.caFile, result.caDir, result.insecure) = (nil, nil, nil)
    result.headers.removeAll {
      !HeaderFields.Field(name: $0.name, value: "").mayLeaveOrigin(with: travelling)
    }
    return result
  }

  /// The user in the site's base URL.
  fileprivate var baseUser: (name: String, password: String)? {
    base.credentials.map {
      (String(decoding: $0.user, as: UTF8.self), String(decoding: $0.password, as: UTF8.self))
    }
  }
}

extension Request {
  /// Returns the request as a request of a site.
  package func to(_ site: Site) -> Request {
    var result = self
    result.site = site
    return result
  }

  /// The URL of the request, resolved against the site's base URL if there is a site.
  func absoluteURL() throws(NuthatchError) -> WebURL {
    do {
      guard let site else { return try WebURL(url) }
      return try site.base.resolving(Array(url.utf8))
    } catch {
      throw NuthatchError(error, url: url)
    }
  }

  /// Returns the request with its inherited options.
  ///
  /// - Throws: `io`, `unsafe_file` or `invalid` for a netrc that can't be used.
  func completed(
    with cache: Options, _ outside: inout OutsideReadings
  ) throws(NuthatchError) -> (request: Request, command: CommandSignIn?) {
    var result = self
    let isKept = userPlace.map { place in outside.read { place.origins.contains($0.origin) } } ?? true
    if !isKept {
      result.user = nil
      result.options.removeAuthorization()
    }
    var (section, isNamed): (HostSection?, Bool) = (nil, false)
    if cache.hosts != nil || site != nil {
      (section, isNamed) = outside.read { (cache.hosts?.section(at: $0.origin), $0.userinfo != nil) }
    }
    var above = Options()
    if let site {
      let travelling = options.travelling.union(site.options.travelling).union(cache.travelling)
        .union(section?.options.travelling ?? [])
      let (inherited, isAtHome) = outside.read {
        (site.inherited(at: $0, travelling), $0.origin == site.base.origin)
      }
      above = inherited
      // Order of precedence: the user in the request's URL, the site's user, the user in the site's URL.
      above.user = isNamed ? nil : inherited.user ?? (isAtHome ? site.baseUser : nil)
    }
    // Any way to sign in of request and site counts before the section's.
    if isNamed || result.options.signsIn || above.signsIn { section?.leaveOutSignIn() }
    above = above.over(section.map { $0.options.over(cache) } ?? cache)
    // The request's own Authorization was removed. Site and cache must not replace it.
    if result.headers.count < headers.count { above.removeAuthorization() }
    if isAnonymous { (above.user, above.signIn, above.netrc) = (nil, nil, nil) }
    result.options = result.options.over(above)
    // Add User-Agent and Accept as headers, because requests that send different headers must not share a transfer.
    let accept = Cache.accept(result.options.accept, forPictures: !result.boxes.isEmpty)
    let named = [("User-Agent", result.options.userAgent), ("Accept", accept)]
    for (name, value) in named {
      guard let value, !result.headers.contains(where: { $0.name.equalsIgnoringCase(name) }) else { continue }
      result.headers.append((name, value))
    }
    let commandSignIn = result.addHeaders(of: section?.command)
    if let netrc = result.netrc, netrc != .off, result.user == nil,
      !result.options.hasAuthorization,
      let entry = try outside.read({ (url) throws(NuthatchError) in
        url.userinfo == nil ? try netrc.entry(for: url) : nil
      })
    {
      result.user = (
        String(decoding: entry.user, as: UTF8.self), String(decoding: entry.password, as: UTF8.self)
      )
    }
    return (result, commandSignIn)
  }

  /// Adds the headers that a program prints, if nothing else gives credentials.
  private mutating func addHeaders(of command: SignInCommand?) -> CommandSignIn? {
    guard let command, !isAnonymous, !options.hasAuthorization else { return nil }
    let known = signedIn ?? command.known
    if let known {
      headers.removeAll { own in known.contains { $0.name.equalsIgnoringCase(own.name) } }
      headers += known
    }
    return CommandSignIn(command: command, headers: known)
  }
}

/// A request that a program signs in.
struct CommandSignIn: Sendable {
  let command: SignInCommand
  /// The headers that are sent; nil if the program must run first.
  let headers: SignInCommand.Headers?
}

extension Options {
  /// - Throws: `invalid` or `bad_header` for values that no request could be sent with.
  package func checkContents() throws(NuthatchError) {
    try Lengths.check(partition, "the partition")
    try Lengths.check(netrc)
    try Lengths.check(user)
    try Lengths.check(cert)
    try Lengths.check(trustOf: self)
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
      if let userAgent { try fields.append(checking: "User-Agent", userAgent) }
      if let accept { try fields.append(checking: "Accept", accept) }
      try fields.checkSize()
    } catch {
      throw NuthatchError(.badHeader, error.reason)
    }
  }

  /// Names, in lower case, of headers that are also sent to other origins.
  var travelling: Set<String> { Set(keepHeadersAcrossOrigins.map { $0.lowercased() }) }

  var proxyChoice: ProxyChoice {
    switch proxy {
    case nil: .environment
    case "": .none
    case .some(let proxy): .explicit(proxy)
    }
  }
}

extension ProxyChoice {
  /// The proxy that an option names, empty for none; nil if the environment decides.
  var named: String? {
    switch self {
    case .environment: nil
    case .none: ""
    case .explicit(let proxy): proxy
    }
  }
}
