import NuthatchTransport

/// A URL to fetch, the results that are wanted, and limits. Each option is also a member of the request.
@dynamicMemberLookup
public struct Request: Sendable {
  /// The URL; every answer and error repeats it unchanged.
  public var url: String
  /// The options that differ from those of the request's site and cache.
  public var options = Options()
  /// Whether the request may end as cancelled if no bytes come while other requests wait for its place in the queue. For callers that
  /// submit it again when nothing else is left to do. Default: off.
  package var mayBeDeferred = false

  /// An option of the request.
  public subscript<Value>(dynamicMember option: WritableKeyPath<Options, Value>) -> Value {
    get { options[keyPath: option] }
    _modify { yield &options[keyPath: option] }
  }

  /// Headers, sent in this order after those that Nuthatch adds. A header given here replaces the one that would be added.
  ///
  /// Declared here because access through a key path would copy all headers whenever one is added.
  public var headers: [(name: String, value: String)] {
    get { options.headers }
    _modify { yield &options.headers }
  }

  /// The questions of this request: its own, and those of its site that it doesn't exclude (`asksNot`).
  public var questions: Set<Question.Kind> {
    options.asks.union((own.site?.options.asks ?? []).subtracting(options.asksNot))
  }

  /// The method; `GET` by default. A method that HTTP defines is changed to capitals; any other is sent unchanged.
  public var method: String {
    get { own.method }
    set { own.method = sentMethod(newValue) }
  }
  /// The body; give its type with a `Content-Type` header.
  public var body: [UInt8] {
    get { own.body }
    _modify { yield &own.body }
  }
  /// A file or a form that is sent instead of `body`, read while it is sent. Default: none.
  public var upload: Upload? {
    get { own.upload }
    _modify { yield &own.upload }
  }
  /// Places where the answer is saved while it arrives. Default: none, the body is in the response. A saved answer has no size limit,
  /// unless `maxBytes` is set here. But a compressed answer that decodes to more than 64 MiB, and to more than 1,000 times the received
  /// bytes, is `tooLarge`. The response has the body, and the cache stores it, only up to the cache's `maxBytes`.
  public var saveTo: [Sink] {
    get { own.saveTo }
    _modify { yield &own.saveTo }
  }
  /// The origins to which `user` may be sent, for programs that set it for many URLs. nil: the origin of `url`.
  public var userPlace: SignInPlace? {
    get { own.userPlace }
    set { own.userPlace = newValue }
  }
  /// Whether a request without `user` ignores the site's user, and any netrc that isn't an option of the request itself.
  /// Default: off.
  public var isAnonymous: Bool {
    get { own.isAnonymous }
    set { own.isAnonymous = newValue }
  }
  /// Set by the outbox only: whether the certificate options of a frozen request are those of its site. They then apply to the
  /// URL's origin only.
  var isTrustOfSite: Bool {
    get { own.isTrustOfSite }
    set { own.isTrustOfSite = newValue }
  }
  /// The running download to `saveTo`, after the request was submitted.
  var download: Download? {
    get { own.download }
    set { own.download = newValue }
  }
  /// The outbox options, for POST, PUT, PATCH and DELETE only; with another method they are an error. nil: the request fails if
  /// its server can't be reached.
  public var freezing: Freezing? {
    get { own.freezing }
    _modify { yield &own.freezing }
  }
  /// The site whose options the request inherits.
  var site: Site? {
    get { own.site }
    set { own.site = newValue }
  }
  /// The headers of the program that signs in at the host, once it has run for this request.
  var signedIn: SignInCommand.Headers? {
    get { own.signedIn }
    set { own.signedIn = newValue }
  }
  /// Whether the outbox sends the request.
  var isReplay: Bool {
    get { own.isReplay }
    set { own.isReplay = newValue }
  }

  /// Members that few requests have, in an array for the same reason as `Options.box`.
  private var box: [Own] = []

  private var own: Own {
    _read {
      if box.isEmpty { yield Own.none } else { yield box[0] }
    }
    _modify {
      if box.isEmpty {
        var new = Own()
        // If all new values are the defaults, the request stays plain.
        defer { if !new.isNone { box = [new] } }
        yield &new
      } else {
        yield &box[0]
      }
    }
  }

