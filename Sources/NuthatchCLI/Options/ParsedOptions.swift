import NuthatchCore

/// The library's options from a command line, by level: process, cache, site and request. `ParsedArguments.said` makes it from
/// the given options, so a command can't read an option that it doesn't have.
struct ParsedOptions {
  var process = Options()
  var cache = Options()
  /// Options of a site. Its base URL is the root of the URL's server.
  var site = Options()
  /// The request without its URL.
  var request = Request("")

  // Options of a request that have another form in the library.
  var user: String?
  var bearer: String?
  var cert: String?
  var certKey: String?
  var certPassword: String?
  var cacheKey: String?
  var sizes: [(width: Int, height: Int)] = []
  /// How thumbnails of any size are made. Its own size is not used.
  var box = ThumbnailBox(1)
  var isFreezable = false
  var freezing = Request.Freezing()

  init() {
    // Only 'outbox replay' sends the requests that wait in the outbox.
    cache.outbox = .off
  }

  /// The defaults of commands that make thumbnails of a list.
  static let ofList: ParsedOptions = {
    var said = ParsedOptions()
    said.sizes = [(256, 256)]
    return said
  }()

  /// Reads `--per-host`. The word `auto` is from version 0.1.
  mutating func takePerHost(_ value: OptionText) throws(UsageError) {
    if value.text == "auto" { return process.perHostGrows = true }
    process.perHost = try value.count(1, 512, none: nil)
  }

  /// Reads `--concurrency`. The word `auto` is from version 0.1; it is the default.
  mutating func takeConcurrency(_ value: OptionText) throws(UsageError) {
    if value.text != "auto" { process.concurrency = try value.count(1, 512, none: nil) }
  }

  /// Warns of dangerous options that may be given by mistake.
  func warn(of command: String, _ wordiness: Wordiness) {
    guard cache.insecure == true, wordiness != .quiet else { return }
    Terminal.complain(
      "nuthatch: \(command): warning: certificates aren't checked (--insecure): others in the network can read and change "
        + "requests and answers\n")
  }

  /// One box for each size.
  var boxes: [ThumbnailBox] {
    sizes.map {
      ThumbnailBox(
        width: $0.width, height: $0.height, fit: box.fit, enlarge: box.enlarge, scaling: box.scaling)
    }
  }

  /// The template of `--cache-key`.
  var key: KeyTemplate? { cacheKey.map { KeyTemplate($0) } }

  /// The user and password of `--user NAME:PASSWORD`.
  var signIn: (name: String, password: String)? {
    guard let user else { return nil }
    let parts = user.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
  }

  /// The part that all requests have in common, without user and password.
  var common: Request {
    var common = request
    common.boxes = boxes
    if let bearer { common.setBearer(bearer) }
    common.cert = cert.map { ClientCertificate($0, key: certKey, password: certPassword) }
    return common.forOneAnswer
  }

  /// Returns the request for a single URL.
  func request(for url: String) -> Request {
    var request = common
    request.url = url
    request.cacheKey = key?.key(for: url)
    request.user = signIn
    return request
  }

  /// Returns the request for a single URL, with the options of its site.
  func request(for url: String, in cache: Cache) throws(NuthatchError) -> Request {
    try request(request(for: url), in: cache)
  }

  /// Adds the site of the URL's server to a request if cookies are wanted.
  func request(_ request: Request, in cache: Cache) throws(NuthatchError) -> Request {
    site.cookieJar == .off ? request : request.to(try cache.site(ofServerOf: request.url, site))
  }
}
