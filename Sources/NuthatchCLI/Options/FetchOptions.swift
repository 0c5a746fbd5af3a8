import NuthatchCore

/// The options that commands have in common, one list for each thing that they belong to.
enum FetchOptions {
  static let cache = Option(
    "cache", value: "DIR",
    "the cache directory ($NUTHATCH_CACHE, $XDG_CACHE_HOME/nuthatch, ~/.cache/nuthatch)")

  /// How thumbnails are made.
  static let pictures = [
    Option(
      "mode", value: "MODE", "with --size: fit inside the box, fill it and cut off the rest, or exact (fit)"),
    Option("enlarge", "with --size: make smaller pictures larger"),
    Option("quality", value: "best|fast", "with --size: how much is decoded before it is scaled down (best)"),
    Option("allow-truncated", "with --size: take what can be decoded of a damaged picture"),
    Option("early-stop", "with --size: end the transfer of a progressive JPEG when the thumbnails are done"),
    Option("max-pixels", value: "N", "with --size: most pixels of the source; N may end in K or M (100M)"),
  ]

  /// How much is said.
  static let words = [
    Option(
      "progress", value: "HOW",
      "on standard error: auto (on a terminal), always, never, or plain: a line every 5 s (auto)"
    ),
    Option("quiet", letter: "q", "say nothing but errors"),
    Option("verbose", letter: "v", "say of each URL how it ended"),
  ]

  static let user = Option("user", letter: "u", value: "NAME:PASSWORD", "sign in (Basic)")

  /// Of a list, whose URLs may lead anywhere.
  static let userOfList = Option(
    "user", letter: "u", value: "NAME:PASSWORD[@HOST]",
    "sign in (Basic) at HOST: host, host:port or https://host; without, at the one origin of the list")

  /// What is sent, within which limits, and what counts as fresh.
  static let network = [
    Option("header", letter: "H", value: "'K: V'", "send this header; repeatable"),
    Option("user-agent", value: "TEXT", "what the User-Agent header says (nuthatch/\(Version.string))"),
    Option("accept", value: "TEXT", "what the Accept header says"),
    Option(
      "policy", value: "NAME", "what is fresh: kit, rfc9111, offline (never the network) or reload (kit)"),
    Option(
      "validator-ttl", value: "SECONDS",
      "kit: how long pictures with a validator and no lifetime are fresh (86400)"),
    Option("image-ttl", value: "SECONDS", "kit: and pictures of which nothing is said (604800)"),
    Option("no-cache-ttl", value: "SECONDS", "kit: and answers marked no-cache (60)"),
    Option(
      "heuristic", value: "F",
      "rfc9111: share of the time since Last-Modified for which answers are fresh (0.1)"),
    Option(
      "guard", value: "GRADE",
      "guarded refuses link-local addresses and redirects inwards; public; any (guarded)"),
    Option("deny-private", "the same as --guard public: connect to public addresses only"),
    Option("allow-private", "the same as --guard any: connect to any address"),
    Option("allow-files", "take file: URLs, too: any file that you may read"),
    Option("timeout", value: "SECONDS", "longest silence: connecting, waiting, between two bytes (30)"),
    Option(
      "deadline", value: "SECONDS",
      "longest time, queue included; in prefetch from the first attempt (pictures 120, else none)"),
    Option("retries", value: "N", "further attempts after one that failed (3)"),
    Option("max-bytes", value: "N", "largest body; N may end in K, M or G (64M)"),
    Option("netrc", "sign in with the user and password that $NETRC, else ~/.netrc, has for the host"),
    Option("netrc-file", value: "FILE", "the same with those that FILE has"),
    Option("proxy", value: "URL", "the way of all requests; empty for none ($http_proxy, $https_proxy)"),
    Option("partition", value: "NAME", "whose answers these are, instead of the credentials sent"),
    Option("ignore-query", "keep answers under the URL without its query"),
    Option(
      "cache-key", value: "TEXT", "keep answers under TEXT, in which {} stands for the URL without its query"),
    Option("priority", value: "N", "place in the queue, -10 to 10"),
    Option("concurrency", value: "N", "requests at once, 1 to 512 (auto)"),
    Option(
      "per-host", value: "N|auto",
      "requests at once at one host; auto: more where it bears them, to 32 (6; 32 over HTTP/2)"),
    Option("rate", value: "N", "requests that may begin in a second at one host (no limit)"),
    Option(
      "inflight-bytes", value: "N",
      "what bodies on their way may hold in memory; more goes to files (64M or less)"),
  ]

