import NuthatchTransport

/// What to fetch, what to make of it, and within which limits.
public struct Request: Sendable {
  /// The URL, as it will be echoed by every answer and error.
  public var url: String
  /// `GET` unless said otherwise. A method that HTTP knows is put into capitals; any other is sent as it is spelled.
  public var method: String {
    get { read(\.method) }
    set { special.method = sentMethod(newValue) }
  }
  /// Sent in this order, after those that Nuthatch adds. A field given here replaces the one that would be added.
  public var headers: [(name: String, value: String)] {
    get { read(\.headers).lines }
    _modify { yield &special.headers.lines }
  }
  /// What is sent with it; say what it is with a `Content-Type` header.
  public var body: [UInt8] {
    get { read(\.body) }
    _modify { yield &special.body }
  }
  /// What is sent in the place of `body`: a file or a form, read while it is sent. None.
  public var upload: Upload? {
    get { read(\.upload) }
    _modify { yield &special.upload }
  }
  /// Where the answer goes while it comes; nowhere, so that it is in the response. What is saved may be of any size, unless
  /// `maxBytes` is given here; but more than 64 MiB decoded of less than a thousandth of that is `tooLarge`. The
  /// response has the body, and the cache keeps it, only up to the cache's `maxBytes`.
  public var saveTo: [Sink] {
    get { read(\.saveTo) }
    _modify { yield &special.saveTo }
  }
  /// Whether what is left of a file when a transfer breaks off is kept beside it, hidden, to be gone on with by the next
  /// request for it, in any process. Yes.
  public var resumes: Bool {
    get { read(\.resumes) }
    set { special.resumes = newValue }
  }
  /// Credentials; they stay with the origin of `url`.
  public var user: (name: String, password: String)? {
    get { read(\.user)?.pair }
    set { special.user = newValue.map { Special.User(pair: $0) } }
  }
  /// Where these may go, for many URLs that share one request. To a URL elsewhere they aren't sent. nil: wherever `url` leads.
  public var userPlace: SignInPlace? {
    get { read(\.userPlace) }
    set { special.userPlace = newValue }
  }
  /// Whether nobody signs in where `user` is nil: neither as the site says, nor by a netrc that this request doesn't name. Off.
  public var isAnonymous: Bool {
    get { read(\.isAnonymous) }
    set { special.isAnonymous = newValue }
  }
  /// How they are shown. nil: the site's way, else Basic.
  public var signIn: SignIn? {
    get { read(\.signIn) }
    set { special.signIn = newValue }
  }
  /// Shown to the server. nil: the site's, else none.
  public var certificate: ClientCertificate? {
    get { read(\.certificate) }
    set { special.certificate = newValue }
  }
  /// Where user and password for the URL's host are looked up, when nothing else says who asks. nil: as the site and the cache
  /// have it.
  public var netrc: Netrc? {
    get { read(\.netrc) }
    set { special.netrc = newValue }
  }

  /// The thumbnails that are wanted, at most 64; empty for the response itself.
  public var boxes: [ThumbnailBox] = []

  /// The most pixels that a picture may have. nil: the cache's own.
  public var maxPixels: Int? {
    get { read(\.maxPixels) }
    set { special.maxPixels = newValue }
  }
  /// Whether what decodes of a damaged or truncated picture is an image, marked `isPartial`. Off.
  public var allowTruncated: Bool {
    get { read(\.allowTruncated) }
    set { special.allowTruncated = newValue }
  }

  /// Whether the transfer of a progressive JPEG may end when the thumbnails are done, and much of it remains: other sizes
  /// then cost another fetch. Where bodies aren't kept it always may. Off.
  public var earlyStop = false

  /// When answers from the cache are delivered. A call that waits for one answer takes `twice` for `fresh`.
  public var delivery = Delivery.twice
  /// −10 to 10, higher ones first.
  public var priority = 0
  /// A word of the caller's, to cancel by.
  public var tag: String?
  /// What is taken for fresh. nil: the cache's own.
  public var policy: Policy? {
    get { read(\.policy) }
    set { special.policy = newValue }
  }
  /// Which addresses may be connected to. nil: the cache's own.
  public var `guard`: Guard? {
    get { special.`guard` }
    set { special.`guard` = newValue }
  }
  /// What the answer is kept under, instead of the URL: for URLs that carry a signature or a date. Never empty.
  public var cacheKey: String? {
    get { read(\.cacheKey) }
    set { special.cacheKey = newValue }
  }
  /// Leaves the query out of what the answer is kept under. Off.
  public var ignoreQuery: Bool {
    get { read(\.ignoreQuery) }
    set { special.ignoreQuery = newValue }
  }
  /// A name for whose answers these are, instead of the credentials sent: for tokens that change.
  public var partition: String? {
    get { read(\.partition) }
    set { special.partition = newValue }
  }

