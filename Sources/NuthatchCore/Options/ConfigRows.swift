// Generated from options.toml by Scripts/make-header; edit that instead.

/// The options of config files.
package enum ConfigRows {
  static let ofTable: [ConfigRow] = [
    policy,
    validatorTtl,
    imageTtl,
    noCacheTtl,
    heuristic,
    timeout,
    deadline,
    retries,
    maxBytes,
    maxPixels,
    addresses,
    proxy,
    headers,
    keepHeadersAcrossOrigins,
    userAgent,
    accept,
    user,
    signIn,
    cert,
    certKey,
    certPassword,
    netrc,
    partition,
    cookieJar,
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

  /// Options of single requests, which files don't have, with the command's names for them.
  static let ofRequests: [String: String] = [
    "give_up_after": "give-up-after",
    "method": "method",
    "bearer": "bearer",
    "cache_key": "cache-key",
    "ignore_query": "ignore-query",
    "sizes": "size",
    "fit": "fit",
    "enlarge": "enlarge",
    "scaling": "scaling",
    "allow_damaged": "allow-damaged",
    "early_stop": "early-stop",
    "delivery": "delivery",
    "priority": "priority",
    "tag": "tag",
    "resume": "no-resume",
    "freezable": "freezable",
    "outbox_durable": "outbox-durable",
    "outbox_queue": "outbox-queue",
    "outbox_handler": "outbox-handler",
    "secrets": "secrets",
    "password_provider": "password-provider",
    "outbox_attempts": "outbox-attempts",
    "outbox_max_age": "outbox-max-age",
    "outbox_key_lifetime": "outbox-key-lifetime",
  ]

  private static let policy = ConfigRow(
    "policy", .words, levels: [.cache, .site],
    range: "kit, rfc9111, offline or reload", words: ["kit", "rfc9111", "offline", "reload"],
    names: [],
    usual: "kit",
    isSet: { $0.policy != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.policy = try value.word([.kit, .rfc9111, .offline, .reload])
  }

  private static let validatorTtl = ConfigRow(
    "validator_ttl", .duration, levels: [.cache, .site],
    range: "0 or more, or none", words: [],
    names: ["validator-ttl"],
    usual: "1d",
    isSet: { $0.validatorTTL != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.validatorTTL = try value.lifetime()
  }

  private static let imageTtl = ConfigRow(
    "image_ttl", .duration, levels: [.cache, .site],
    range: "0 or more, or none", words: [],
    names: ["image-ttl"],
    usual: "7d",
    isSet: { $0.imageTTL != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.imageTTL = try value.lifetime()
  }

  private static let noCacheTtl = ConfigRow(
    "no_cache_ttl", .duration, levels: [.cache, .site],
    range: "0 or more, or none", words: [],
    names: ["no-cache-ttl"],
    usual: "60s",
    isSet: { $0.noCacheTTL != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.noCacheTTL = try value.lifetime()
  }

  private static let heuristic = ConfigRow(
    "heuristic", .share, levels: [.cache, .site],
    range: "0 to 1, or none", words: [],
    names: [],
    usual: "0.1",
    isSet: { $0.heuristic != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.heuristic = try value.share(0, 1, none: 0)
  }

  private static let timeout = ConfigRow(
    "timeout", .duration, levels: [.cache, .site],
    range: "1 ms or more, or none", words: [],
    names: [],
    usual: "30s",
    isSet: { $0.timeout != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.timeout = try value.limit(1)
  }

  private static let deadline = ConfigRow(
    "deadline", .duration, levels: [.cache, .site],
    range: "1 ms or more, or none", words: [],
    names: [],
    usual: "two minutes for pictures, else none",
    isSet: { $0.deadline != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.deadline = try value.limit(1)
  }

  private static let retries = ConfigRow(
    "retries", .count, levels: [.cache, .site],
    range: "0 to 1000, or none", words: [],
    names: [],
    usual: "3",
    isSet: { $0.retries != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.retries = try value.count(0, 1_000, none: 0)
  }

  private static let maxBytes = ConfigRow(
    "max_bytes", .bytes, levels: [.cache, .site],
    range: "1 or more, or none", words: [],
    names: ["max-bytes"],
    usual: "64MiB",
    isSet: { $0.maxBytes != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.maxBytes = try value.bytes(1, nil, none: .max)
  }

  private static let maxPixels = ConfigRow(
    "max_pixels", .count, levels: [.cache, .site],
    range: "1 or more, or none", words: [],
    names: ["max-pixels"],
    usual: "100,000,000",
    isSet: { $0.maxPixels != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.maxPixels = try value.count(1, nil, none: .max, hasUnits: true)
  }

  private static let addresses = ConfigRow(
    "addresses", .words, levels: [.cache, .site],
    range: "guarded, public or any", words: ["guarded", "public", "any"],
    names: ["guard", "deny-private", "allow-private"],
    usual: "guarded",
    isSet: { $0.addresses != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.addresses = try value.word([.guarded, .public, .any])
  }

  private static let proxy = ConfigRow(
    "proxy", .text, levels: [.cache, .site],
    range: "a text that is not empty", words: [],
    names: [],
    usual: "from the environment",
    isSet: { $0.proxy != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.proxy = value.text
  }

  private static let headers = ConfigRow(
    "headers", .headers, levels: [.cache, .site],
    range: "a name, a colon and a value", words: [],
    names: ["header"],
    usual: "none",
    isSet: { !$0.headers.isEmpty }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.headers.append(try value.header())
  }

  private static let keepHeadersAcrossOrigins = ConfigRow(
    "keep_headers_across_origins", .names, levels: [.cache, .site],
    range: "a text that is not empty", words: [],
    names: ["keep-headers-across-origins"],
    usual: "none",
    isSet: { !$0.keepHeadersAcrossOrigins.isEmpty }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.keepHeadersAcrossOrigins = value.names()
  }

  private static let userAgent = ConfigRow(
    "user_agent", .text, levels: [.cache, .site],
    range: "a text that is not empty", words: [],
    names: ["user-agent"],
    usual: "nuthatch and its version",
    isSet: { $0.userAgent != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.userAgent = value.text
  }

  private static let accept = ConfigRow(
    "accept", .text, levels: [.cache, .site],
    range: "a text that is not empty", words: [],
    names: [],
    usual: "*/*; for pictures, JPEG, PNG and GIF first",
    isSet: { $0.accept != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.accept = value.text
  }

  private static let user = ConfigRow(
    "user", .secret, levels: [.site],
    range: "a text that is not empty", words: [],
    names: [],
    usual: "none",
    isSet: { _ in false }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.user = try value.signIn()
  }

  private static let signIn = ConfigRow(
    "sign_in", .words, levels: [.site],
    range: "basic, digest, ntlm, negotiate or any", words: ["basic", "digest", "ntlm", "negotiate", "any"],
    names: ["sign-in"],
    usual: "basic",
    isSet: { _ in false }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.signIn = try value.word([.basic, .digest, .ntlm, .negotiate, .any])
  }

  private static let cert = ConfigRow(
    "cert", .path, levels: [.site],
    range: "a text that is not empty", words: [],
    names: [],
    usual: "none",
    isSet: { _ in false }
  ) { (draft, value) throws(NuthatchError) in
    draft.cert = try value.filled()
  }

  private static let certKey = ConfigRow(
    "cert_key", .path, levels: [.site],
    range: "a text that is not empty", words: [],
    names: ["cert-key"],
    usual: "in the same file",
    needs: "cert",
    isSet: { _ in false }
  ) { (draft, value) throws(NuthatchError) in
    draft.certKey = try value.filled()
  }

  private static let certPassword = ConfigRow(
    "cert_password", .secret, levels: [.site],
    range: "a text that is not empty", words: [],
    names: ["cert-password"],
    usual: "none",
    needs: "cert",
    isSet: { _ in false }
  ) { (draft, value) throws(NuthatchError) in
    draft.certPassword = value.text
  }

  private static let netrc = ConfigRow(
    "netrc", .path, levels: [.cache, .site],
    range: "a text that is not empty", words: [],
    names: ["netrc-file"],
    usual: "none",
    isSet: { $0.netrc != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.netrc = .file(try value.filled())
  }

  private static let partition = ConfigRow(
    "partition", .text, levels: [.cache, .site],
    range: "a text that is not empty", words: [],
    names: [],
    usual: "the credentials",
    isSet: { $0.partition != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.partition = try value.filled()
  }

  private static let cookieJar = ConfigRow(
    "cookie_jar", .words, levels: [.site],
    range: "off, memory or disk", words: ["off", "memory", "disk"],
    names: ["cookie-jar", "cookies"],
    usual: "off",
    isSet: { _ in false }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.cookieJar = try value.word([.off, .memory, .disk])
  }

  private static let memoryBytes = ConfigRow(
    "memory_bytes", .bytes, levels: [.cache],
    range: "0 or more, or none", words: [],
    names: ["memory-bytes"],
    usual: "64 MiB or less; prefetch 4 MiB",
    isSet: { $0.memoryBytes != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.memoryBytes = try value.bytes(0, nil, none: 0)
  }

  private static let memoryItems = ConfigRow(
    "memory_items", .count, levels: [.cache],
    range: "1 or more, or none", words: [],
    names: ["memory-items"],
    usual: "as many as fit",
    isSet: { $0.memoryItems != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.memoryItems = try value.count(1, nil, none: .max)
  }

  private static let diskBytes = ConfigRow(
    "disk_bytes", .bytes, levels: [.cache],
    range: "4 MiB to 64 TiB", words: [],
    names: ["disk-bytes"],
    usual: "as before, else 4 GiB",
    isSet: { $0.diskBytes != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.diskBytes = try value.bytes(4_194_304, 70_368_744_177_664, none: nil)
  }

  private static let spill = ConfigRow(
    "spill", .words, levels: [.cache],
    range: "eager or pressure", words: ["eager", "pressure"],
    names: [],
    usual: "eager",
    isSet: { $0.spill != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.spill = try value.word([.eager, .pressure])
  }

  private static let thumbStore = ConfigRow(
    "thumb_store", .words, levels: [.cache],
    range: "packed, lossless, raw or small", words: ["packed", "lossless", "raw", "small"],
    names: ["thumb-store", "store"],
    usual: "packed",
    isSet: { $0.thumbStore != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.thumbStore = try value.word([.packed, .lossless, .raw, .small])
  }

  private static let keepSource = ConfigRow(
    "keep_source", .flag, levels: [.cache],
    range: "true or false", words: [],
    names: ["keep-source"],
    usual: "yes",
    isSet: { $0.keepSource != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.keepSource = try value.trueOrFalse()
  }

  private static let allowFiles = ConfigRow(
    "allow_files", .flag, levels: [.cache],
    range: "true or false", words: [],
    names: ["allow-files"],
    usual: "no",
    isSet: { $0.allowFiles != false }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.allowFiles = try value.trueOrFalse()
  }

  private static let concurrency = ConfigRow(
    "concurrency", .count, levels: [.process],
    range: "1 to 512", words: [],
    names: [],
    usual: "automatic, measured for the network link",
    isSet: { $0.concurrency != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.concurrency = try value.count(1, 512, none: nil)
  }

  private static let perHost = ConfigRow(
    "per_host", .count, levels: [.process],
    range: "1 to 512", words: [],
    names: ["per-host"],
    usual: "6, or 32 where the host speaks HTTP/2",
    isSet: { $0.perHost != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.perHost = try value.count(1, 512, none: nil)
  }

  private static let perHostGrows = ConfigRow(
    "per_host_grows", .flag, levels: [.process],
    range: "true or false", words: [],
    names: ["per-host-grows"],
    usual: "no",
    isSet: { $0.perHostGrows != false }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.perHostGrows = try value.trueOrFalse()
  }

  private static let rate = ConfigRow(
    "rate", .rate, levels: [.process],
    range: "0.000001 to 1000000, or none", words: [],
    names: [],
    usual: "no limit",
    isSet: { $0.rate != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.rate = try value.rate(1e-06, 1_000_000)
  }

  private static let inflightBytes = ConfigRow(
    "inflight_bytes", .bytes, levels: [.process],
    range: "0 or more, or none", words: [],
    names: ["inflight-bytes"],
    usual: "64 MiB or less",
    isSet: { $0.inFlightBytes != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.inFlightBytes = try value.bytes(0, nil, none: 0)
  }

  private static let redirects = ConfigRow(
    "redirects", .count, levels: [.cache, .site],
    range: "0 to 100, or none", words: [],
    names: [],
    usual: "10",
    isSet: { $0.redirects != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.redirects = try value.count(0, 100, none: 0)
  }

  private static let caFile = ConfigRow(
    "ca_file", .path, levels: [.cache, .site],
    range: "a text that is not empty", words: [],
    names: ["cacert"],
    usual: "from the environment, else the system's",
    isSet: { $0.caFile != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.caFile = value.text
  }

  private static let caDir = ConfigRow(
    "ca_dir", .path, levels: [.cache, .site],
    range: "a text that is not empty", words: [],
    names: ["capath"],
    usual: "from the environment, else the system's",
    isSet: { $0.caDir != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.caDir = value.text
  }

  private static let insecure = ConfigRow(
    "insecure", .flag, levels: [.cache, .site],
    range: "true or false", words: [],
    names: [],
    usual: "no",
    isSet: { $0.insecure != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.insecure = try value.trueOrFalse()
  }

  private static let checkBytes = ConfigRow(
    "check_bytes", .words, levels: [.cache],
    range: "first or always", words: ["first", "always"],
    names: ["check-bytes"],
    usual: "first",
    isSet: { $0.checkBytes != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.checkBytes = try value.word([.first, .always])
  }

  private static let expireAfter = ConfigRow(
    "expire_after", .duration, levels: [.cache, .site],
    range: "0 or more, or none", words: [],
    names: ["expire-after"],
    usual: "by headers and policy",
    isSet: { $0.expireAfter != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.expireAfter = try value.lifetime()
  }

  private static let decoding = ConfigRow(
    "decoding", .words, levels: [.cache, .site],
    range: "here or isolated", words: ["here", "isolated"],
    names: ["decode"],
    usual: "here",
    isSet: { $0.decode != nil }
  ) { (draft, value) throws(NuthatchError) in
    draft.options.decode = try value.word([.here, .isolated])
  }
}