  /// What holds for the directory.
  static let store = [
    cache,
    Option(
      "disk-bytes", value: "N", "what the directory may take; N may end in K, M or G (as before, or 4G)"),
    Option("memory-bytes", value: "N", "what this process may keep in memory (64M or less; prefetch 4M)"),
    Option("memory-items", value: "N", "how many things it may keep there (no limit)"),
    Option(
      "spill", value: "eager|pressure",
      "write to disk at once, or when memory is short and at the end (eager)"),
    Option("store", value: "FORM", "thumbnails on disk: packed (JPEG), lossless (PNG) or raw (packed)"),
    Option("keep-source", value: "yes|no", "keep the originals, too, for other sizes to come (yes)"),
  ]
}

/// How much a command says besides its answers and its errors.
enum Wordiness {
  case quiet, usual, verbose
}

extension ParsedArguments {
  var wordiness: Wordiness {
    get throws(UsageError) {
      guard !has("quiet") || !has("verbose") else {
        throw UsageError("--quiet and --verbose exclude each other")
      }
      return has("quiet") ? .quiet : has("verbose") ? .verbose : .usual
    }
  }

  var progress: ProgressLine.Form {
    get throws(UsageError) {
      try choice("progress", ["auto": .auto, "always": .always, "never": .never, "plain": .plain]) ?? .auto
    }
  }

  /// Puts what is said of the queue into force, and gives what is said of the cache.
  func cacheOptions() throws(UsageError) -> Options {
    var options = Options()
    // Only 'outbox replay' sends what waits there.
    options.outbox = .off
    options.timeout = try limit("timeout")
    options.deadline = try limit("deadline")
    options.retries = try whole("retries", 0...1000)
    options.maxBytes = try bytes("max-bytes")
    options.maxPixels = try pixels("max-pixels")
    options.userAgent = value("user-agent")
    options.accept = try accept()
    options.partition = value("partition")
    options.proxy = value("proxy")
    options.netrc = value("netrc-file").map { .file($0) } ?? (has("netrc") ? .standard : nil)
    options.policy = try choice(
      "policy", ["kit": .kit, "rfc9111": .rfc9111, "offline": .offline, "reload": .reload])
    options.validatorTTL = try whole("validator-ttl", 0...Int.max).map { .seconds($0) }
    options.imageTTL = try whole("image-ttl", 0...Int.max).map { .seconds($0) }
    options.noCacheTTL = try whole("no-cache-ttl", 0...Int.max).map { .seconds($0) }
    if let text = value("heuristic") {
      guard let share = Double(text), (0...1).contains(share) else {
        throw UsageError("--heuristic: '\(text)' is not a share between 0 and 1")
      }
      options.heuristic = share
    }
    options.addresses = try addressGuard()
    options.allowFiles = has("allow-files")
    options.diskBytes = try bytes("disk-bytes")
    options.memoryBytes = try bytes("memory-bytes")
    options.memoryItems = try whole("memory-items", 1...Int.max)
    options.spill = try choice("spill", ["eager": .eager, "pressure": .pressure])
    options.thumbStore = try choice("store", ["packed": .packed, "lossless": .lossless, "raw": .raw])
    options.keepSource = try choice("keep-source", ["yes": true, "no": false])
    return options
  }

  /// What is said of the process's queue.
  func queueOptions() throws(UsageError) -> Options {
    var queue = Options()
    if value("concurrency") != "auto" { queue.concurrency = try whole("concurrency", 1...512) }
    queue.perHostGrows = value("per-host") == "auto"
    if !queue.perHostGrows { queue.perHost = try whole("per-host", 1...512) }
    if let text = value("rate"), text != "off" {
      guard let rate = Double(text), rate > 0, rate <= 1_000_000 else {
        throw UsageError("--rate: '\(text)' is not a positive number of requests a second")
      }
      queue.rate = rate
    }
    queue.inFlightBytes = try bytes("inflight-bytes")
    return queue
  }

  /// What `--cache-key` says.
  var cacheKey: KeyTemplate? { value("cache-key").map { KeyTemplate($0) } }

  private func accept() throws(UsageError) -> String? {
    guard let text = value("accept") else { return nil }
    guard text.isEmpty || text.contains("/") else {
      throw UsageError(
        "--accept: '\(text)' is no list of media types, such as image/*. wget's --accept is a list of endings of names; "
          + "here, --accept is what the Accept header says.")
    }
    return text
  }

  private func addressGuard() throws(UsageError) -> Addresses? {
    let said: Addresses? = try choice("guard", ["guarded": .guarded, "public": .public, "any": .any])
    let given = [said, has("deny-private") ? .public : nil, has("allow-private") ? .any : nil].compactMap {
      $0
    }
    guard given.count < 2 else {
      throw UsageError("--guard, --deny-private and --allow-private exclude each other")
    }
    return given.first
  }
}