  /// Whether the request differs from the cache's options only in its limits. Only a plain request may be answered by its URL and its
  /// size alone (`HitTable`).
  var isPlain: Bool { box.isEmpty && options.isPlain }

  /// A GET of `url`, with the cache's options.
  public init(_ url: String) { self.url = url }

  /// How long a request of a batch waits for its host if `giveUpAfter` isn't set.
  public static let usualPatience = Limit.milliseconds(300_000)

  /// A time limit.
  public enum Limit: Sendable, Equatable {
    case none
    case milliseconds(Int64)

    /// In nanoseconds; nil for none.
    package var nanoseconds: Int64? {
      switch self {
      case .none: nil
      case .milliseconds(let count): min(max(0, count), Int64.max / 4_000_000) * 1_000_000
      }
    }
  }
}

extension Request {
  /// Members that few requests have, apart from options.
  struct Own: Sendable {
    var method = "GET"
    var body: [UInt8] = []
    var upload: Upload?
    var saveTo: [Sink] = []
    var userPlace: SignInPlace?
    var isAnonymous = false
    var isTrustOfSite = false
    var download: Download?
    var freezing: Freezing?
    var isReplay = false
    var site: Site?
    var signedIn: SignInCommand.Headers?

    static let none = Own()

    var isNone: Bool { isSame(as: Own.none) }

    /// Returns whether all members are equal. Two downloads, outbox options, sites or sign-ins always count as different.
    func isSame(as other: Own) -> Bool {
      download == nil && other.download == nil && freezing == nil && other.freezing == nil && site == nil
        && other.site == nil && signedIn == nil && other.signedIn == nil
        && method == other.method && body == other.body && upload == other.upload
        && saveTo == other.saveTo && userPlace == other.userPlace && isAnonymous == other.isAnonymous
        && isTrustOfSite == other.isTrustOfSite
        && isReplay == other.isReplay
    }
  }

  /// Returns whether both requests resolve to the same `RequestTerms`, which don't depend on URL, cache key, `ignoreQuery`,
  /// priority and tag.
  func wantsTheSame(as other: Request) -> Bool {
    guard mayBeDeferred == other.mayBeDeferred, options.hasSameTerms(inPlace: other.options) else {
      return false
    }
    if isPlain, other.isPlain { return true }
    var others = other.options.special
    (others.cacheKey, others.ignoreQuery) = (options.cacheKey, options.ignoreQuery)
    return options.special == others && own.isSame(as: other.own)
  }
}

extension Addresses {
  var addressGuard: AddressGuard {
    switch self {
    case .guarded: .guarded
    case .public: .public
    case .any: .any
    }
  }

  /// Whether an answer may be delivered whose fetch contacted addresses of this class (`AnswerRecord.reach`).
  func admits(_ reach: AddressReach) -> Bool {
    switch self {
    case .guarded: reach < .link
    case .public: reach == .open
    case .any: true
    }
  }
}

extension Request {
  /// The URL for messages, with its password hidden.
  package var shownURL: String { WebURL.redacted(url) }

  /// Returns the request for a call that returns one answer: no stale answer is delivered first.
  package var forOneAnswer: Request {
    var result = self
    if options.delivery == .twice { result.delivery = .fresh }
    return result
  }

  /// - Throws: `invalid` for values that no request can have.
  func check() throws(NuthatchError) {
    // Checked separately, because requests that differ only in priority share their terms, and so their check.
    if !(Priority.least...Priority.most).contains(options.priority) { try options.check(.request) }
    // With an empty key, all URLs would share one answer.
    guard options.cacheKey?.isEmpty != true else {
      throw NuthatchError(.invalid, "cache_key is empty: \(shownURL)")
    }
    guard freezing == nil || FrozenRequest.freezableMethods.contains(method) else {
      throw NuthatchError(
        .invalid,
        "a freezable request must be a POST, PUT, PATCH or DELETE, not \(method.quotedForMessage): \(shownURL)"
      )
    }
    do throws(NuthatchError) { try Lengths.check(self) } catch {
      throw NuthatchError(error.code, "\(error.message): \(shownURL)")
    }
  }
}
