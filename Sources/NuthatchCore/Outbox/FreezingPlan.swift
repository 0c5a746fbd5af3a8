import NuthatchBase
import NuthatchTransport

/// The checked outbox options of a request, with the values that its record needs. Separate from `RequestTerms`, so that
/// requests that aren't freezable need less memory.
final class FreezingPlan: Sendable {
  let options: Request.Freezing
  /// The name of the queue, or the origin.
  let queue: String
  /// Whether a secret is missing, so that no attempt is made now.
  let lacksSecret: Bool
  /// The name in the credentials, and the provider of the password (`FrozenRequest.user`).
  private let user: (name: String?, provider: String)?
  /// The proxy that the request's site sets; nil if it sets none.
  private let proxy: String?

  fileprivate init(
    _ options: Request.Freezing, queue: String, lacksSecret: Bool,
    user: (name: String?, provider: String)?, proxy: String?
  ) {
    self.options = options
    self.proxy = proxy
    self.queue = queue
    self.lacksSecret = lacksSecret
    self.user = user
  }

  /// Checks that no secret would be written, and gives the request its Idempotency-Key.
  ///
  /// - Parameters:
  ///   - request: the request with its inherited options.
  ///   - headers: the headers to send.
  /// - Throws: `secret_needs_provider`; `bad_header`; `invalid`.
  static func make(
    _ request: Request, _ url: WebURL, _ credentials: (user: [UInt8], password: [UInt8])?,
    _ headers: inout HeaderFields
  ) throws(NuthatchError) -> FreezingPlan? {
    guard let options = request.freezing else { return nil }
    guard request.saveTo.isEmpty else {
      throw NuthatchError(
        .invalid, "save_to can't be used with a freezable request: \(url)")
    }
    func needsProvider(_ what: String) -> NuthatchError {
      NuthatchError(
        .secretNeedsProvider,
        "\(what) is secret and would be written to the disk; name a provider for it: \(url)")
    }
    for secret in options.secrets {
      do throws(HeaderFault) {
        var checked = HeaderFields()
        try checked.append(checking: secret.header, secret.prefix)
      } catch {
        throw NuthatchError(.badHeader, "\(error.reason): \(url)")
      }
    }
    for field in headers.fields
    where field.isSecret && !field.isIdempotencyKey && options.provider(of: field.name) == nil {
      throw needsProvider("the header \(field.name)")
    }
    let isAsked = options.isAnswered || (credentials == nil && request.asks.contains(.credentials))
    if credentials != nil, options.passwordProvider == nil { throw needsProvider("the password") }
    if isAsked, options.passwordProvider == nil {
      throw NuthatchError(
        .invalid,
        "a freezable request that asks for name and password needs a password provider that "
          + "gives \"name:password\" when the outbox sends it; name one: \(url)")
    }
    if request.cert?.password != nil { throw needsProvider("the certificate's password") }
    let proxy = request.site?.options.proxy
    if let proxy, WebURL.redacted(proxy) != proxy { throw needsProvider("the password of the site's proxy") }
    let providers = options.secrets.map { ("provider", String?.some($0.provider)) }
    let names = [
      ("queue", options.queue), ("handler", options.handler), ("provider", options.passwordProvider),
    ]
    for (name, text) in names + providers where text?.isEmpty == true {
      throw NuthatchError(.invalid, "the name of the \(name) is empty: \(url)")
    }
    if !headers.fields.contains(where: \.isIdempotencyKey) {
      headers.append("Idempotency-Key", "\"\(newKey())\"")
    }
    let name = isAsked ? nil : credentials.map { String(decoding: $0.user, as: UTF8.self) }
    let user = isAsked || name != nil ? options.passwordProvider.map { (name, $0) } : nil
    let lacksPassword = name != nil && credentials?.password.isEmpty == true
    let lacksSecret = lacksPassword || options.secrets.contains { !headers.contains($0.header) }
    return FreezingPlan(
      options, queue: options.queue ?? url.origin.text, lacksSecret: lacksSecret, user: user, proxy: proxy)
  }

  /// 128 random bits, as a UUID (RFC 9562, version 4).
  private static func newKey() -> String {
    let high = UInt64.random(in: .min ... .max) & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
    let low = UInt64.random(in: .min ... .max) & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    let (one, other) = (Array(high.digits(16, radix: 16)), Array(low.digits(16, radix: 16)))
    return [one[0..<8], one[8..<12], one[12..<16], other[0..<4], other[4..<16]].map { String($0) }
      .joined(separator: "-")
  }

  /// Returns the record of the request.
  ///
  /// - Parameters:
  ///   - exposed: the time from which the server may know of it.
  func frozen(
    _ plan: RequestPlan, _ ticket: Ticket, at now: DurableTime, exposed: DurableTime?, isLive: Bool
  ) -> FrozenRequest {
    var address = ticket.url
    // The passed URL may contain a password, or be relative to its site, which is unknown later.
    let isWhole = (try? WebURL(address)) != nil
    if !isWhole || plan.url.userinfo != nil || plan.credentials != nil { address = plan.url.address }
    let headers = plan.headers.fields.filter { options.provider(of: $0.name) == nil }
    return FrozenRequest(
      passedURL: address, address: plan.url.address, method: plan.method,
      headers: headers.map { ($0.name, $0.value) }, secrets: options.secrets, user: user,
      signIn: plan.extras.flatMap { SignIn($0.signIn) },
      certificate: plan.extras?.certificate.map { ClientCertificate(at: $0.path, key: $0.key) },
      proxy: proxy, options: plan.frozenOptions, queue: queue,
      isNamedQueue: options.queue != nil, handler: options.handler, tag: ticket.tag,
      guardGrade: plan.guardGrade, silence: plan.silence, maxBytes: plan.maxBytes,
      attempts: options.attempts,
      longest: options.longest.nanoseconds, keyLifetime: options.keyLifetime.nanoseconds,
      frozen: now, exposed: exposed, isLive: isLive,
      body: plan.extras?.upload.map { .source($0) } ?? .inline(plan.body))
  }
}

extension ClientCertificate {
  /// The certificate with absolute paths, because the sending process may have another working directory.
  fileprivate init(at path: String, key: String?) {
    self.init(absolute(path), key: key.map(absolute))
  }
}

extension Request {
  /// Returns whether a header of this name holds a secret, which must not be written.
  package static func isSecret(header name: String) -> Bool {
    let field = HeaderFields.Field(name: name, value: "")
    return field.isSecret && !field.isIdempotencyKey
  }
}

extension HeaderFields.Field {
  var isIdempotencyKey: Bool { name.equalsIgnoringCase("Idempotency-Key") }
}

extension Origin {
  var text: String { "\(scheme.rawValue)://\(host):\(port)" }
}

extension Request {
  /// Returns the request with the secrets that providers already have.
  func provided(by secrets: OutboxSecrets) -> Request {
    guard let freezing else { return self }
    var result = self
    for secret in freezing.secrets
    where !options.headers.contains(where: { $0.name.equalsIgnoringCase(secret.header) }) {
      guard let value = secrets.value(of: secret.provider) else { continue }
      result.headers.append((secret.header, secret.prefix + value))
    }
    if let user = options.user, user.password.isEmpty, let provider = freezing.passwordProvider,
      let password = secrets.value(of: provider)
    {
      result.user = (user.name, password)
    }
    return result
  }
}
