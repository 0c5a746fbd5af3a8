import CSystem

/// The secrets that the program has provided, in memory only.
final class OutboxSecrets: Sendable {
  private struct State {
    var values: [String: String] = [:]
    /// The value of each provider that a server has refused.
    var refused: [String: String] = [:]
  }

  private let state = Locked(State())

  /// nil removes the secret.
  func provide(_ provider: String, _ value: String?) {
    state.withLock { state in
      state.values[provider] = value
      state.refused[provider] = nil
    }
  }

  /// Returns the secret; nil if it is unknown, or if a server has refused the same value.
  func value(of provider: String) -> String? {
    state.withLock { state in
      let value = state.values[provider] ?? Self.variable(provider)
      return value == state.refused[provider] ? nil : value
    }
  }

  func refuse(_ provider: String) {
    state.withLock { state in state.refused[provider] = state.values[provider] ?? Self.variable(provider) }
  }

  /// Allows refused secrets to be tried again.
  func forgive(_ providers: Set<String>) {
    state.withLock { state in
      for provider in providers { state.refused[provider] = nil }
    }
  }

  private static func variable(_ provider: String) -> String? {
    guard provider.hasPrefix("env:") else { return nil }
    return nhs_environment(String(provider.dropFirst(4))).map { String(cString: $0) }
  }
}

extension FrozenRequest {
  /// The providers of all secrets that it needs.
  var providers: [String] {
    secrets.map(\.provider) + [user?.provider].compactMap { $0 }
  }

  /// Returns the request to send; nil if a secret is missing or the body wasn't read.
  ///
  /// - Parameter path: returns the path of a body that has its own file.
  func request(_ values: OutboxSecrets, bodyAt path: (String) -> String) -> Request? {
    var request = Request(address)
    request.method = method
    request.headers = headers
    switch body {
    case .inline(let bytes): request.body = bytes
    case .file(let name, _, _): request.upload = .file(path(name))
    case .unread, .source: return nil
    }
    request.signIn = signIn
    request.cert = certificate
    applyOptions(to: &request)
    for secret in secrets {
      guard let value = values.value(of: secret.provider) else { return nil }
      request.headers.append((secret.header, secret.prefix + value))
    }
    if let user {
      guard let secret = values.value(of: user.provider) else { return nil }
      request.user = user.name.map { ($0, secret) } ?? Self.parts(ofUser: secret)
      // The server may need no credentials, or want a scheme that isn't known here. With `any`, credentials are sent only if it
      // asks for them.
      if user.name == nil { request.signIn = signIn ?? .any }
    }
    request.addresses = guardGrade
    request.timeout = silence.map { .milliseconds($0 / 1_000_000) } ?? Request.Limit.none
    request.deadline = Request.Limit.none
    request.retries = 0
    request.maxBytes = maxBytes
    request.tag = tag
    request.priority = -5
    request.delivery = .fresh
    request.isReplay = true
    return request
  }

  private static func parts(ofUser secret: String) -> (name: String, password: String) {
    let parts = secret.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
  }
}

extension Request.Freezing {
  func provider(of header: String) -> Secret? {
    secrets.first { $0.header.equalsIgnoringCase(header) }
  }
}
