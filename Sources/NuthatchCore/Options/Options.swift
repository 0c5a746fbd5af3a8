// Generated from options.toml by Scripts/make-header; edit that instead.

/// Options of a cache, a site, a request, or the process's queue (`ProcessQueue`). An option of a request that is not
/// set is that of its site, then that of the cache, then the default. An option that a level doesn't have is the error
/// `invalid` there.
public struct Options: Sendable, Equatable {
  /// Longest time without a byte: connecting, waiting, between two bytes.
  ///
  /// A slow answer may take any time as long as bytes come: `deadline` limits the whole request.
  ///
  /// Default: 30s. Option of a cache or a site or a request.
  public var timeout: Request.Limit?
  /// Longest time for the whole request.
  ///
  /// A deadline that is set counts from the call, and includes the wait in the queue. For requests of a batch (`batched`)
  /// it counts from the first attempt. It also runs while the request waits because the server asked for a pause (Retry-
  /// After). The default deadline of pictures excludes both waits.
  ///
  /// Default: two minutes for pictures, else none. Option of a cache or a site or a request.
  public var deadline: Request.Limit?
  /// Further attempts after a failed one.
  ///
  /// Only requests that may be sent twice are retried: GET, HEAD, OPTIONS, TRACE, PUT and DELETE, not POST and PATCH. A
  /// retry follows a connection fault (`timeout`, `dns`, `refused`, `reset`, `truncated`), something else than an answer on
  /// a kept connection (`http`), and the statuses 408, 425, 429, 500, 502, 503 and 504. Each retry waits for a random time:
  /// up to 250 ms, 500 ms and so on, up to 20 s. If the server sends Retry-After, the retry waits for that time; if it is
  /// longer than five minutes, there is no retry. The last retry of a batch request (`batched`) waits 5 s if the host
  /// refused or broke the connection.
  ///
  /// Default: 3. Option of a cache or a site or a request.
  public var retries: Int?
  /// How long a host may be unreachable before its requests fail.
  ///
  /// The limit counts from the host's last good answer. A host is unavailable if it can't be reached, or answers 429 or
  /// 503. The request waits for the host up to the limit, even beyond `retries`, and that wait isn't part of its deadline.
  /// After the limit it fails with the fault or the status. A millisecond means almost no wait. A request that must not be
  /// sent twice, or that is freezable, doesn't wait. A host that has never answered counts as unreachable after five failed
  /// requests in a row. Until then `retries` decides.
  ///
  /// Default: five minutes for requests of a batch, else none. Option of a request.
  public var giveUpAfter: Request.Limit?
  /// The request is one of many that are submitted at once.
  ///
  /// Its deadline counts from its first attempt: the wait in the queue is left out, unless the request is freezable. It
  /// waits for a host that is unreachable or overloaded for as long as `give_up_after` allows.
  ///
  /// Default: no. Option of a request.
  public var isBatched = false
  /// Boxes of the wanted thumbnails, at most 64.
  ///
  /// Default: none: the answer itself. Option of a request or an image.
  public var boxes: [ThumbnailBox] = []
  /// End the transfer of a progressive JPEG, a GIF, or an animated WebP or AVIF when the thumbnails are done.
  ///
  /// Only if much of the body is still missing. Other sizes then need another fetch, because the original isn't stored. If
  /// the cache stores no originals (`keep_source`), transfers always may end early.
  ///
  /// Default: no. Option of a request.
  public var earlyStop = false
  /// When answers from the cache are delivered.
  ///
  /// A call that waits for one answer treats twice as fresh.
  ///
  /// Default: twice. Option of a request.
  public var delivery = Delivery.twice
  /// Place in the queue, higher ones first.
  ///
  /// Default: 0. Option of a request.
  public var priority = 0
  /// Word by which requests can be cancelled.
  ///
  /// Default: none. Option of a request.
  public var tag: String?
  /// Send events about the progress of the upload and the download.
  ///
  /// Default: no. Option of a request.
  public var progressEvents = false
  /// Where pictures are decoded.
  ///
  /// SVG and HEIC are always decoded in the process of their own. docs/ISOLATION.md of the sources says what it may do and
  /// what it costs. A thumbnail that is stored is used whatever this option says.
  ///
  /// Default: here. Option of a cache or a site or a request or an image.
  public var decode: DecodePlace?
  /// Which stored answers count as fresh.
  ///
  /// Default: kit. Option of a cache or a site or a request.
  public var policy: Policy? {
    get { read(\.policy) }
    set { special.policy = newValue }
  }
  /// kit: how long pictures with a validator and no lifetime are fresh.
  ///
  /// Default: 1d. Option of a cache or a site or a request.
  public var validatorTTL: Duration? {
    get { read(\.validatorTTL) }
    set { special.validatorTTL = newValue }
  }
  /// kit: how long pictures without any caching header are fresh.
  ///
  /// Default: 7d. Option of a cache or a site or a request.
  public var imageTTL: Duration? {
    get { read(\.imageTTL) }
    set { special.imageTTL = newValue }
  }
  /// kit: how long answers marked no-cache are fresh.
  ///
  /// Default: 60s. Option of a cache or a site or a request.
  public var noCacheTTL: Duration? {
    get { read(\.noCacheTTL) }
    set { special.noCacheTTL = newValue }
  }
  /// rfc9111: share of the time since Last-Modified for which an answer without a lifetime is fresh.
  ///
  /// Default: 0.1. Option of a cache or a site or a request.
  public var heuristic: Double? {
    get { read(\.heuristic) }
    set { special.heuristic = newValue }
  }
  /// Largest body.
  ///
  /// An answer that is saved while it arrives has no limit unless its request sets one.
  ///
  /// Default: 64MiB. Option of a cache or a site or a request.
  public var maxBytes: Int64? {
    get { read(\.maxBytes) }
    set { special.maxBytes = newValue }
  }
  /// Most pixels that a picture may have.
  ///
  /// Default: 100,000,000. Option of a cache or a site or a request or an image.
  public var maxPixels: Int? {
    get { read(\.maxPixels) }
    set { special.maxPixels = newValue }
  }
  /// Which addresses may be connected to.
  ///
  /// Default: guarded. Option of a cache or a site or a request.
  public var addresses: Addresses? {
    get { read(\.addresses) }
    set { special.addresses = newValue }
  }
  /// Proxy for all requests; empty for none.
  ///
  /// `http://`, `https://`, `socks4://`, `socks5://` or `socks5h://`. Answers that came through a proxy are stored
  /// separately, for that proxy only.
  ///
  /// The address guard (`addresses`) checks addresses in URLs, and names that this machine can look up within a second. A
  /// name that only the proxy can look up passes the guard. The guard can't check which address the proxy connects to: give
  /// the proxy its own rules. With `socks5h://` this machine looks up no name.
  ///
  /// Default: from the environment. Empty: none. Option of a cache or a site.
  public var proxy: String? {
    get { read(\.proxy) }
    set { special.proxy = newValue }
  }
  /// Headers to send, in this order.
  ///
  /// A header replaces the headers of the same name that the library or a level above would send. A later value for the
  /// same request replaces all earlier values of that name.
  ///
  /// Default: none. Option of a cache or a site or a request.
  public var headers: [(name: String, value: String)] {
    get { read(\.headers) }
    _modify { yield &special.headers }
  }
  /// Names of headers that are also sent to other origins.
  ///
  /// A redirect, or the URL of a site's request, can go to another origin. Only harmless headers (`Accept`, `Content-Type`
  /// and others: docs/HTTP.md of the sources) and the ones named here are sent there, even if their values are secret.
  /// `Host` is never sent there. The names of all levels are added together.
  ///
  /// Default: none. Option of a cache or a site or a request.
  public var keepHeadersAcrossOrigins: [String] {
    get { read(\.keepHeadersAcrossOrigins) }
    _modify { yield &special.keepHeadersAcrossOrigins }
  }
  /// Value of the User-Agent header.
  ///
  /// Default: nuthatch/VERSION. Empty: an empty header. Option of a cache or a site.
  public var userAgent: String? {
    get { read(\.userAgent) }
    set { special.userAgent = newValue }
  }
  /// Value of the Accept header, or the word modern.
  ///
  /// `modern` asks for pictures in AVIF and WebP, too: fewer bytes, for links that cost money, and several times the time
  /// to decode. Requests for anything else are sent as usual.
  ///
  /// Default: anything; for pictures, JPEG, PNG and GIF first. Empty: an empty header. Option of a cache or a site.
  public var accept: String? {
    get { read(\.accept) }
    set { special.accept = newValue }
  }
  /// User and password, for one origin.
  ///
  /// They are sent to the site's origin, or to the origin of the request's URL, and to no other, also after redirects.
  ///
  /// Default: none. Empty: an empty name. Option of a site or a request.
  public var user: (name: String, password: String)? {
    get { read(\.user) }
    set { special.user = newValue }
  }
  /// How user and password are sent.
  ///
  /// Default: basic. Option of a site or a request.
  public var signIn: SignIn? {
    get { read(\.signIn) }
    set { special.signIn = newValue }
  }
  /// Client certificate, a file in PEM.
  ///
  /// Default: none. Option of a site or a request.
  public var cert: ClientCertificate? {
    get { read(\.cert) }
    set { special.cert = newValue }
  }
  /// A file with users and passwords by host.
  ///
  /// It is used if nothing else gives credentials. The file must belong to you or to root, and no other user may write to
  /// it.
  ///
  /// Default: none. Empty: $NETRC, else ~/.netrc. Option of a cache or a site or a request.
  public var netrc: Netrc? {
    get { read(\.netrc) }
    set { special.netrc = newValue }
  }
  /// Name that separates these answers from others, instead of the credentials.
  ///
  /// Useful for tokens that change.
  ///
  /// Default: the credentials. Option of a cache or a site or a request.
  public var partition: String? {
    get { read(\.partition) }
    set { special.partition = newValue }
  }
  /// Whether cookies that the servers set are sent back, and where they are stored.
  ///
  /// Sites with the same base URL, user and partition share their cookies. A request that is sent from the outbox has no
  /// cookies of its site.
  ///
  /// Default: off. Option of a site.
  public var cookieJar: CookieJarMode {
    get { read(\.cookieJar) }
    set { special.cookieJar = newValue }
  }
  /// Questions that the program answers while the request runs.
  ///
  /// Questions come as events and are answered with `answer`. In a blocking call the callback gets them, on the caller's
  /// thread; without a callback they count as unanswered. A question without an answer within 30 seconds, or before the
  /// deadline, counts as unanswered, too.
  ///
  /// Default: nothing. Option of a site or a request.
  public var asks: Set<Question.Kind> {
    get { read(\.asks) }
    _modify { yield &special.asks }
  }
  /// Questions of the site that this request doesn't ask.
  ///
  /// Default: nothing. Option of a request.
  public var asksNot: Set<Question.Kind> {
    get { read(\.asksNot) }
    _modify { yield &special.asksNot }
  }
  /// Cache key of the answer, instead of the URL.
  ///
  /// For URLs that contain a signature or a date.
  ///
  /// Default: the URL. Option of a request.
  public var cacheKey: String? {
    get { read(\.cacheKey) }
    set { special.cacheKey = newValue }
  }
  /// Store and find the answer by the URL without its query.
  ///
  /// Default: no. Option of a request.
  public var ignoreQuery: Bool {
    get { read(\.ignoreQuery) }
    set { special.ignoreQuery = newValue }
  }
  /// Take what can be decoded of a damaged picture.
  ///
  /// Such an image is marked as partial.
  ///
  /// Default: no. Option of a request or an image.
  public var allowDamaged: Bool {
    get { read(\.allowDamaged) }
    set { special.allowDamaged = newValue }
  }
  /// After a broken transfer keep the hidden partial file, so that a later request can continue it.
  ///
  /// Default: yes. Option of a request.
  public var resume: Bool {
    get { read(\.resume) }
    set { special.resume = newValue }
  }
  /// Memory that this process may use for stored things, mostly decoded thumbnails.
  ///
  /// Default: the smaller of 64 MiB and an eighth of the memory. Option of a cache.
  public var memoryBytes: Int64? {
    get { read(\.memoryBytes) }
    set { special.memoryBytes = newValue }
  }
  /// How many things this process may keep in memory.
  ///
  /// Default: as many as fit. Option of a cache.
  public var memoryItems: Int? {
    get { read(\.memoryItems) }
    set { special.memoryItems = newValue }
  }
  /// Disk space of the directory, without the outbox.
  ///
  /// Each process that writes may take two 64ths more (at least 64 KiB each), because it reserves space ahead.
  ///
  /// Default: the limit that was set before, else 4 GiB. Option of a cache.
  public var diskBytes: Int64? {
    get { read(\.diskBytes) }
    set { special.diskBytes = newValue }
  }
  /// When new answers are written to disk.
  ///
  /// Default: like the directory's first open in this process, else eager. Option of a cache.
  public var spill: Spill? {
    get { read(\.spill) }
    set { special.spill = newValue }
  }
  /// How thumbnails are stored on disk.
  ///
  /// Thumbnails of at most 16 KiB are always stored raw.
  ///
  /// Default: like the directory's first open in this process, else packed. Option of a cache.
  public var thumbStore: ThumbStore? {
    get { read(\.thumbStore) }
    set { special.thumbStore = newValue }
  }
  /// Store the bodies of pictures, so that other sizes can be made of them.
  ///
  /// Default: like the directory's first open in this process, else yes. Option of a cache.
  public var keepSource: Bool? {
    get { read(\.keepSource) }
    set { special.keepSource = newValue }
  }
  /// Allow file: URLs; they can read any file that this process may read.
  ///
  /// Default: no. Option of a cache.
  public var allowFiles: Bool {
    get { read(\.allowFiles) }
    set { special.allowFiles = newValue }
  }
  /// Whether this process sends the requests of the directory's outbox.
  ///
  /// Default: auto. Option of a cache.
  public var outbox: OutboxMode {
    get { read(\.outbox) }
    set { special.outbox = newValue }
  }
  /// Disk space of the outbox; requests beyond it are refused.
  ///
  /// Default: like the directory's first open in this process, else 256 MiB. Option of a cache.
  public var outboxBytes: Int64? {
    get { read(\.outboxBytes) }
    set { special.outboxBytes = newValue }
  }
  /// How many requests the outbox may hold, including those whose outcome waits.
  ///
  /// Default: like the directory's first open in this process, else 10,000. Option of a cache.
  public var outboxItems: Int? {
    get { read(\.outboxItems) }
    set { special.outboxItems = newValue }
  }
  /// How many requests run at once, in all caches together.
  ///
  /// Default: automatic, measured for the network link. Option of the process.
  public var concurrency: Int? {
    get { read(\.concurrency) }
    set { special.concurrency = newValue }
  }
  /// How many requests run at once at one host.
  ///
  /// Default: 6, or 32 where the host speaks HTTP/2. Option of the process.
  public var perHost: Int? {
    get { read(\.perHost) }
    set { special.perHost = newValue }
  }
  /// Raise per_host for hosts that can take it, for requests of a batch.
  ///
  /// From `per_host`, else from 6, up to 32. The host's first 429, 503 or reset halves the number. After that it grows by
  /// one a minute.
  ///
  /// Default: no. Option of the process.
  public var perHostGrows: Bool {
    get { read(\.perHostGrows) }
    set { special.perHostGrows = newValue }
  }
  /// How many requests may start in a second at one host.
  ///
  /// Default: no limit. Option of the process.
  public var rate: Double? {
    get { read(\.rate) }
    set { special.rate = newValue }
  }
  /// Memory for bodies that are being received; bytes beyond it go to files.
  ///
  /// The limit counts all bodies together. The files have no name, and are in the cache's directory. "The memory" in the
  /// default is the machine's, or that of its control group.
  ///
  /// Default: the smaller of 64 MiB and an eighth of the memory. Option of the process.
  public var inFlightBytes: Int64? {
    get { read(\.inFlightBytes) }
    set { special.inFlightBytes = newValue }
  }
  /// How many redirects are followed.
  ///
  /// After a 303, and after a 301 or 302 to a POST, a GET without the body follows; else the method and the body stay. With
  /// none a redirect is the answer, with its status and its `Location`, and is stored separately from the answer at its
  /// target. One redirect too many is the error `too_many_redirects`. A stored answer that needed more redirects than are
  /// allowed is fetched again.
  ///
  /// Default: 10. Option of a cache or a site or a request.
  public var redirects: Int? {
    get { read(\.redirects) }
    set { special.redirects = newValue }
  }
  /// Certificates that servers are checked with, in a file in PEM.
  ///
  /// They replace all others: if `ca_file` or `ca_dir` is set, the certificates of the system and of the environment don't
  /// count. Else the file is `CURL_CA_BUNDLE`, else `SSL_CERT_FILE`, else the system's; the folder is `SSL_CERT_DIR`, else
  /// the system's. A privileged program doesn't read these environment variables.
  ///
  /// An answer that was fetched with your own certificates, or unchecked, is stored separately from all others. A site's
  /// value counts at the site's origin; the value of a cache or a request counts for all servers, also after redirects. It
  /// applies to servers, not to a proxy over `https`.
  ///
  /// Default: from the environment, else the system's. Empty: as if not set. Option of a cache or a site or a request.
  public var caFile: String? {
    get { read(\.caFile) }
    set { special.caFile = newValue }
  }
  /// Folder of certificates that servers are checked with, named by their hashes (`openssl rehash`).
  ///
  /// Like `ca_file`. Both can be set together. A request or a site that sets one of them takes neither from its cache.
  ///
  /// Default: from the environment, else the system's. Empty: as if not set. Option of a cache or a site or a request.
  public var caDir: String? {
    get { read(\.caDir) }
    set { special.caDir = newValue }
  }
  /// Don't check certificates: anyone on the path can read and change the traffic.
  ///
  /// For your own servers that have no certificate that `ca_file` could name. The log gets a warning, once in each process.
  /// A site's value counts at the site's origin, as for `ca_file`.
  ///
  /// Default: no. Option of a cache or a site or a request.
  public var insecure: Bool? {
    get { read(\.insecure) }
    set { special.insecure = newValue }
  }
  /// When bytes read from the disk are compared with their checksum.
  ///
  /// If they don't match, the answer counts as missing and is fetched again. `always` costs a copy of the answer, and the
  /// time to read all of it; memory then holds that copy, and no mapping of the file.
  ///
  /// Default: like the directory's first open in this process, else first. Option of a cache.
  public var checkBytes: ByteCheck? {
    get { read(\.checkBytes) }
    set { special.checkBytes = newValue }
  }
  /// How long answers are fresh after they came; replaces their headers.
  ///
  /// It counts when this request looks into the cache; it changes nothing that is stored. Zero: answers expire at once, so
  /// the server is asked whether a stored answer is still valid. The headers (`must-revalidate`, `stale-while-revalidate`)
  /// and `delivery` still decide whether a stale answer may be delivered. Fractions of a second are rounded up.
  ///
  /// Default: by headers and policy. Option of a cache or a site or a request.
  public var expireAfter: Duration? {
    get { read(\.expireAfter) }
    set { special.expireAfter = newValue }
  }
  /// A config file with options, and with sections for hosts.
  ///
  /// docs/CONFIG.md of the sources has its form. Without this option no file is read. The program's own options override
  /// those of the file, and so do the variables of the environment that name a proxy or certificates. Options of the
  /// process (`rate` and others) count unless the program has set them. Empty: `$XDG_CONFIG_HOME/nuthatch/config.toml`,
  /// else `~/.config/nuthatch/config.toml`, and `/etc/nuthatch/config.toml`; the first counts before the second, and either
  /// may be missing. A program with more rights than its user reads only the last one. A mistake is the error `invalid`,
  /// with file, line and column.
  ///
  /// Default: none. Empty: the files of the user and of the system. Option of a cache.
  public var config: String? {
    get { read(\.config) }
    set { special.config = newValue }
  }

