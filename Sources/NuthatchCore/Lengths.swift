import Glibc

/// Limits for the caller's texts that aren't URLs or headers (docs/HTTP.md, "Limits"). Without them, libcurl or the disk would
/// refuse a text later, with an error that doesn't name the cause.
enum Lengths {
  /// Names, users and passwords, in bytes.
  static let longestText = 65_536
  /// The kernel's limit for a path.
  static let longestPath = Int(PATH_MAX) - 1

  /// - Throws: `invalid`.
  static func check(_ text: String?, _ what: StaticString) throws(NuthatchError) {
    try check(text, what, longestText)
  }

  /// - Throws: `invalid`.
  static func check(path: String?, _ what: StaticString) throws(NuthatchError) {
    try check(path, what, longestPath)
    try checkNUL(path, what)
  }

  private static func checkNUL(_ text: String?, _ what: StaticString) throws(NuthatchError) {
    if text?.utf8.contains(0) == true { throw NuthatchError(.invalid, "\(what) contains a NUL byte") }
  }

  private static func check(_ text: String?, _ what: StaticString, _ most: Int) throws(NuthatchError) {
    guard let text, text.utf8.count > most else { return }
    throw NuthatchError(.invalid, "\(what) has \(text.utf8.count) bytes; at most \(most) are allowed")
  }

  /// - Throws: `invalid`.
  static func check(_ user: (name: String, password: String)?) throws(NuthatchError) {
    try check(user?.name, "the user's name")
    try check(user?.password, "the password")
  }

  /// - Throws: `invalid`.
  static func check(_ netrc: Netrc?) throws(NuthatchError) {
    if case .file(let path)? = netrc { try check(path: path, "the path of the netrc") }
  }

  /// - Throws: `invalid`.
  static func check(_ certificate: ClientCertificate?) throws(NuthatchError) {
    try check(path: certificate?.path, "the path of the certificate")
    try check(path: certificate?.key, "the path of the certificate's key")
    try check(certificate?.password, "the certificate's password")
    try checkNUL(certificate?.password, "the certificate's password")
  }

  /// - Throws: `invalid`.
  static func check(trustOf options: Options) throws(NuthatchError) {
    for path in [options.caFile, options.caDir] {
      try check(path: path, "the path of the certificates to trust")
    }
  }

  /// - Throws: `invalid`.
  static func check(_ request: Request) throws(NuthatchError) {
    try check(request.cacheKey, "the cache key")
    try check(request.partition, "the partition")
    try check(request.tag, "the tag")
    try check(request.user)
    try check(request.netrc)
    try check(request.cert)
    try check(trustOf: request.options)
    for sink in request.saveTo {
      switch sink {
      case .file(let path), .appended(let path): try check(path: path, "the path of the file to save to")
      case .descriptor, .events: break
      }
    }
    for path in request.upload?.paths ?? [] { try check(path: path, "the path of the file to send") }
    guard let freezing = request.freezing else { return }
    try check(freezing.queue, "the queue's name")
    try check(freezing.handler, "the handler's name")
    try check(freezing.passwordProvider, "the provider's name")
    for secret in freezing.secrets { try check(secret.provider, "the provider's name") }
  }
}
