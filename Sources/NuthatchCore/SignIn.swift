import NuthatchTransport

extension SignIn {
  var scheme: TransferExtras.SignIn {
    switch self {
    case .basic: .basic
    case .digest: .digest
    case .ntlm: .ntlm
    case .negotiate: .negotiate
    case .any: .any
    }
  }

  /// nil for Basic, the default.
  init?(_ scheme: TransferExtras.SignIn) {
    switch scheme {
    case .basic: return nil
    case .digest: self = .digest
    case .ntlm: self = .ntlm
    case .negotiate: self = .negotiate
    case .any: self = .any
    }
  }
}

/// A client certificate, in files in PEM. It is sent to the origin of the request's URL only.
public struct ClientCertificate: Sendable, Equatable {
  /// The certificate, followed by its intermediate certificates.
  public var path: String
  /// The certificate's private key; nil if it is in the same file.
  public var key: String?
  /// The password of the key; nil if the key isn't encrypted.
  public var password: String?

  /// A certificate from files.
  public init(_ path: String, key: String? = nil, password: String? = nil) {
    self.path = path
    self.key = key
    self.password = password
  }
}

extension Options {
  var hasAuthorization: Bool { headers.contains { $0.name.equalsIgnoringCase("Authorization") } }

  mutating func removeAuthorization() {
    headers.removeAll { $0.name.equalsIgnoringCase("Authorization") }
  }

  /// Whether they have user and password, or a header in place of them.
  var signsIn: Bool { user != nil || (netrc ?? .off) != .off || hasAuthorization }
}

extension Request {
  /// Signs in with a token: `Authorization: Bearer TOKEN`, instead of user and password.
  public mutating func setBearer(_ token: String) {
    options.removeAuthorization()
    options.headers.append(("Authorization", "Bearer \(token)"))
  }
}