  /// Makes options of which none is set.
  public init() {}

  /// Empty, or one element. An array is one pointer, and is copied only when it is changed while it is shared. So
  /// requests with the same options share their memory.
  private var box: [Special] = []

  var special: Special {
    _read {
      if box.isEmpty { yield Special.none } else { yield box[0] }
    }
    _modify {
      if box.isEmpty {
        var new = Special()
        // If the new values are the defaults, the options stay plain.
        defer { if new != Special.none { box = [new] } }
        yield &new
      } else {
        yield &box[0]
      }
    }
  }

  /// Returns one field without a copy of the others.
  @inline(__always)
  private func read<Value>(_ field: KeyPath<Special, Value>) -> Value {
    box.isEmpty ? Special.none[keyPath: field] : box[0][keyPath: field]
  }

  /// The sections for hosts of the cache's config files.
  var hosts: HostSections? {
    get { read(\.hosts) }
    set { special.hosts = newValue }
  }

  /// Whether no option is set that changes which stored answer is returned. Only then can a request be answered by its
  /// URL and its size alone (`HitTable`).
  var isPlain: Bool { box.isEmpty }
}

extension Options {
  /// Options that change which stored answer is returned, and options that few requests have. Compared as a
  /// whole, so that no option is forgotten.
  struct Special: Sendable, Equatable {
    var policy: Policy?
    var validatorTTL: Duration?
    var imageTTL: Duration?
    var noCacheTTL: Duration?
    var heuristic: Double?
    var maxBytes: Int64?
    var maxPixels: Int?
    var addresses: Addresses?
    var proxy: String?
    var headers: [(name: String, value: String)] = []
    var keepHeadersAcrossOrigins: [String] = []
    var userAgent: String?
    var accept: String?
    var user: (name: String, password: String)?
    var signIn: SignIn?
    var cert: ClientCertificate?
    var netrc: Netrc?
    var partition: String?
    var cookieJar = CookieJarMode.off
    var asks: Set<Question.Kind> = []
    var asksNot: Set<Question.Kind> = []
    var cacheKey: String?
    var ignoreQuery = false
    var allowDamaged = false
    var resume = true
    var memoryBytes: Int64?
    var memoryItems: Int?
    var diskBytes: Int64?
    var spill: Spill?
    var thumbStore: ThumbStore?
    var keepSource: Bool?
    var allowFiles = false
    var outbox = OutboxMode.auto
    var outboxBytes: Int64?
    var outboxItems: Int?
    var concurrency: Int?
    var perHost: Int?
    var perHostGrows = false
    var rate: Double?
    var inFlightBytes: Int64?
    var redirects: Int?
    var caFile: String?
    var caDir: String?
    var insecure: Bool?
    var checkBytes: ByteCheck?
    var expireAfter: Duration?
    var config: String?
    /// The sections for hosts of the cache's config files.
    var hosts: HostSections?

