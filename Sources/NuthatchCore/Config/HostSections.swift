import NuthatchBase
import NuthatchTransport

/// A section of a config file: options for the requests to one host.
struct HostSection: Sendable {
  let place: SignInPlace
  var options: Options
  /// Prints headers for the requests.
  var command: SignInCommand?
  /// Starts a second.
  let rate: Double?

  /// Returns this section with what a more general one adds.
  fileprivate func over(_ wider: HostSection) -> HostSection {
    var (result, wider) = (self, wider)
    // Each section has its own way to sign in.
    if command != nil || options.signsIn { wider.leaveOutSignIn() }
    result.options = options.over(wider.options)
    result.command = command ?? wider.command
    return result
  }

  /// Leaves out how it signs in, because something above it does.
  mutating func leaveOutSignIn() {
    (command, options.user, options.netrc) = (nil, nil, nil)
    options.removeAuthorization()
  }
}

/// The sections for hosts of a cache's config files.
final class HostSections: Sendable, Equatable {
  /// Later ones override earlier ones.
  private let sections: [HostSection]
  /// Where sections with cookies keep them; known when the cache is open.
  private let jars = Locked<CookieJars?>(nil)

  init?(_ sections: [HostSection]) {
    guard !sections.isEmpty else { return nil }
    self.sections = sections
  }

  static func == (left: HostSections, right: HostSections) -> Bool { left === right }

  /// Returns the options at an origin; nil if no section is for it.
  func section(at origin: Origin) -> HostSection? {
    var result: HostSection?
    for section in sections where section.place.origins.contains(origin) {
      result = result.map { section.over($0) } ?? section
    }
    return result
  }

  /// The starts a second by origin.
  var rates: [Origin: Double] {
    var result: [Origin: Double] = [:]
    for section in sections {
      if let rate = section.rate { for origin in section.place.origins { result[origin] = rate } }
    }
    return result
  }

  func keepCookies(in jars: CookieJars) { self.jars.withLock { $0 = jars } }

  /// Returns the cookies for a URL. nil if its section keeps none.
  func cookies(for url: WebURL) -> SiteCookies? {
    guard let options = section(at: url.origin)?.options, options.cookieJar != .off,
      let jars = jars.withLock({ $0 }), let base = try? url.resolving(Array("/".utf8))
    else { return nil }
    let names = [options.user?.name, options.partition].map { $0 ?? "" }
    return jars.cookies(options.cookieJar, of: base, for: names)
  }
}
