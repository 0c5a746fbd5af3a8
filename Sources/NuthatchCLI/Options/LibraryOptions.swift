// Generated from options.toml by Scripts/make-header; edit that instead.

import NuthatchCore

/// The library's options that the command has.
enum LibraryOptions {
  static let all: [Option] = [
    policy,
    validatorTtl,
    imageTtl,
    noCacheTtl,
    heuristic,
    timeout,
    deadline,
    retries,
    giveUpAfter,
    maxBytes,
    maxPixels,
    addresses,
    proxy,
    method,
    headers,
    keepHeadersAcrossOrigins,
    userAgent,
    accept,
    user,
    bearer,
    signIn,
    cert,
    certKey,
    certPassword,
    netrc,
    netrcBare,
    partition,
    cookieJar,
    cacheKey,
    ignoreQuery,
    sizes,
    fit,
    enlarge,
    scaling,
    allowDamaged,
    earlyStop,
    delivery,
    priority,
    tag,
    resume,
    freezable,
    outboxDurable,
    outboxQueue,
    outboxHandler,
    secrets,
    passwordProvider,
    outboxAttempts,
    outboxMaxAge,
    outboxKeyLifetime,
    memoryBytes,
    memoryItems,
    diskBytes,
    spill,
    thumbStore,
    keepSource,
    allowFiles,
    concurrency,
    perHost,
    perHostGrows,
    rate,
    inflightBytes,
    redirects,
    caFile,
    caDir,
    insecure,
    checkBytes,
    expireAfter,
    decoding,
  ]