    static let none = Special()

    static func == (left: Special, right: Special) -> Bool {
      guard left.policy == right.policy else { return false }
      guard left.validatorTTL == right.validatorTTL else { return false }
      guard left.imageTTL == right.imageTTL else { return false }
      guard left.noCacheTTL == right.noCacheTTL else { return false }
      guard left.heuristic == right.heuristic else { return false }
      guard left.maxBytes == right.maxBytes else { return false }
      guard left.maxPixels == right.maxPixels else { return false }
      guard left.addresses == right.addresses else { return false }
      guard left.proxy == right.proxy else { return false }
      guard left.headers.elementsEqual(right.headers, by: ==) else { return false }
      guard left.keepHeadersAcrossOrigins == right.keepHeadersAcrossOrigins else { return false }
      guard left.userAgent == right.userAgent else { return false }
      guard left.accept == right.accept else { return false }
      guard left.user?.name == right.user?.name else { return false }
      guard left.user?.password == right.user?.password else { return false }
      guard left.signIn == right.signIn else { return false }
      guard left.cert == right.cert else { return false }
      guard left.netrc == right.netrc else { return false }
      guard left.partition == right.partition else { return false }
      guard left.cookieJar == right.cookieJar else { return false }
      guard left.asks == right.asks else { return false }
      guard left.asksNot == right.asksNot else { return false }
      guard left.cacheKey == right.cacheKey else { return false }
      guard left.ignoreQuery == right.ignoreQuery else { return false }
      guard left.allowDamaged == right.allowDamaged else { return false }
      guard left.resume == right.resume else { return false }
      guard left.memoryBytes == right.memoryBytes else { return false }
      guard left.memoryItems == right.memoryItems else { return false }
      guard left.diskBytes == right.diskBytes else { return false }
      guard left.spill == right.spill else { return false }
      guard left.thumbStore == right.thumbStore else { return false }
      guard left.keepSource == right.keepSource else { return false }
      guard left.allowFiles == right.allowFiles else { return false }
      guard left.outbox == right.outbox else { return false }
      guard left.outboxBytes == right.outboxBytes else { return false }
      guard left.outboxItems == right.outboxItems else { return false }
      guard left.concurrency == right.concurrency else { return false }
      guard left.perHost == right.perHost else { return false }
      guard left.perHostGrows == right.perHostGrows else { return false }
      guard left.rate == right.rate else { return false }
      guard left.inFlightBytes == right.inFlightBytes else { return false }
      guard left.redirects == right.redirects else { return false }
      guard left.caFile == right.caFile else { return false }
      guard left.caDir == right.caDir else { return false }
      guard left.insecure == right.insecure else { return false }
      guard left.checkBytes == right.checkBytes else { return false }
      guard left.expireAfter == right.expireAfter else { return false }
      guard left.config == right.config else { return false }
      guard left.hosts == right.hosts else { return false }
      return true
    }
  }

