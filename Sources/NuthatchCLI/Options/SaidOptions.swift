import NuthatchCore

/// What a command line says of the library, by the level that it is said of. Made by `ParsedArguments.said` from what is
/// given, so that no option is read that the command doesn't have.
struct SaidOptions {
  var process = Options()
  var cache = Options()
  /// Of the site that is all of the URL's server.
  var site = Options()
  /// Without its URL.
  var request = Request("")

  // What of a request has another form in the library.
  var user: String?
  var bearer: String?
  var cert: String?
  var certKey: String?
  var certPassword: String?
  var cacheKey: String?
  var sizes: [(width: Int, height: Int)] = []
  /// How thumbnails are made, whatever their size.
  var box = ThumbnailBox(1)
  var isFreezable = false
  var freezing = Request.Freezing()

  init() {
    // Only 'outbox replay' sends what waits there.
    cache.outbox = .off
  }

  /// What commands have as it is that make thumbnails of a list.
  static let ofList: SaidOptions = {
    var said = SaidOptions()
    said.sizes = [(256, 256)]
    return said
  }()

  /// Version 0.1 had the word auto.
  mutating func takePerHost(_ value: OptionText) throws(UsageError) {
    if value.text == "auto" { return process.perHostGrows = true }
    process.perHost = try value.count(1, 512, none: nil)
  }

  /// Version 0.1 had the word auto for what is so anyway.
  mutating func takeConcurrency(_ value: OptionText) throws(UsageError) {
    if value.text != "auto" { process.concurrency = try value.count(1, 512, none: nil) }
  }

  /// Says what is dangerous, to whom it may have slipped in.
  func warn(of command: String, _ wordiness: Wordiness) {
    guard cache.insecure == true, wordiness != .quiet else { return }
    Terminal.complain(
      "nuthatch: \(command): warning: certificates aren't checked (--insecure): anybody on the way can read and change "
        + "what is sent and what comes\n")
  }

  /// A box for each size.
  var boxes: [ThumbnailBox] {
    sizes.map {
      ThumbnailBox(
        width: $0.width, height: $0.height, fit: box.fit, enlarge: box.enlarge, scaling: box.scaling)
    }
  }

  /// What `--cache-key` says.
  var key: KeyTemplate? { cacheKey.map { KeyTemplate($0) } }

  /// What `--user NAME:PASSWORD` says.
  var signIn: (name: String, password: String)? {
    guard let user else { return nil }
    let parts = user.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
  }

  /// What all requests have in common; who signs in at which URL isn't part of it.
  var common: Request {
    var common = request
    common.boxes = boxes
    if let bearer { common.setBearer(bearer) }
    common.cert = cert.map { ClientCertificate($0, key: certKey, password: certPassword) }
    return common.forOneAnswer
  }

  /// The request for a URL that is given by itself.
  func request(for url: String) -> Request {
    var request = common
    request.url = url
    request.cacheKey = key?.key(for: url)
    request.user = signIn
    return request
  }

  /// The same, as what the cache carries out.
  func request(for url: String, in cache: Cache) throws(NuthatchError) -> Request {
    try request(request(for: url), in: cache)
  }

  /// A request as one of its URL's server, where cookies are wanted.
  func request(_ request: Request, in cache: Cache) throws(NuthatchError) -> Request {
    site.cookieJar == .off ? request : request.to(try cache.site(ofServerOf: request.url, site))
  }
}