  /// Silence: the longest time without a byte, be it in connecting, waiting or receiving. nil: the cache's own.
  public var timeout: Limit?
  /// All of it together, from the call on: the wait for its turn in the queue, redirects, further attempts, and the time for
  /// which the server has asked to be left alone (`Retry-After`). nil: the cache's own.
  public var deadline: Limit?
  /// Whether it is one of many that are submitted at once. Then its `deadline` counts from its first attempt: the waits for
  /// its turn in the queue are left out, unless it is freezable. Off.
  public var isBatched = false
  /// For how long its host may be out of reach, or have too much to do (429, 503), since its last good answer. Until then the
  /// request waits for the host, whatever `retries` says, and what it waits is no part of its deadline; after that it fails with
  /// the fault or the status. A host that has never answered is out of reach once five requests to it have failed in a row.
  /// Before that, `retries` counts; the last one waits 5 s when the host refused or broke the connection. nil: five minutes for one of a batch; others
  /// don't wait.
  public var giveUpAfter: Limit?
  /// Whether it may end as cancelled when nothing comes while others wait for its place: for callers that submit it again when
  /// there is nothing else to do. Off.
  package var mayBeDeferred = false
  /// How often a failed attempt is followed by another. nil: the cache's own.
  public var retries: Int?
  /// The largest body that is taken. nil: the cache's own.
  public var maxBytes: Int64? {
    get { read(\.maxBytes) }
    set { special.maxBytes = newValue }
  }
  /// Whether `progress` events are delivered, of what is sent and of what comes. Off.
  public var reportsProgress = false
  /// What the program wants to be asked (`Question`). Nothing.
  public var asks: Set<Question.Kind> {
    get { read(\.asks) }
    _modify { yield &special.asks }
  }
  /// What becomes of `saveTo`, once it is submitted.
  var download: Download? {
    get { read(\.download)?.value }
    set { special.download = newValue.map { Special.Own(value: $0) } }
  }
  /// What becomes of it when its server can't be reached; for POST, PUT, PATCH and DELETE only, and an error with another
  /// method. nil: it fails.
  public var freezing: Freezing? {
    get { read(\.freezing)?.value }
    set { special.freezing = newValue.map { Special.Own(value: $0) } }
  }
  /// What it inherits beyond the cache's own; from `Site.request`.
  var site: Site? {
    get { read(\.site)?.value }
    set { special.site = newValue.map { Special.Own(value: $0) } }
  }

  /// What few requests have. A request without any of it is *plain*.
  ///
  /// In an array of at most one: an array is one pointer, and is copied when it is written to while it is shared. A request that
  /// waits, and those that a program makes of one, don't each need room for all of it.
  private var box: [Special] = []

  var special: Special {
    _read {
      if box.isEmpty { yield Special.none } else { yield box[0] }
    }
    _modify {
      if box.isEmpty {
        var new = Special()
        // What is set to what it is anyway leaves the request plain.
        defer { if new != Special.none { box = [new] } }
        yield &new
      } else {
        yield &box[0]
      }
    }
  }

  /// One field of it, without a copy of the others.
  @inline(__always)
  private func read<Value>(_ field: KeyPath<Special, Value>) -> Value {
    box.isEmpty ? Special.none[keyPath: field] : box[0][keyPath: field]
  }

  /// Whether everything but its limits is as the cache has it. Only a plain request may be answered by its URL and its size
  /// alone (`HitTable`). A field that is added later belongs into `Special`, so that it counts here.
  var isPlain: Bool { box.isEmpty }

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