  /// The defaults.
  enum Standard {
    static let policy = Policy.kit
    static let validatorTTL = Duration.milliseconds(86_400_000)
    static let imageTTL = Duration.milliseconds(604_800_000)
    static let noCacheTTL = Duration.milliseconds(60_000)
    static let heuristic = 0.1
    static let timeout = Request.Limit.milliseconds(30_000)
    static let retries = 3
    static let maxBytes = Int64(67_108_864)
    static let maxPixels = 100_000_000
    static let addresses = Addresses.guarded
    static let signIn = SignIn.basic
    static let redirects = 10
    static let insecure = false
    static let decode = DecodePlace.here
  }

  /// Returns whether the options outside of `special` are equal. Ignores priority and tag: they don't change
  /// the answer.
  func hasSameTerms(inPlace right: Options) -> Bool {
    let left = self
    guard left.timeout == right.timeout else { return false }
    guard left.deadline == right.deadline else { return false }
    guard left.retries == right.retries else { return false }
    guard left.giveUpAfter == right.giveUpAfter else { return false }
    guard left.isBatched == right.isBatched else { return false }
    guard left.boxes == right.boxes else { return false }
    guard left.earlyStop == right.earlyStop else { return false }
    guard left.delivery == right.delivery else { return false }
    guard left.progressEvents == right.progressEvents else { return false }
    guard left.decode == right.decode else { return false }
    return true
  }

