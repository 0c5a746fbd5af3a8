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

  /// Nil for Basic, which is what is done anyway.
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

/// A certificate that says who asks, in files in PEM. It is shown to the origin of the request's URL only.
public struct ClientCertificate: Sendable, Equatable {
  /// The certificate, with those that it leads to.
  public var path: String
  /// Its key; nil when it is in the same file.
  public var key: String?
  /// What the key is encrypted with; nil when it isn't.
  public var password: String?

  /// One from files.
  public init(_ path: String, key: String? = nil, password: String? = nil) {
    self.path = path
    self.key = key
    self.password = password
  }
}

extension Request {
  /// Signs in with a token: `Authorization: Bearer TOKEN`, in the place of user and password.
  public mutating func setBearer(_ token: String) {
    options.headers.removeAll { $0.name.equalsIgnoringCase("Authorization") }
    options.headers.append(("Authorization", "Bearer \(token)"))
  }
}