  /// When answers from the cache are delivered (the table is in docs/HTTP.md).
  public enum Delivery: Int32, Sendable {
    /// A stale one at once, the fresh one after it.
    case twice = 0
    /// One answer, a stale one too; it is revalidated behind. Where the program judges answers (`Question.Kind.verdict`) it is
    /// as `fresh`.
    case first = 1
    /// One answer, which holds now, or which its server lets be shown while it is asked (`stale-while-revalidate`). Where the server
    /// can't be asked, a stale one is given in its place.
    case fresh = 2
  }
}

extension Request {
  /// What few requests have, each as it is where nothing is said. Compared as a whole, so that no field is forgotten.
  struct Special: Equatable, Sendable {
    var method = "GET"
    var headers = Headers()
    var body: [UInt8] = []
    var upload: Upload?
    var saveTo: [Sink] = []
    var resumes = true
    var user: User?
    var userPlace: SignInPlace?
    var isAnonymous = false
    var signIn: SignIn?
    var certificate: ClientCertificate?
    var netrc: Netrc?
    var maxPixels: Int?
    var allowTruncated = false
    var policy: Policy?
    var `guard`: Guard?
    var cacheKey: String?
    var ignoreQuery = false
    var partition: String?
    var maxBytes: Int64?
    var asks: Set<Question.Kind> = []
    var download: Own<Download>?
    var freezing: Own<Freezing>?
    /// Whether it comes from the outbox.
    var isReplay = false
    var site: Own<Site>?

    static let none = Special()

    struct Headers: Equatable {
      var lines: [(name: String, value: String)] = []

      static func == (left: Headers, right: Headers) -> Bool { left.lines.elementsEqual(right.lines, by: ==) }
    }

    struct User: Equatable {
      var pair: (name: String, password: String)

      static func == (left: User, right: User) -> Bool { left.pair == right.pair }
    }

    /// What a request has for itself: another one's is never the same.
    struct Own<Value: Sendable>: Equatable, Sendable {
      var value: Value

      static func == (left: Own, right: Own) -> Bool { false }
    }
  }
}

/// Which addresses may be connected to. Judged on the address really connected to, for every hop.
public enum Guard: Int32, Sendable {
  /// No link-local ones (cloud metadata), and no private ones by redirect from a public one.
  case guarded = 0
  /// Public ones only.
  case publicOnly = 1
  /// All.
  case any = 2
}

extension Guard {
  var addressGuard: AddressGuard {
    switch self {
    case .guarded: .guarded
    case .publicOnly: .public
    case .any: .any
    }
  }

  /// Whether an answer may be given whose fetch reached so far (`AnswerRecord.reach`).
  func admits(_ reach: AddressReach) -> Bool {
    switch self {
    case .guarded: reach < .link
    case .publicOnly: reach == .open
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
    if delivery == .twice { result.delivery = .fresh }
    return result
  }

  /// - Throws: `invalid` for what no request can mean.
  func check() throws(NuthatchError) {
    // All URLs would have one answer.
    guard cacheKey?.isEmpty != true else {
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

/// What is taken for fresh, and for how long (docs/HTTP.md).
public struct Policy: Sendable, Equatable {
  /// The rules that the numbers belong to.
  public enum Rules: Int32, Sendable {
    /// Those of MKNetworkKit (2011), with whose ideas this cache began: pictures stay fresh for days unless the server says otherwise.
    case kit = 0
    /// RFC 9111, to the letter.
    case rfc9111 = 1
    /// Whatever is stored answers; the network is never asked.
    case offline = 2
    /// Nothing that is stored answers; what comes is stored.
    case reload = 3
  }

  /// The rules.
  public var rules: Rules
  /// `kit`: seconds for which a picture with a validator and no lifetime is fresh. A day.
  public var validatorTTL: Int64 = 86_400
  /// `kit`: seconds for which a picture without any word on caching is fresh. Seven days.
  public var imageTTL: Int64 = 604_800
  /// `kit`: seconds for which an answer marked `no-cache` is fresh. A minute.
  public var noCacheTTL: Int64 = 60
  /// `rfc9111`: the share of the time since `Last-Modified` for which an answer without a lifetime is fresh. 0.1.
  public var heuristic: Double = 0.1

  /// Rules with their own numbers.
  public init(_ rules: Rules) { self.rules = rules }

  /// The default.
  public static let kit = Policy(.kit)
}