  /// Returns these options. Those that are not set come from the level above, `outer`.
  func over(_ outer: Options) -> Options {
    var result = self
    if result.timeout == nil { result.timeout = outer.timeout }
    if result.deadline == nil { result.deadline = outer.deadline }
    if result.retries == nil { result.retries = outer.retries }
    if result.decode == nil { result.decode = outer.decode }
    guard !outer.box.isEmpty else { return result }
    if box.isEmpty {
      result.box = outer.box
    } else {
      result.box[0].fill(from: outer.box[0])
    }
    return result
  }
}

extension Options.Special {
  fileprivate mutating func fill(from outer: Options.Special) {
    if policy == nil { policy = outer.policy }
    if validatorTTL == nil { validatorTTL = outer.validatorTTL }
    if imageTTL == nil { imageTTL = outer.imageTTL }
    if noCacheTTL == nil { noCacheTTL = outer.noCacheTTL }
    if heuristic == nil { heuristic = outer.heuristic }
    if maxBytes == nil { maxBytes = outer.maxBytes }
    if maxPixels == nil { maxPixels = outer.maxPixels }
    if addresses == nil { addresses = outer.addresses }
    if proxy == nil { proxy = outer.proxy }
    headers += outer.headers.without(namesOf: headers)
    keepHeadersAcrossOrigins +=
      outer.keepHeadersAcrossOrigins.filter { !keepHeadersAcrossOrigins.contains($0) }
    if userAgent == nil { userAgent = outer.userAgent }
    if accept == nil { accept = outer.accept }
    if user == nil { user = outer.user }
    if signIn == nil { signIn = outer.signIn }
    if cert == nil { cert = outer.cert }
    if netrc == nil { netrc = outer.netrc }
    if partition == nil { partition = outer.partition }
    asks.formUnion(outer.asks.subtracting(asksNot))
    if redirects == nil { redirects = outer.redirects }
    if insecure == nil { insecure = outer.insecure }
    if expireAfter == nil { expireAfter = outer.expireAfter }
    if caFile == nil, caDir == nil { (caFile, caDir) = (outer.caFile, outer.caDir) }
  }
}

extension Options {

