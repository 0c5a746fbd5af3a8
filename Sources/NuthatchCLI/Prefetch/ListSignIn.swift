import NuthatchCore

/// `--user` of a list: user, password, and the host that they may be sent to. A list may have URLs of any host.
struct ListSignIn {
  let user: (name: String, password: String)
  /// nil: all URLs of the list must be at one origin, and the password goes there.
  private(set) var place: SignInPlace?

  /// - Parameter text: `NAME:PASSWORD` or `NAME:PASSWORD@HOST`; the last `@` counts, because a password may have some.
  init(_ text: String, for command: String) throws(UsageError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    var password = parts.count > 1 ? parts[1] : ""
    if let at = password.lastIndex(of: "@") {
      place = SignInPlace(String(password[password.index(after: at)...]))
      guard place != nil else {
        throw UsageError(
          "\(command): --user: the text after the last '@' is not host, host:port or https://host; \(Self.advice)"
        )
      }
      password = password[..<at]
    }
    user = (String(parts[0]), String(password))
  }

  /// If the option names no host, reads all of the list before anything is sent, and takes the origin that all URLs share.
  /// The first URL alone could be at a host that must not get the password.
  mutating func settle(_ list: URLList) throws(UsageError) {
    guard place == nil else { return }
    let urls: [String]
    do { urls = try list.hold() } catch { throw UsageError("prefetch: \(error.message)") }
    for url in urls {
      guard let found = SignInPlace(originOf: url) else { continue }
      if let place, place != found {
        throw UsageError(
          "prefetch: --user: the list has URLs at \(place) and at \(found); name the host that gets the password: "
            + "--user NAME:PASSWORD@HOST")
      }
      place = found
    }
  }

  /// The warning if no URL of the list is at the host. It doesn't show the text after the `@`, which may be part of a password.
  static let unused =
    "--user: the password was not used: no URL of the list is at the host after the last '@'; \(advice)"

  private static let advice = "a password with an '@' needs the host after it: NAME:PASSWORD@HOST"
}