  private static let policy = Option(
    "policy", value: "POLICY",
    "which stored answers count as fresh: kit, rfc9111, offline or reload (kit)",
    words: ["kit", "rfc9111", "offline", "reload"],
    group: "Freshness",
    library: Option.Library(
      "policy", commands: ["get", "prefetch", "ls", "stat", "explain", "export"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.cache.policy = try value.word([.kit, .rfc9111, .offline, .reload])
    })

  private static let validatorTtl = Option(
    "validator-ttl", value: "TIME",
    "kit: how long pictures with a validator and no lifetime are fresh (1d)",
    range: "0 or more, or none",
    group: "Freshness",
    library: Option.Library(
      "validator_ttl", commands: ["get", "prefetch", "ls", "stat", "explain", "export"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.cache.validatorTTL = try value.lifetime()
    })

  private static let imageTtl = Option(
    "image-ttl", value: "TIME",
    "kit: how long pictures without any caching header are fresh (7d)",
    range: "0 or more, or none",
    group: "Freshness",
    library: Option.Library(
      "image_ttl", commands: ["get", "prefetch", "ls", "stat", "explain", "export"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.cache.imageTTL = try value.lifetime()
    })

  private static let noCacheTtl = Option(
    "no-cache-ttl", value: "TIME",
    "kit: how long answers marked no-cache are fresh (60s)",
    range: "0 or more, or none",
    group: "Freshness",
    library: Option.Library(
      "no_cache_ttl", commands: ["get", "prefetch", "ls", "stat", "explain", "export"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.cache.noCacheTTL = try value.lifetime()
    })

  private static let heuristic = Option(
    "heuristic", value: "F",
    "rfc9111: share of the time since Last-Modified for which an answer without a lifetime is fresh (0.1)",
    range: "0 to 1, or none",
    group: "Freshness",
    library: Option.Library(
      "heuristic", commands: ["get", "prefetch", "ls", "stat", "explain", "export"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.cache.heuristic = try value.share(0, 1, none: 0)
    })

  private static let timeout = Option(
    "timeout", value: "TIME",
    "longest time without a byte: connecting, waiting, between two bytes (30s)",
    range: "1 ms or more, or none",
    group: "Limits",
    library: Option.Library(
      "timeout", commands: ["get", "prefetch"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.cache.timeout = try value.limit(1)
    })

  private static let deadline = Option(
    "deadline", value: "TIME",
    "longest time for the whole request (two minutes for pictures, else none)",
    range: "1 ms or more, or none",
    group: "Limits",
    library: Option.Library(
      "deadline", commands: ["get", "prefetch"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.cache.deadline = try value.limit(1)
    })

  private static let retries = Option(
    "retries", value: "N",
    "further attempts after a failed one (3)",
    range: "0 to 1000, or none",
    group: "Limits",
    library: Option.Library(
      "retries", commands: ["get", "prefetch"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.cache.retries = try value.count(0, 1_000, none: 0)
    })

  private static let giveUpAfter = Option(
    "give-up-after", value: "TIME",
    "how long a host may be unreachable before its requests fail (five minutes for requests of a batch, else none)",
    range: "0 or more, or none",
    group: "Limits",
    library: Option.Library(
      "give_up_after", commands: ["prefetch"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.request.options.giveUpAfter = try value.limit(0)
    })

  private static let maxBytes = Option(
    "max-bytes", value: "SIZE",
    "largest body (64MiB)",
    range: "1 or more, or none",
    group: "Limits",
    library: Option.Library(
      "max_bytes", commands: ["get", "prefetch", "explain", "export"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.cache.maxBytes = try value.bytes(1, nil, none: .max)
    })

  private static let maxPixels = Option(
    "max-pixels", value: "N",
    "with --size: most pixels that a picture may have; N may end in K, M or G (100,000,000)",
    range: "1 or more, or none",
    needs: "size",
    group: "Limits",
    library: Option.Library(
      "max_pixels", commands: ["get", "prefetch", "explain", "export"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.cache.maxPixels = try value.count(1, nil, none: .max, hasUnits: true)
    })

  private static let addresses = Option(
    "addresses", value: "guarded|public|any",
    "which addresses may be connected to (guarded)",
    words: ["guarded", "public", "any"],
    old: ["guard": nil, "deny-private": "public", "allow-private": "any"],
    group: "Site, addresses, proxy",
    library: Option.Library(
      "addresses", commands: ["get", "prefetch", "explain", "export"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.cache.addresses = try value.word([.guarded, .public, .any])
    })

  private static let proxy = Option(
    "proxy", value: "URL",
    "proxy for all requests; empty for none (from the environment)",
    range: "a text that is not empty",
    group: "Site, addresses, proxy",
    library: Option.Library(
      "proxy", commands: ["get", "prefetch", "explain", "export", "rm"],
      namesAnswers: true
    ) { (said, value) throws(UsageError) in
      said.cache.proxy = value.text
    })

  private static let method = Option(
    "method", letter: "X", value: "METHOD",
    "the method, such as POST (GET; POST with --data, --json and --form)",
    range: "a text that is not empty",
    group: "What is sent",
    library: Option.Library(
      "method", commands: ["get"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.request.method = try value.filled()
    })

  private static let headers = Option(
    "header", letter: "H", value: "'K: V'",
    "send this header; repeatable",
    range: "a name, a colon and a value",
    group: "What is sent",
    library: Option.Library(
      "headers", commands: ["get", "prefetch", "explain", "export", "rm"],
      namesAnswers: true
    ) { (said, value) throws(UsageError) in
      said.request.headers.append(try value.header())
    })

  private static let keepHeadersAcrossOrigins = Option(
    "keep-headers-across-origins", value: "NAMES",
    "names of headers that are also sent to other origins",
    range: "a text that is not empty",
    group: "What is sent",
    library: Option.Library(
      "keep_headers_across_origins", commands: ["get", "prefetch", "explain", "export", "rm"],
      namesAnswers: true
    ) { (said, value) throws(UsageError) in
      said.cache.keepHeadersAcrossOrigins = value.names()
    })

  private static let userAgent = Option(
    "user-agent", value: "TEXT",
    "value of the User-Agent header (nuthatch and its version)",
    range: "a text that is not empty",
    group: "What is sent",
    library: Option.Library(
      "user_agent", commands: ["get", "prefetch", "rm", "explain", "export"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.cache.userAgent = value.text
    })

  private static let accept = Option(
    "accept", value: "TEXT",
    "value of the Accept header, or the word modern (*/*; for pictures, JPEG, PNG and GIF first)",
    range: "a text that is not empty",
    group: "What is sent",
    library: Option.Library(
      "accept", commands: ["get", "prefetch", "rm", "explain", "export"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.cache.accept = try value.mediaTypes()
    })

  private static let user = Option(
    "user", letter: "u", value: "NAME:PASSWORD",
    "user and password, for one origin",
    range: "a text that is not empty",
    group: "Credentials and cookies",
    library: Option.Library(
      "user", commands: ["get", "prefetch", "explain", "export", "rm"],
      namesAnswers: true
    ) { (said, value) throws(UsageError) in
      said.user = value.text
    })

  private static let bearer = Option(
    "bearer", value: "TOKEN",
    "token to sign in with, sent to the origin of the URL and to no other",
    range: "a text that is not empty",
    group: "Credentials and cookies",
    library: Option.Library(
      "bearer", commands: ["get", "explain", "export", "rm"],
      namesAnswers: true
    ) { (said, value) throws(UsageError) in
      said.bearer = try value.filled()
    })

  private static let signIn = Option(
    "sign-in", value: "HOW",
    "how user and password are sent: basic, digest, ntlm, negotiate or any (basic)",
    words: ["basic", "digest", "ntlm", "negotiate", "any"],
    group: "Credentials and cookies",
    library: Option.Library(
      "sign_in", commands: ["get", "prefetch", "explain", "export", "rm"],
      namesAnswers: true
    ) { (said, value) throws(UsageError) in
      said.request.options.signIn = try value.word([.basic, .digest, .ntlm, .negotiate, .any])
    })

  private static let cert = Option(
    "cert", value: "FILE",
    "client certificate, a file in PEM",
    range: "a text that is not empty",
    group: "Credentials and cookies",
    library: Option.Library(
      "cert", commands: ["get", "explain", "export", "rm"],
      namesAnswers: true
    ) { (said, value) throws(UsageError) in
      said.cert = try value.filled()
    })

  private static let certKey = Option(
    "cert-key", value: "FILE",
    "with --cert: private key of cert, a file in PEM (in the same file)",
    range: "a text that is not empty",
    needs: "cert",
    group: "Credentials and cookies",
    library: Option.Library(
      "cert_key", commands: ["get", "rm", "explain", "export"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.certKey = try value.filled()
    })

  private static let certPassword = Option(
    "cert-password", value: "TEXT",
    "with --cert: password of the key of cert",
    range: "a text that is not empty",
    needs: "cert",
    group: "Credentials and cookies",
    library: Option.Library(
      "cert_password", commands: ["get", "rm", "explain", "export"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.certPassword = value.text
    })

  private static let netrc = Option(
    "netrc-file", value: "FILE",
    "a file with users and passwords by host",
    range: "a text that is not empty",
    group: "Credentials and cookies",
    library: Option.Library(
      "netrc", commands: ["get", "prefetch", "explain", "export", "rm"],
      namesAnswers: true
    ) { (said, value) throws(UsageError) in
      said.cache.netrc = .file(try value.filled())
    })

  private static let netrcBare = Option(
    "netrc",
    "the same with $NETRC, else ~/.netrc",
    group: "Credentials and cookies",
    library: Option.Library(
      "netrc", commands: ["get", "prefetch", "explain", "export", "rm"],
      namesAnswers: true
    ) { (said, _) throws(UsageError) in
      if said.cache.netrc == nil { said.cache.netrc = .standard }
    })

  private static let partition = Option(
    "partition", value: "NAME",
    "name that separates these answers from others, instead of the credentials (the credentials)",
    range: "a text that is not empty",
    group: "Credentials and cookies",
    library: Option.Library(
      "partition", commands: ["get", "prefetch", "explain", "export", "rm"],
      namesAnswers: true
    ) { (said, value) throws(UsageError) in
      said.cache.partition = try value.filled()
    })

  private static let cookieJar = Option(
    "cookie-jar", value: "off|memory|disk",
    "whether cookies that the servers set are sent back, and where they are stored (off)",
    words: ["off", "memory", "disk"],
    old: ["cookies": "disk"],
    group: "Credentials and cookies",
    library: Option.Library(
      "cookie_jar", commands: ["get", "explain", "export", "rm"],
      namesAnswers: true
    ) { (said, value) throws(UsageError) in
      said.site.cookieJar = try value.word([.off, .memory, .disk])
    })

  private static let cacheKey = Option(
    "cache-key", value: "TEXT",
    "store answers under the key TEXT, in which {} stands for the URL without its query (the URL)",
    range: "a text that is not empty",
    group: "Cache key",
    library: Option.Library(
      "cache_key", commands: ["get", "prefetch", "explain", "export", "rm"],
      namesAnswers: true
    ) { (said, value) throws(UsageError) in
      said.cacheKey = try value.filled()
    })

  private static let ignoreQuery = Option(
    "ignore-query",
    "store and find the answer by the URL without its query",
    group: "Cache key",
    library: Option.Library(
      "ignore_query", commands: ["get", "prefetch", "explain", "export", "rm"],
      namesAnswers: true
    ) { (said, _) throws(UsageError) in
      said.request.options.ignoreQuery = true
    })

  private static let sizes = Option(
    "size", letter: "s", value: "N[xM][,…]",
    "boxes of the wanted thumbnails, at most 64 (none: the answer itself)",
    range: "N or NxM, 1 to 65535, at most 64 with commas between them",
    group: "Thumbnails",
    library: Option.Library(
      "sizes", commands: ["get", "prefetch", "explain", "export"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.sizes = try value.sizes()
    })

  private static let fit = Option(
    "fit", value: "inside|cover|stretch",
    "with --size: how pictures are made to fit their boxes (inside)",
    words: ["inside", "cover", "stretch"],
    needs: "size",
    old: ["mode": nil],
    oldWords: ["fit": "inside", "fill": "cover", "exact": "stretch"],
    group: "Thumbnails",
    library: Option.Library(
      "fit", commands: ["get", "prefetch", "explain", "export"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.box.fit = try value.word([.inside, .cover, .stretch])
    })

  private static let enlarge = Option(
    "enlarge",
    "with --size: enlarge pictures that are smaller than the box",
    needs: "size",
    group: "Thumbnails",
    library: Option.Library(
      "enlarge", commands: ["get", "prefetch", "explain", "export"],
      namesAnswers: false
    ) { (said, _) throws(UsageError) in
      said.box.enlarge = true
    })

  private static let scaling = Option(
    "scaling", value: "best|fast",
    "with --size: how much of a picture is decoded before it is scaled down (best)",
    words: ["best", "fast"],
    needs: "size",
    old: ["quality": nil],
    group: "Thumbnails",
    library: Option.Library(
      "scaling", commands: ["get", "prefetch", "explain", "export"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.box.scaling = try value.word([.best, .fast])
    })

  private static let allowDamaged = Option(
    "allow-damaged",
    "with --size: take what can be decoded of a damaged picture",
    needs: "size",
    old: ["allow-truncated": nil],
    group: "Thumbnails",
    library: Option.Library(
      "allow_damaged", commands: ["get", "prefetch", "explain", "export"],
      namesAnswers: false
    ) { (said, _) throws(UsageError) in
      said.request.options.allowDamaged = true
    })

  private static let earlyStop = Option(
    "early-stop",
    "with --size: end the transfer of a progressive JPEG, a GIF, or an animated WebP or AVIF when the thumbnails are done",
    needs: "size",
    group: "Thumbnails",
    library: Option.Library(
      "early_stop", commands: ["get", "prefetch"],
      namesAnswers: false
    ) { (said, _) throws(UsageError) in
      said.request.options.earlyStop = true
    })

  private static let delivery = Option(
    "delivery", value: "twice|first|fresh",
    "when answers from the cache are delivered (fresh)",
    words: ["twice", "first", "fresh"],
    group: "Delivery",
    library: Option.Library(
      "delivery", commands: ["get", "prefetch"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.request.options.delivery = try value.word([.twice, .first, .fresh])
    })

  private static let priority = Option(
    "priority", value: "N",
    "place in the queue, higher ones first (0; prefetch -5)",
    range: "-10 to 10, or none",
    group: "Delivery",
    library: Option.Library(
      "priority", commands: ["get", "prefetch"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.request.options.priority = try value.count(-10, 10, none: 0)
    })

  private static let tag = Option(
    "tag", value: "WORD",
    "with --freezable: a word that the list of the outbox shows",
    range: "a text that is not empty",
    needs: "freezable",
    group: "Delivery",
    library: Option.Library(
      "tag", commands: ["get"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.request.options.tag = try value.filled()
    })

  private static let resume = Option(
    "no-resume",
    "after a broken transfer keep no partial file",
    group: "Delivery",
    library: Option.Library(
      "resume", commands: ["get"],
      namesAnswers: false
    ) { (said, _) throws(UsageError) in
      said.request.options.resume = false
    })

  private static let freezable = Option(
    "freezable",
    "put the request into the outbox if its server can't be reached, and send it later",
    group: "Outbox",
    library: Option.Library(
      "freezable", commands: ["get"],
      namesAnswers: false
    ) { (said, _) throws(UsageError) in
      said.isFreezable = true
    })

  private static let outboxDurable = Option(
    "outbox-durable",
    "with --freezable: store the request before the first attempt, so that it survives a kill during it",
    needs: "freezable",
    old: ["durable": nil],
    group: "Outbox",
    library: Option.Library(
      "outbox_durable", commands: ["get"],
      namesAnswers: false
    ) { (said, _) throws(UsageError) in
      said.freezing.isDurable = true
    })

  private static let outboxQueue = Option(
    "outbox-queue", value: "NAME",
    "with --freezable: queue in the outbox; its requests are sent one after the other (the URL's origin)",
    range: "a text that is not empty",
    needs: "freezable",
    old: ["queue": nil],
    group: "Outbox",
    library: Option.Library(
      "outbox_queue", commands: ["get"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.freezing.queue = try value.filled()
    })

  private static let outboxHandler = Option(
    "outbox-handler", value: "NAME",
    "with --freezable: name of the handler that gets the outcome (none: the outcome waits to be collected)",
    range: "a text that is not empty",
    needs: "freezable",
    old: ["handler": nil],
    group: "Outbox",
    library: Option.Library(
      "outbox_handler", commands: ["get"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.freezing.handler = try value.filled()
    })

  private static let secrets = Option(
    "secrets", value: "'K: [PREFIX ]env:NAME'",
    "with --freezable: send this header with the value of an environment variable, which is never written; repeatable",
    range: "a text that is not empty",
    needs: "freezable",
    old: ["secret": nil],
    group: "Outbox",
    library: Option.Library(
      "secrets", commands: ["get"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.freezing.secrets.append(try value.secret())
    })

  private static let passwordProvider = Option(
    "password-provider", value: "env:NAME",
    "with --freezable: provider of the password of user",
    range: "a text that is not empty",
    needs: "freezable",
    old: ["password": nil],
    group: "Outbox",
    library: Option.Library(
      "password_provider", commands: ["get"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.freezing.passwordProvider = try value.provider()
    })

  private static let outboxAttempts = Option(
    "outbox-attempts", value: "N",
    "with --freezable: after how many answers that report a temporary failure (408, 425, 429, 5xx) the request is put aside (25)",
    range: "1 or more, or none",
    needs: "freezable",
    old: ["attempts": nil],
    group: "Outbox",
    library: Option.Library(
      "outbox_attempts", commands: ["get"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.freezing.attempts = min(try value.count(1, nil, none: .max), Int(Int32.max))
    })

  private static let outboxMaxAge = Option(
    "outbox-max-age", value: "TIME",
    "with --freezable: longest time for all attempts (7d)",
    range: "1 ms or more, or none",
    needs: "freezable",
    old: ["longest": nil],
    group: "Outbox",
    library: Option.Library(
      "outbox_max_age", commands: ["get"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.freezing.longest = try value.limit(1)
    })

  private static let outboxKeyLifetime = Option(
    "outbox-key-lifetime", value: "TIME",
    "with --freezable: how long the server remembers the Idempotency-Key (24h)",
    range: "1 ms or more, or none",
    needs: "freezable",
    old: ["key-lifetime": nil, "resend-late": "none"],
    group: "Outbox",
    library: Option.Library(
      "outbox_key_lifetime", commands: ["get"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.freezing.keyLifetime = try value.limit(1)
    })

  private static let memoryBytes = Option(
    "memory-bytes", value: "SIZE",
    "memory that this process may use for stored things, mostly decoded thumbnails (64 MiB or less; prefetch 4 MiB)",
    range: "0 or more, or none",
    group: "Cache",
    library: Option.Library(
      "memory_bytes", commands: ["get", "prefetch"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.cache.memoryBytes = try value.bytes(0, nil, none: 0)
    })

  private static let memoryItems = Option(
    "memory-items", value: "N",
    "how many things this process may keep in memory (as many as fit)",
    range: "1 or more, or none",
    group: "Cache",
    library: Option.Library(
      "memory_items", commands: ["get", "prefetch"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.cache.memoryItems = try value.count(1, nil, none: .max)
    })

  private static let diskBytes = Option(
    "disk-bytes", value: "SIZE",
    "disk space of the directory, without the outbox (as before, else 4 GiB)",
    range: "4 MiB to 64 TiB",
    group: "Cache",
    library: Option.Library(
      "disk_bytes", commands: ["get", "prefetch"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.cache.diskBytes = try value.bytes(4_194_304, 70_368_744_177_664, none: nil)
    })

  private static let spill = Option(
    "spill", value: "eager|pressure",
    "when new answers are written to disk (eager)",
    words: ["eager", "pressure"],
    group: "Cache",
    library: Option.Library(
      "spill", commands: ["get", "prefetch"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.cache.spill = try value.word([.eager, .pressure])
    })

  private static let thumbStore = Option(
    "thumb-store", value: "THUMB_STORE",
    "how thumbnails are stored on disk: packed, lossless, raw or small (packed)",
    words: ["packed", "lossless", "raw", "small"],
    old: ["store": nil],
    group: "Cache",
    library: Option.Library(
      "thumb_store", commands: ["get", "prefetch"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.cache.thumbStore = try value.word([.packed, .lossless, .raw, .small])
    })

  private static let keepSource = Option(
    "keep-source", value: "yes|no",
    "store the bodies of pictures, so that other sizes can be made of them (yes)",
    words: ["yes", "no"],
    range: "yes or no",
    group: "Cache",
    library: Option.Library(
      "keep_source", commands: ["get", "prefetch"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.cache.keepSource = try value.yesOrNo()
    })

  private static let allowFiles = Option(
    "allow-files",
    "allow file: URLs; they can read any file that this process may read",
    group: "Cache",
    library: Option.Library(
      "allow_files", commands: ["get", "prefetch", "explain", "export"],
      namesAnswers: false
    ) { (said, _) throws(UsageError) in
      said.cache.allowFiles = true
    })

  private static let concurrency = Option(
    "concurrency", value: "N",
    "how many requests run at once, in all caches together (automatic, measured for the network link)",
    range: "1 to 512",
    group: "Queue of the process",
    library: Option.Library(
      "concurrency", commands: ["get", "prefetch"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      try said.takeConcurrency(value)
    })

  private static let perHost = Option(
    "per-host", value: "N",
    "how many requests run at once at one host (6, or 32 where the host speaks HTTP/2)",
    range: "1 to 512",
    group: "Queue of the process",
    library: Option.Library(
      "per_host", commands: ["get", "prefetch"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      try said.takePerHost(value)
    })

  private static let perHostGrows = Option(
    "per-host-grows",
    "raise per_host for hosts that can take it, for requests of a batch",
    group: "Queue of the process",
    library: Option.Library(
      "per_host_grows", commands: ["get", "prefetch"],
      namesAnswers: false
    ) { (said, _) throws(UsageError) in
      said.process.perHostGrows = true
    })

  private static let rate = Option(
    "rate", value: "N",
    "how many requests may start in a second at one host (no limit)",
    range: "0.000001 to 1000000, or none",
    group: "Queue of the process",
    library: Option.Library(
      "rate", commands: ["get", "prefetch"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.process.rate = try value.rate(1e-06, 1_000_000)
    })

  private static let inflightBytes = Option(
    "inflight-bytes", value: "SIZE",
    "memory for bodies that are being received; bytes beyond it go to files (64 MiB or less)",
    range: "0 or more, or none",
    group: "Queue of the process",
    library: Option.Library(
      "inflight_bytes", commands: ["get", "prefetch"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.process.inFlightBytes = try value.bytes(0, nil, none: 0)
    })

  private static let redirects = Option(
    "redirects", value: "N",
    "how many redirects are followed (10)",
    range: "0 to 100, or none",
    group: "Site, addresses, proxy",
    library: Option.Library(
      "redirects", commands: ["get", "prefetch", "explain", "export", "rm"],
      namesAnswers: true
    ) { (said, value) throws(UsageError) in
      said.cache.redirects = try value.count(0, 100, none: 0)
    })

  private static let caFile = Option(
    "cacert", value: "FILE",
    "certificates that servers are checked with, in a file in PEM (from the environment, else the system's)",
    range: "a text that is not empty",
    group: "TLS certificates",
    library: Option.Library(
      "ca_file", commands: ["get", "prefetch", "explain", "export", "rm"],
      namesAnswers: true
    ) { (said, value) throws(UsageError) in
      said.cache.caFile = value.text
    })

  private static let caDir = Option(
    "capath", value: "DIR",
    "folder of certificates that servers are checked with, named by their hashes (`openssl rehash`) (from the environment, else the system's)",
    range: "a text that is not empty",
    group: "TLS certificates",
    library: Option.Library(
      "ca_dir", commands: ["get", "prefetch", "explain", "export", "rm"],
      namesAnswers: true
    ) { (said, value) throws(UsageError) in
      said.cache.caDir = value.text
    })

  private static let insecure = Option(
    "insecure", letter: "k",
    "don't check certificates: anyone on the path can read and change the traffic",
    group: "TLS certificates",
    library: Option.Library(
      "insecure", commands: ["get", "prefetch", "explain", "export", "rm"],
      namesAnswers: true
    ) { (said, _) throws(UsageError) in
      said.cache.insecure = true
    })

  private static let checkBytes = Option(
    "check-bytes", value: "first|always",
    "when bytes read from the disk are compared with their checksum (first)",
    words: ["first", "always"],
    group: "Cache",
    library: Option.Library(
      "check_bytes", commands: ["get", "prefetch", "export"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.cache.checkBytes = try value.word([.first, .always])
    })

  private static let expireAfter = Option(
    "expire-after", value: "TIME",
    "how long answers are fresh after they came; replaces their headers (by headers and policy)",
    range: "0 or more, or none",
    group: "Freshness",
    library: Option.Library(
      "expire_after", commands: ["get", "prefetch", "ls", "stat", "explain", "export"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.cache.expireAfter = try value.lifetime()
    })

  private static let decoding = Option(
    "decode", value: "here|isolated",
    "with --size: where pictures are decoded (here)",
    words: ["here", "isolated"],
    needs: "size",
    group: "Limits",
    library: Option.Library(
      "decoding", commands: ["get", "prefetch"],
      namesAnswers: false
    ) { (said, value) throws(UsageError) in
      said.cache.decode = try value.word([.here, .isolated])
    })

  /// The names of each command's options in version 0.1.
  static let before: [String: [String]] = [
    "prefetch": [
      "progress", "quiet", "verbose", "user", "delivery", "mode", "enlarge", "quality", "allow-truncated",
      "early-stop", "max-pixels", "header", "user-agent", "accept", "policy", "validator-ttl",
      "image-ttl", "no-cache-ttl", "heuristic", "guard", "deny-private", "allow-private", "allow-files",
      "timeout", "deadline", "retries", "max-bytes", "netrc", "netrc-file", "proxy", "partition",
      "ignore-query", "priority", "concurrency", "per-host", "rate", "inflight-bytes", "cache",
      "disk-bytes", "memory-bytes", "memory-items", "spill", "store", "keep-source", "size", "help",
      "input", "url-field", "format", "report", "failed-out", "min-success", "dry-run", "shard",
      "shard-by", "respect-noai", "give-up-after",
    ],
    "get": [
      "progress", "quiet", "verbose", "user", "delivery", "mode", "enlarge", "quality", "allow-truncated",
      "early-stop", "max-pixels", "header", "user-agent", "accept", "policy", "validator-ttl",
      "image-ttl", "no-cache-ttl", "heuristic", "guard", "deny-private", "allow-private", "allow-files",
      "timeout", "deadline", "retries", "max-bytes", "netrc", "netrc-file", "proxy", "partition",
      "ignore-query", "priority", "concurrency", "per-host", "rate", "inflight-bytes", "cache",
      "disk-bytes", "memory-bytes", "memory-items", "spill", "store", "keep-source", "size", "help",
      "output", "append", "no-resume", "method", "data", "json", "form", "freezable", "durable", "queue",
      "handler", "tag", "attempts", "longest", "key-lifetime", "secret", "password", "sign-in", "bearer",
      "cert", "cert-key", "cookies",
    ],
    "stat": [
      "format", "count", "cache", "help",
    ],
    "ls": [
      "format", "policy", "cache", "help",
    ],
    "explain": [
      "cache", "user", "header", "partition", "proxy", "ignore-query", "help", "format", "size", "mode",
      "policy",
    ],
    "rm": [
      "cache", "user", "header", "partition", "proxy", "ignore-query", "help", "format",
    ],
    "verify": [
      "format", "cache", "help",
    ],
    "trim": [
      "format", "to", "cache", "help",
    ],
    "clear": [
      "format", "cache", "help",
    ],
    "export": [
      "cache", "user", "header", "partition", "proxy", "ignore-query", "help", "size", "as", "name",
      "resume", "format", "input", "url-field", "mode", "enlarge", "quality",
    ],
    "outbox": [
      "format", "deadline", "cache", "help",
    ],
    "help": [
      "help"
    ],
  ]
}
