import NuthatchTransport

/// What to fetch, what to make of it, and within which limits. Has the members of its options.
@dynamicMemberLookup
public struct Request: Sendable {
  /// The URL, as it will be echoed by every answer and error.
  public var url: String
  /// What is said of it otherwise than of its site and its cache.
  public var options = Options()
  /// Whether it may end as cancelled when nothing comes while others wait for its place: for callers that submit it again when
  /// there is nothing else to do. Off.
  package var mayBeDeferred = false

  /// An option.
  public subscript<Value>(dynamicMember option: WritableKeyPath<Options, Value>) -> Value {
    get { options[keyPath: option] }
    _modify { yield &options[keyPath: option] }
  }

  /// Sent in this order, after those that Nuthatch adds. A field given here replaces the one that would be added.
  ///
  /// Not by key path, which would copy all of them for each that is added.
  public var headers: [(name: String, value: String)] {
    get { options.headers }
    _modify { yield &options.headers }
  }

  /// What it asks its program: what it says itself, and what its site asks and it doesn't except.
  public var questions: Set<Question.Kind> {
    options.asks.union((own.site?.options.asks ?? []).subtracting(options.asksNot))
  }

  /// `GET` unless said otherwise. A method that HTTP knows is put into capitals; any other is sent as it is spelled.
  public var method: String {
    get { own.method }
    set { own.method = sentMethod(newValue) }
  }
  /// What is sent with it; say what it is with a `Content-Type` header.
  public var body: [UInt8] {
    get { own.body }
    _modify { yield &own.body }
  }
  /// What is sent in the place of `body`: a file or a form, read while it is sent. None.
  public var upload: Upload? {
    get { own.upload }
    _modify { yield &own.upload }
  }
  /// Where the answer goes while it comes; nowhere, so that it is in the response. What is saved may be of any size, unless
  /// `maxBytes` is given here; but more than 64 MiB decoded of less than a thousandth of that is `tooLarge`. The
  /// response has the body, and the cache keeps it, only up to the cache's `maxBytes`.
  public var saveTo: [Sink] {
    get { own.saveTo }
    _modify { yield &own.saveTo }
  }
  /// Where `user` may go, for many URLs that share one request. To a URL elsewhere it isn't sent. nil: wherever `url` leads.
  public var userPlace: SignInPlace? {
    get { own.userPlace }
    set { own.userPlace = newValue }
  }
  /// Whether nobody signs in where `user` is nil: neither as the site says, nor by a netrc that this request doesn't name. Off.
  public var isAnonymous: Bool {
    get { own.isAnonymous }
    set { own.isAnonymous = newValue }
  }
  /// Whether what it says of certificates to trust is a site's word, which counts at the URL's origin only.
  var isTrustOfSite: Bool {
    get { own.isTrustOfSite }
    set { own.isTrustOfSite = newValue }
  }
  /// What becomes of `saveTo`, once it is submitted.
  var download: Download? {
    get { own.download }
    set { own.download = newValue }
  }
  /// What becomes of it when its server can't be reached; for POST, PUT, PATCH and DELETE only, and an error with another
  /// method. nil: it fails.
  public var freezing: Freezing? {
    get { own.freezing }
    _modify { yield &own.freezing }
  }
  /// What it inherits beyond the cache's own; from `Site.request`.
  var site: Site? {
    get { own.site }
    set { own.site = newValue }
  }
  /// Whether it comes from the outbox.
  var isReplay: Bool {
    get { own.isReplay }
    set { own.isReplay = newValue }
  }

  /// What few requests have; as the box of `Options`.
  private var box: [Own] = []

  private var own: Own {
    _read {
      if box.isEmpty { yield Own.none } else { yield box[0] }
    }
    _modify {
      if box.isEmpty {
        var new = Own()
        // What is set to what it is anyway leaves the request plain.
        defer { if !new.isNone { box = [new] } }
        yield &new
      } else {
        yield &box[0]
      }
    }
  }

  /// Whether everything but its limits is as the cache has it. Only a plain request may be answered by its URL and its size
  /// alone (`HitTable`).
  var isPlain: Bool { box.isEmpty && options.isPlain }

  /// A GET of `url`, with the cache's own limits.
  public init(_ url: String) { self.url = url }

  /// For how long a request of a batch waits for its host when `giveUpAfter` says nothing.
  public static let usualPatience = Limit.milliseconds(300_000)

  /// A limit in time.
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
  /// What few requests have beside options.
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

    static let none = Own()

    var isNone: Bool { isSame(as: Own.none) }

    /// What a request has for itself is never the same as another one's.
    func isSame(as other: Own) -> Bool {
      download == nil && other.download == nil && freezing == nil && other.freezing == nil && site == nil
        && other.site == nil && method == other.method && body == other.body && upload == other.upload
        && saveTo == other.saveTo && userPlace == other.userPlace && isAnonymous == other.isAnonymous
        && isTrustOfSite == other.isTrustOfSite
        && isReplay == other.isReplay
    }
  }

  /// Whether all is equal but what has no part in the terms: the URL, what it is kept under instead, priority and tag.
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

  /// Whether an answer may be given whose fetch reached so far (`AnswerRecord.reach`).
  func admits(_ reach: AddressReach) -> Bool {
    switch self {
    case .guarded: reach < .link
    case .public: reach == .open
    case .any: true
    }
  }
}

extension Request {
  /// The URL for messages, its password hidden.
  package var shownURL: String { WebURL.redacted(url) }

  /// The same for a call that gives one answer: nothing is shown before the one that holds now.
  package var forOneAnswer: Request {
    var result = self
    if options.delivery == .twice { result.delivery = .fresh }
    return result
  }

  /// - Throws: `invalid` for what no request can mean.
  func check() throws(NuthatchError) {
    // It has no part in the terms, which may be shared.
    if !(Priority.least...Priority.most).contains(options.priority) { try options.check(.request) }
    // All URLs would have one answer.
    guard options.cacheKey?.isEmpty != true else {
      throw NuthatchError(.invalid, "cache_key is empty: \(shownURL)")
    }
    guard freezing == nil || FrozenRequest.freezableMethods.contains(method) else {
      throw NuthatchError(
        .invalid,
        "a \(method.quotedForMessage) can't be freezable; a POST, PUT, PATCH or DELETE can: \(shownURL)")
    }
    do throws(NuthatchError) { try Lengths.check(self) } catch {
      throw NuthatchError(error.code, "\(error.message): \(shownURL)")
    }
  }
}
