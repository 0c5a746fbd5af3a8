/// What few requests have. Apart from the others', which pay one pointer for it.
package final class TransferExtras: Sendable {
  /// How credentials are shown.
  package enum SignIn: UInt8, Sendable {
    /// With the first request, unasked.
    case basic
    /// Each only after the server has asked for it.
    case digest, ntlm, negotiate
    /// The strongest that the server offers.
    case any
  }

  /// Files for libcurl, in PEM.
  package struct Certificate: Sendable, Equatable {
    package var path: String
    /// Nil when it is in the same file.
    package var key: String?
    package var password: String?

    package init(path: String, key: String? = nil, password: String? = nil) {
      self.path = path
      self.key = key
      self.password = password
    }
  }

  /// By which certificates servers are checked.
  package enum Trust: Sendable, Equatable {
    /// By those in files of PEM and in hashed folders that are named, and no others.
    case authorities(file: String?, folder: String?)
    /// They aren't.
    case unchecked
  }

  /// In the place of `body`.
  package let upload: BodySource?
  package let signIn: SignIn
  /// Shown to the server.
  package let certificate: Certificate?
  /// Nil for what the environment says.
  package let trust: Trust?
  /// The same where a redirect to another origin leads.
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

  /// Whether a handshake may fail by what the request says.
  package var saysMoreOfTLS: Bool { trust != nil || certificate != nil }

  /// What a redirect takes along.
  ///
  /// - Parameters:
  ///   - sendsBody: whether the next request has the body of this one.
  ///   - staysAtOrigin: whether it goes to the same origin; nothing that proves who asks goes to another.
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
  /// What needs a connection that it shares with no other request, where several may be shared.
  var prefersHTTP1: Bool { url.scheme == .https && (hasBody || !isIdempotent(method: method)) }

  /// How many bytes there are to send.
  package var bodyCount: Int64 { extras?.upload?.count ?? Int64(body.count) }

  /// Whether libcurl may answer a 401 by itself.
  var answersChallenges: Bool {
    guard let signIn = extras?.signIn, signIn != .basic else { return false }
    return credentials != nil || signIn == .negotiate
  }

  /// Whether a server asks for what libcurl can't give: of several challenges it takes a Digest before whatever else could be
  /// meant with a password, and the first of those, and of a body under `auth-int` it knows nothing but that it is empty.
  package func cannotAnswer(_ head: ResponseHead) -> Bool {
    guard head.status == 401, bodyCount > 0, credentials != nil,
      [.digest, .any].contains(extras?.signIn)
    else { return false }
    return head.challenges.first { $0.scheme == "digest" }?.coversBody == true
  }
}
