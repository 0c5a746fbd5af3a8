/// Options that few requests use. A request without them needs memory for one pointer only.
package final class TransferExtras: Sendable {
  /// The authentication method.
  package enum SignIn: UInt8, Sendable {
    /// With the first request, without a challenge.
    case basic
    /// Only after a challenge by the server.
    case digest, ntlm, negotiate
    /// The strongest method that the server offers, but not Negotiate if there is a password.
    case any
  }

  /// Paths of PEM files.
  package struct Certificate: Sendable, Equatable {
    package var path: String
    /// Nil if it is in the same file.
    package var key: String?
    package var password: String?

    package init(path: String, key: String? = nil, password: String? = nil) {
      self.path = path
      self.key = key
      self.password = password
    }
  }

  /// The certificates that servers are checked against.
  package enum Trust: Sendable, Equatable {
    /// Only those in this PEM file and in this folder with hashed names.
    case authorities(file: String?, folder: String?)
    /// Servers aren't checked.
    case unchecked
  }

  /// The body, instead of `TransferRequest.body`.
  package let upload: BodySource?
  package let signIn: SignIn
  /// The client's certificate.
  package let certificate: Certificate?
  /// Nil: those that the environment names, else the system's.
  package let trust: Trust?
  /// The trust after a redirect to another origin.
  package let trustElsewhere: Trust?

  package init(
    upload: BodySource? = nil, signIn: SignIn = .basic, certificate: Certificate? = nil, trust: Trust? = nil,
    trustElsewhere: Trust? = nil
  ) {
    self.upload = upload
    self.signIn = signIn
    self.certificate = certificate
    self.trust = trust
    self.trustElsewhere = trustElsewhere
  }

  /// Whether the request's own options can make a TLS handshake fail.
  package var changesTLS: Bool { trust != nil || certificate != nil }

  /// Returns the options for a redirect.
  ///
  /// - Parameters:
  ///   - sendsBody: whether the next request sends this body, too.
  ///   - staysAtOrigin: whether the next request goes to the same origin. If not, the client's certificate and the sign-in
  ///     method are left out, and `trustElsewhere` is used.
  package func following(sendsBody: Bool, staysAtOrigin: Bool) -> TransferExtras? {
    if sendsBody, staysAtOrigin { return self }
    let upload = sendsBody ? upload : nil
    guard staysAtOrigin else {
      return upload == nil && trustElsewhere == nil
        ? nil : TransferExtras(upload: upload, trust: trustElsewhere, trustElsewhere: trustElsewhere)
    }
    return TransferExtras(
      upload: upload, signIn: signIn, certificate: certificate, trust: trust, trustElsewhere: trustElsewhere)
  }
}

extension TransferRequest {
  /// Whether there is a body to send.
  package var hasBody: Bool { !body.isEmpty || extras?.upload != nil }
  /// Whether to use HTTP/1.1 for the reasons in `ConnectionPool`. False for http URLs, which use it anyway.
  var prefersHTTP1: Bool { url.scheme == .https && (hasBody || !isIdempotent(method: method)) }

  /// The number of bytes to send.
  package var bodyCount: Int64 { extras?.upload?.count ?? Int64(body.count) }

  /// Whether libcurl may answer a 401 by itself.
  var answersChallenges: Bool {
    guard let signIn = extras?.signIn, signIn != .basic else { return false }
    return credentials != nil || signIn == .negotiate
  }

  /// Whether libcurl can't answer this 401. It answers the first Digest challenge, even if other methods are offered. If that
  /// challenge asks for a hash of the body (`auth-int`), libcurl can only hash an empty body.
  package func cannotAnswer(_ head: ResponseHead) -> Bool {
    guard head.status == 401, bodyCount > 0, credentials != nil,
      [.digest, .any].contains(extras?.signIn)
    else { return false }
    return head.challenges.first { $0.scheme == "digest" }?.coversBody == true
  }
}