  /// Checks that the level has these options, and that numbers are in range.
  ///
  /// - Throws: `invalid`.
  package func check(_ level: OptionLevel) throws(NuthatchError) {
    if level == .cache {
      if giveUpAfter != nil { throw level.doesNotHave("give_up_after", [.request]) }
      if isBatched != false { throw level.doesNotHave("batched", [.request]) }
      if !boxes.isEmpty { throw level.doesNotHave("sizes", [.request, .image]) }
      if earlyStop != false { throw level.doesNotHave("early_stop", [.request]) }
      if delivery != Delivery.twice { throw level.doesNotHave("delivery", [.request]) }
      if priority != 0 { throw level.doesNotHave("priority", [.request]) }
      if tag != nil { throw level.doesNotHave("tag", [.request]) }
      if progressEvents != false { throw level.doesNotHave("progress_events", [.request]) }
    }
    if level == .site {
      if giveUpAfter != nil { throw level.doesNotHave("give_up_after", [.request]) }
      if isBatched != false { throw level.doesNotHave("batched", [.request]) }
      if !boxes.isEmpty { throw level.doesNotHave("sizes", [.request, .image]) }
      if earlyStop != false { throw level.doesNotHave("early_stop", [.request]) }
      if delivery != Delivery.twice { throw level.doesNotHave("delivery", [.request]) }
      if priority != 0 { throw level.doesNotHave("priority", [.request]) }
      if tag != nil { throw level.doesNotHave("tag", [.request]) }
      if progressEvents != false { throw level.doesNotHave("progress_events", [.request]) }
    }
    if level == .image {
      if timeout != nil { throw level.doesNotHave("timeout", [.cache, .site, .request]) }
      if deadline != nil { throw level.doesNotHave("deadline", [.cache, .site, .request]) }
      if retries != nil { throw level.doesNotHave("retries", [.cache, .site, .request]) }
      if giveUpAfter != nil { throw level.doesNotHave("give_up_after", [.request]) }
      if isBatched != false { throw level.doesNotHave("batched", [.request]) }
      if earlyStop != false { throw level.doesNotHave("early_stop", [.request]) }
      if delivery != Delivery.twice { throw level.doesNotHave("delivery", [.request]) }
      if priority != 0 { throw level.doesNotHave("priority", [.request]) }
      if tag != nil { throw level.doesNotHave("tag", [.request]) }
      if progressEvents != false { throw level.doesNotHave("progress_events", [.request]) }
    }
    if level == .process {
      if timeout != nil { throw level.doesNotHave("timeout", [.cache, .site, .request]) }
      if deadline != nil { throw level.doesNotHave("deadline", [.cache, .site, .request]) }
      if retries != nil { throw level.doesNotHave("retries", [.cache, .site, .request]) }
      if giveUpAfter != nil { throw level.doesNotHave("give_up_after", [.request]) }
      if isBatched != false { throw level.doesNotHave("batched", [.request]) }
      if !boxes.isEmpty { throw level.doesNotHave("sizes", [.request, .image]) }
      if earlyStop != false { throw level.doesNotHave("early_stop", [.request]) }
      if delivery != Delivery.twice { throw level.doesNotHave("delivery", [.request]) }
      if priority != 0 { throw level.doesNotHave("priority", [.request]) }
      if tag != nil { throw level.doesNotHave("tag", [.request]) }
      if progressEvents != false { throw level.doesNotHave("progress_events", [.request]) }
      if decode != nil { throw level.doesNotHave("decoding", [.cache, .site, .request, .image]) }
    }
    try OptionRange.check("timeout", timeout, 1, "1 ms or more, or none")
    try OptionRange.check("deadline", deadline, 1, "1 ms or more, or none")
    try OptionRange.check("retries", retries, 0, 1_000, "0 to 1000, or none")
    try OptionRange.check("give_up_after", giveUpAfter, 0, "0 or more, or none")
    try OptionRange.check("priority", priority, -10, 10, "-10 to 10, or none")
    guard !isPlain else { return }
    if level == .cache {
      if user != nil { throw level.doesNotHave("user", [.site, .request]) }
      if signIn != nil { throw level.doesNotHave("sign_in", [.site, .request]) }
      if cert != nil { throw level.doesNotHave("cert", [.site, .request]) }
      if cookieJar != CookieJarMode.off { throw level.doesNotHave("cookie_jar", [.site]) }
      if !asks.isEmpty { throw level.doesNotHave("asks", [.site, .request]) }
      if !asksNot.isEmpty { throw level.doesNotHave("asks_not", [.request]) }
      if cacheKey != nil { throw level.doesNotHave("cache_key", [.request]) }
      if ignoreQuery != false { throw level.doesNotHave("ignore_query", [.request]) }
      if allowDamaged != false { throw level.doesNotHave("allow_damaged", [.request, .image]) }
      if resume != true { throw level.doesNotHave("resume", [.request]) }
      if concurrency != nil { throw level.doesNotHave("concurrency", [.process]) }
      if perHost != nil { throw level.doesNotHave("per_host", [.process]) }
      if perHostGrows != false { throw level.doesNotHave("per_host_grows", [.process]) }
      if rate != nil { throw level.doesNotHave("rate", [.process]) }
      if inFlightBytes != nil { throw level.doesNotHave("inflight_bytes", [.process]) }
    }
    if level == .site {
      if !asksNot.isEmpty { throw level.doesNotHave("asks_not", [.request]) }
      if cacheKey != nil { throw level.doesNotHave("cache_key", [.request]) }
      if ignoreQuery != false { throw level.doesNotHave("ignore_query", [.request]) }
      if allowDamaged != false { throw level.doesNotHave("allow_damaged", [.request, .image]) }
      if resume != true { throw level.doesNotHave("resume", [.request]) }
      if memoryBytes != nil { throw level.doesNotHave("memory_bytes", [.cache]) }
      if memoryItems != nil { throw level.doesNotHave("memory_items", [.cache]) }
      if diskBytes != nil { throw level.doesNotHave("disk_bytes", [.cache]) }
      if spill != nil { throw level.doesNotHave("spill", [.cache]) }
      if thumbStore != nil { throw level.doesNotHave("thumb_store", [.cache]) }
      if keepSource != nil { throw level.doesNotHave("keep_source", [.cache]) }
      if allowFiles != false { throw level.doesNotHave("allow_files", [.cache]) }
      if outbox != OutboxMode.auto { throw level.doesNotHave("outbox", [.cache]) }
      if outboxBytes != nil { throw level.doesNotHave("outbox_bytes", [.cache]) }
      if outboxItems != nil { throw level.doesNotHave("outbox_items", [.cache]) }
      if concurrency != nil { throw level.doesNotHave("concurrency", [.process]) }
      if perHost != nil { throw level.doesNotHave("per_host", [.process]) }
      if perHostGrows != false { throw level.doesNotHave("per_host_grows", [.process]) }
      if rate != nil { throw level.doesNotHave("rate", [.process]) }
      if inFlightBytes != nil { throw level.doesNotHave("inflight_bytes", [.process]) }
      if checkBytes != nil { throw level.doesNotHave("check_bytes", [.cache]) }
      if config != nil { throw level.doesNotHave("config", [.cache]) }
    }
    if level == .request {
      if proxy != nil { throw level.doesNotHave("proxy", [.cache, .site]) }
      if userAgent != nil { throw level.doesNotHave("user_agent", [.cache, .site]) }
      if accept != nil { throw level.doesNotHave("accept", [.cache, .site]) }
      if cookieJar != CookieJarMode.off { throw level.doesNotHave("cookie_jar", [.site]) }
      if memoryBytes != nil { throw level.doesNotHave("memory_bytes", [.cache]) }
      if memoryItems != nil { throw level.doesNotHave("memory_items", [.cache]) }
      if diskBytes != nil { throw level.doesNotHave("disk_bytes", [.cache]) }
      if spill != nil { throw level.doesNotHave("spill", [.cache]) }
      if thumbStore != nil { throw level.doesNotHave("thumb_store", [.cache]) }
      if keepSource != nil { throw level.doesNotHave("keep_source", [.cache]) }
      if allowFiles != false { throw level.doesNotHave("allow_files", [.cache]) }
      if outbox != OutboxMode.auto { throw level.doesNotHave("outbox", [.cache]) }
      if outboxBytes != nil { throw level.doesNotHave("outbox_bytes", [.cache]) }
      if outboxItems != nil { throw level.doesNotHave("outbox_items", [.cache]) }
      if concurrency != nil { throw level.doesNotHave("concurrency", [.process]) }
      if perHost != nil { throw level.doesNotHave("per_host", [.process]) }
      if perHostGrows != false { throw level.doesNotHave("per_host_grows", [.process]) }
      if rate != nil { throw level.doesNotHave("rate", [.process]) }
      if inFlightBytes != nil { throw level.doesNotHave("inflight_bytes", [.process]) }
      if checkBytes != nil { throw level.doesNotHave("check_bytes", [.cache]) }
      if config != nil { throw level.doesNotHave("config", [.cache]) }
    }
    if level == .image {
      if policy != nil { throw level.doesNotHave("policy", [.cache, .site, .request]) }
      if validatorTTL != nil { throw level.doesNotHave("validator_ttl", [.cache, .site, .request]) }
      if imageTTL != nil { throw level.doesNotHave("image_ttl", [.cache, .site, .request]) }
      if noCacheTTL != nil { throw level.doesNotHave("no_cache_ttl", [.cache, .site, .request]) }
      if heuristic != nil { throw level.doesNotHave("heuristic", [.cache, .site, .request]) }
      if maxBytes != nil { throw level.doesNotHave("max_bytes", [.cache, .site, .request]) }
      if addresses != nil { throw level.doesNotHave("addresses", [.cache, .site, .request]) }
      if proxy != nil { throw level.doesNotHave("proxy", [.cache, .site]) }
      if !headers.isEmpty { throw level.doesNotHave("headers", [.cache, .site, .request]) }
      if !keepHeadersAcrossOrigins.isEmpty {
        throw level.doesNotHave("keep_headers_across_origins", [.cache, .site, .request])
      }
      if userAgent != nil { throw level.doesNotHave("user_agent", [.cache, .site]) }
      if accept != nil { throw level.doesNotHave("accept", [.cache, .site]) }
      if user != nil { throw level.doesNotHave("user", [.site, .request]) }
      if signIn != nil { throw level.doesNotHave("sign_in", [.site, .request]) }
      if cert != nil { throw level.doesNotHave("cert", [.site, .request]) }
      if netrc != nil { throw level.doesNotHave("netrc", [.cache, .site, .request]) }
      if partition != nil { throw level.doesNotHave("partition", [.cache, .site, .request]) }
      if cookieJar != CookieJarMode.off { throw level.doesNotHave("cookie_jar", [.site]) }
      if !asks.isEmpty { throw level.doesNotHave("asks", [.site, .request]) }
      if !asksNot.isEmpty { throw level.doesNotHave("asks_not", [.request]) }
      if cacheKey != nil { throw level.doesNotHave("cache_key", [.request]) }
      if ignoreQuery != false { throw level.doesNotHave("ignore_query", [.request]) }
      if resume != true { throw level.doesNotHave("resume", [.request]) }
      if memoryBytes != nil { throw level.doesNotHave("memory_bytes", [.cache]) }
      if memoryItems != nil { throw level.doesNotHave("memory_items", [.cache]) }
      if diskBytes != nil { throw level.doesNotHave("disk_bytes", [.cache]) }
      if spill != nil { throw level.doesNotHave("spill", [.cache]) }
      if thumbStore != nil { throw level.doesNotHave("thumb_store", [.cache]) }
      if keepSource != nil { throw level.doesNotHave("keep_source", [.cache]) }
      if allowFiles != false { throw level.doesNotHave("allow_files", [.cache]) }
      if outbox != OutboxMode.auto { throw level.doesNotHave("outbox", [.cache]) }
      if outboxBytes != nil { throw level.doesNotHave("outbox_bytes", [.cache]) }
      if outboxItems != nil { throw level.doesNotHave("outbox_items", [.cache]) }
      if concurrency != nil { throw level.doesNotHave("concurrency", [.process]) }
      if perHost != nil { throw level.doesNotHave("per_host", [.process]) }
      if perHostGrows != false { throw level.doesNotHave("per_host_grows", [.process]) }
      if rate != nil { throw level.doesNotHave("rate", [.process]) }
      if inFlightBytes != nil { throw level.doesNotHave("inflight_bytes", [.process]) }
      if redirects != nil { throw level.doesNotHave("redirects", [.cache, .site, .request]) }
      if caFile != nil { throw level.doesNotHave("ca_file", [.cache, .site, .request]) }
      if caDir != nil { throw level.doesNotHave("ca_dir", [.cache, .site, .request]) }
      if insecure != nil { throw level.doesNotHave("insecure", [.cache, .site, .request]) }
      if checkBytes != nil { throw level.doesNotHave("check_bytes", [.cache]) }
      if expireAfter != nil { throw level.doesNotHave("expire_after", [.cache, .site, .request]) }
      if config != nil { throw level.doesNotHave("config", [.cache]) }
    }
    if level == .process {
      if policy != nil { throw level.doesNotHave("policy", [.cache, .site, .request]) }
      if validatorTTL != nil { throw level.doesNotHave("validator_ttl", [.cache, .site, .request]) }
      if imageTTL != nil { throw level.doesNotHave("image_ttl", [.cache, .site, .request]) }
      if noCacheTTL != nil { throw level.doesNotHave("no_cache_ttl", [.cache, .site, .request]) }
      if heuristic != nil { throw level.doesNotHave("heuristic", [.cache, .site, .request]) }
      if maxBytes != nil { throw level.doesNotHave("max_bytes", [.cache, .site, .request]) }
      if maxPixels != nil { throw level.doesNotHave("max_pixels", [.cache, .site, .request, .image]) }
      if addresses != nil { throw level.doesNotHave("addresses", [.cache, .site, .request]) }
      if proxy != nil { throw level.doesNotHave("proxy", [.cache, .site]) }
      if !headers.isEmpty { throw level.doesNotHave("headers", [.cache, .site, .request]) }
      if !keepHeadersAcrossOrigins.isEmpty {
        throw level.doesNotHave("keep_headers_across_origins", [.cache, .site, .request])
      }
      if userAgent != nil { throw level.doesNotHave("user_agent", [.cache, .site]) }
      if accept != nil { throw level.doesNotHave("accept", [.cache, .site]) }
      if user != nil { throw level.doesNotHave("user", [.site, .request]) }
      if signIn != nil { throw level.doesNotHave("sign_in", [.site, .request]) }
      if cert != nil { throw level.doesNotHave("cert", [.site, .request]) }
      if netrc != nil { throw level.doesNotHave("netrc", [.cache, .site, .request]) }
      if partition != nil { throw level.doesNotHave("partition", [.cache, .site, .request]) }
      if cookieJar != CookieJarMode.off { throw level.doesNotHave("cookie_jar", [.site]) }
      if !asks.isEmpty { throw level.doesNotHave("asks", [.site, .request]) }
      if !asksNot.isEmpty { throw level.doesNotHave("asks_not", [.request]) }
      if cacheKey != nil { throw level.doesNotHave("cache_key", [.request]) }
      if ignoreQuery != false { throw level.doesNotHave("ignore_query", [.request]) }
      if allowDamaged != false { throw level.doesNotHave("allow_damaged", [.request, .image]) }
      if resume != true { throw level.doesNotHave("resume", [.request]) }
      if memoryBytes != nil { throw level.doesNotHave("memory_bytes", [.cache]) }
      if memoryItems != nil { throw level.doesNotHave("memory_items", [.cache]) }
      if diskBytes != nil { throw level.doesNotHave("disk_bytes", [.cache]) }
      if spill != nil { throw level.doesNotHave("spill", [.cache]) }
      if thumbStore != nil { throw level.doesNotHave("thumb_store", [.cache]) }
      if keepSource != nil { throw level.doesNotHave("keep_source", [.cache]) }
      if allowFiles != false { throw level.doesNotHave("allow_files", [.cache]) }
      if outbox != OutboxMode.auto { throw level.doesNotHave("outbox", [.cache]) }
      if outboxBytes != nil { throw level.doesNotHave("outbox_bytes", [.cache]) }
      if outboxItems != nil { throw level.doesNotHave("outbox_items", [.cache]) }
      if redirects != nil { throw level.doesNotHave("redirects", [.cache, .site, .request]) }
      if caFile != nil { throw level.doesNotHave("ca_file", [.cache, .site, .request]) }
      if caDir != nil { throw level.doesNotHave("ca_dir", [.cache, .site, .request]) }
      if insecure != nil { throw level.doesNotHave("insecure", [.cache, .site, .request]) }
      if checkBytes != nil { throw level.doesNotHave("check_bytes", [.cache]) }
      if expireAfter != nil { throw level.doesNotHave("expire_after", [.cache, .site, .request]) }
      if config != nil { throw level.doesNotHave("config", [.cache]) }
    }
    try OptionRange.check("validator_ttl", validatorTTL, 0, "0 or more, or none")
    try OptionRange.check("image_ttl", imageTTL, 0, "0 or more, or none")
    try OptionRange.check("no_cache_ttl", noCacheTTL, 0, "0 or more, or none")
    try OptionRange.check("heuristic", heuristic, 0, 1, "0 to 1, or none")
    try OptionRange.check("max_bytes", maxBytes, 1, nil, "1 or more, or none")
    try OptionRange.check("max_pixels", maxPixels, 1, nil, "1 or more, or none")
    try OptionRange.check("memory_bytes", memoryBytes, 0, nil, "0 or more, or none")
    try OptionRange.check("memory_items", memoryItems, 1, nil, "1 or more, or none")
    try OptionRange.check("disk_bytes", diskBytes, 4_194_304, 70_368_744_177_664, "4 MiB to 64 TiB")
    try OptionRange.check("outbox_bytes", outboxBytes, 1, nil, "1 or more, or none")
    try OptionRange.check("outbox_items", outboxItems, 1, nil, "1 or more, or none")
    try OptionRange.check("concurrency", concurrency, 1, 512, "1 to 512")
    try OptionRange.check("per_host", perHost, 1, 512, "1 to 512")
    try OptionRange.check("rate", rate, 1e-06, 1_000_000, "0.000001 to 1000000, or none")
    try OptionRange.check("inflight_bytes", inFlightBytes, 0, nil, "0 or more, or none")
    try OptionRange.check("redirects", redirects, 0, 100, "0 to 100, or none")
    try OptionRange.check("expire_after", expireAfter, 0, "0 or more, or none")
  }

  /// Returns these options. Those that are not set have their defaults.
  var settled: Options {
    var result = self
    result.policy = result.policy ?? Standard.policy
    result.validatorTTL = result.validatorTTL ?? Standard.validatorTTL
    result.imageTTL = result.imageTTL ?? Standard.imageTTL
    result.noCacheTTL = result.noCacheTTL ?? Standard.noCacheTTL
    result.heuristic = result.heuristic ?? Standard.heuristic
    result.timeout = result.timeout ?? Standard.timeout
    result.retries = result.retries ?? Standard.retries
    result.maxBytes = result.maxBytes ?? Standard.maxBytes
    result.maxPixels = result.maxPixels ?? Standard.maxPixels
    result.addresses = result.addresses ?? Standard.addresses
    result.signIn = result.signIn ?? Standard.signIn
    result.redirects = result.redirects ?? Standard.redirects
    result.insecure = result.insecure ?? Standard.insecure
    result.decode = result.decode ?? Standard.decode
    return result
  }
}
