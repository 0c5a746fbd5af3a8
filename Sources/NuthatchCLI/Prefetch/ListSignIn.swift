import NuthatchCore

/// `--user` of a list: user and password, and where they may go. A list may lead anywhere.
struct ListSignIn {
  let user: (name: String, password: String)
  /// nil: to the one origin that the list has to have then.
  private(set) var place: SignInPlace?

  /// - Parameter text: `NAME:PASSWORD` or `NAME:PASSWORD@HOST`; the last `@` counts, because a password may have some.
  init(_ text: String, for command: String) throws(UsageError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    var password = parts.count > 1 ? parts[1] : ""
    if let at = password.lastIndex(of: "@") {
      place = SignInPlace(String(password[password.index(after: at)...]))
      guard place != nil else {
        throw UsageError(
          "\(command): --user: what follows the last '@' is no host, host:port or https://host; \(Self.advice)"
        )
      }
      password = password[..<at]
    }
    user = (String(parts[0]), String(password))
  }

  /// Looks through all of a list whose host isn't said before anything is sent: its first URL may be anybody's.
  mutating func settle(_ list: URLList) throws(UsageError) {
    guard place == nil else { return }
    let urls: [String]
    do { urls = try list.hold() } catch { throw UsageError("prefetch: \(error.message)") }
    for url in urls {
      guard let found = SignInPlace(originOf: url) else { continue }
      if let place, place != found {
        throw UsageError(
          "prefetch: --user: the list has URLs at \(place) and at \(found); say whose the password is: "
            + "--user NAME:PASSWORD@HOST")
      }
      place = found
    }
  }

  /// Said where no URL of a list was there. It doesn't show what follows the `@`, which may be the end of a password.
  static let unused =
    "--user: nobody signed in: no URL of the list is at the host that follows the last '@'; \(advice)"

  private static let advice = "a password with an '@' needs the host behind it: NAME:PASSWORD@HOST"
}
