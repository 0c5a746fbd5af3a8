// Generated from options.toml by Scripts/make-header; edit that instead.

import CNuthatch
import NuthatchCore

extension Options {
  /// Takes the options that a C program has set. Leaves the others unchanged.
  mutating func take(_ said: CallOptions) throws(NuthatchError) {
    let raw = said.raw
    for word in said.words {
      switch word {
      case 0:
        if let said = try given(raw.policy, "policy") { policy = said }
      case 1:
        if let said = lifetime(raw.validator_ttl_ms) { validatorTTL = said }
      case 2:
        if let said = lifetime(raw.image_ttl_ms) { imageTTL = said }
      case 3:
        if let said = lifetime(raw.no_cache_ttl_ms) { noCacheTTL = said }
      case 4:
        if let said = try share(raw.heuristic, "heuristic") { heuristic = said }
      case 5:
        if let said = limit(raw.timeout_ms) { timeout = said }
      case 6:
        if let said = limit(raw.deadline_ms) { deadline = said }
      case 7:
        if let said = try number(raw.retries, "retries", none: 0, greatest: 1000) {
          retries = Int(said)
        }
      case 8:
        if let said = limit(raw.give_up_after_ms) { giveUpAfter = said }
      case 9:
        if let said = try number(raw.max_bytes, "max_bytes", none: .max, greatest: .max) {
          maxBytes = said
        }
      case 10:
        if let said = try number(raw.max_pixels, "max_pixels", none: .max, greatest: .max) {
          maxPixels = Int(said)
        }
      case 11:
        if let said = try given(raw.batched, "batched") { isBatched = said }
      case 13:
        if let said = try given(raw.addresses, "addresses") { addresses = said }
      case 14:
        if let said = try text(raw.proxy, "proxy", mayBeEmpty: true) { proxy = said }
      case 16:
        try takeHeaders(raw)
      case 17:
        try takeHeaders(raw)
      case 18:
        if let said = try names(raw.keep_headers_across_origins, "keep_headers_across_origins") {
          keepHeadersAcrossOrigins = said
        }
      case 19:
        if let said = try text(raw.user_agent, "user_agent", mayBeEmpty: true) { userAgent = said }
      case 20:
        if let said = try text(raw.accept, "accept", mayBeEmpty: true) { accept = said }
      case 21:
        try takeUser(raw)
      case 22:
        try takeUser(raw)
      case 25:
        if let said = try given(raw.sign_in, "sign_in") { signIn = said }
      case 26:
        try takeCert(raw)
      case 27:
        try takeCert(raw)
      case 28:
        try takeCert(raw)
      case 29:
        try takeNetrc(raw)
      case 30:
        if let said = try text(raw.partition, "partition", mayBeEmpty: false) { partition = said }
      case 31:
        if let said = try given(raw.cookie_jar, "cookie_jar") { cookieJar = said }
      case 32:
        try takeQuestions(raw)
      case 33:
        try takeQuestions(raw)
      case 34:
        if let said = try text(raw.cache_key, "cache_key", mayBeEmpty: false) { cacheKey = said }
      case 35:
        if let said = try given(raw.ignore_query, "ignore_query") { ignoreQuery = said }
      case 40:
        if let said = try given(raw.allow_damaged, "allow_damaged") { allowDamaged = said }
      case 41:
        if let said = try given(raw.early_stop, "early_stop") { earlyStop = said }
      case 42:
        if let said = try given(raw.delivery, "delivery") { delivery = said }
      case 43:
        if let said = try number(raw.priority, "priority", none: 0, greatest: 10) {
          priority = Int(said)
        }
      case 44:
        if let said = try text(raw.tag, "tag", mayBeEmpty: false) { tag = said }
      case 45:
        if let said = try given(raw.progress_events, "progress_events") { progressEvents = said }
        if let said = try given(raw.resume, "resume") { resume = said }
      case 58:
        if let said = try number(raw.memory_bytes, "memory_bytes", none: 0, greatest: .max) {
          memoryBytes = said
        }
      case 59:
        if let said = try number(raw.memory_items, "memory_items", none: .max, greatest: .max) {
          memoryItems = Int(said)
        }
      case 60:
        if let said = try number(raw.disk_bytes, "disk_bytes", none: nil, greatest: 70368744177664) {
          diskBytes = said
        }
      case 61:
        if let said = try given(raw.spill, "spill") { spill = said }
        if let said = try given(raw.thumb_store, "thumb_store") { thumbStore = said }
      case 62:
        if let said = try given(raw.keep_source, "keep_source") { keepSource = said }
        if let said = try given(raw.allow_files, "allow_files") { allowFiles = said }
      case 63:
        if let said = try given(raw.outbox, "outbox") { outbox = said }
      case 64:
        if let said = try number(raw.outbox_bytes, "outbox_bytes", none: .max, greatest: .max) {
          outboxBytes = said
        }
      case 65:
        if let said = try number(raw.outbox_items, "outbox_items", none: .max, greatest: .max) {
          outboxItems = Int(said)
        }
      case 66:
        if let said = try number(raw.concurrency, "concurrency", none: nil, greatest: 512) {
          concurrency = Int(said)
        }
      case 67:
        if let said = try number(raw.per_host, "per_host", none: nil, greatest: 512) {
          perHost = Int(said)
        }
      case 68:
        if let said = try given(raw.per_host_grows, "per_host_grows") { perHostGrows = said }
      case 69:
        if let said = try startRate(raw.rate, "rate") { rate = said }
      case 70:
        if let said = try number(raw.inflight_bytes, "inflight_bytes", none: 0, greatest: .max) {
          inFlightBytes = said
        }
      case 71:
        if let said = try number(raw.redirects, "redirects", none: 0, greatest: 100) {
          redirects = Int(said)
        }
      case 72:
        if let said = try text(raw.ca_file, "ca_file", mayBeEmpty: true) { caFile = said }
      case 73:
        if let said = try text(raw.ca_dir, "ca_dir", mayBeEmpty: true) { caDir = said }
      case 74:
        if let said = try given(raw.insecure, "insecure") { insecure = said }
        if let said = try given(raw.check_bytes, "check_bytes") { checkBytes = said }
      case 75:
        if let said = lifetime(raw.expire_after_ms) { expireAfter = said }
      case 76:
        if let said = try text(raw.config, "config", mayBeEmpty: true) { config = said }
      case 77:
        if let said = try given(raw.decoding, "decoding") { decode = said }
      default: break
      }
    }
  }
}

extension CallOptions {
  /// Checks that the level has these options, and that reserved members are 0.
  ///
  /// - Throws: `invalid`.
  func check(_ level: OptionLevel) throws(NuthatchError) {
    for word in words {
      switch word {
      case 0:
        if raw.policy.rawValue != 0 { try level.check("policy", [.cache, .site, .request]) }
      case 1:
        try level.check("validator_ttl", [.cache, .site, .request])
      case 2:
        try level.check("image_ttl", [.cache, .site, .request])
      case 3:
        try level.check("no_cache_ttl", [.cache, .site, .request])
      case 4:
        try level.check("heuristic", [.cache, .site, .request])
      case 5:
        try level.check("timeout", [.cache, .site, .request])
      case 6:
        try level.check("deadline", [.cache, .site, .request])
      case 7:
        try level.check("retries", [.cache, .site, .request])
      case 8:
        try level.check("give_up_after", [.request])
      case 9:
        try level.check("max_bytes", [.cache, .site, .request])
      case 10:
        try level.check("max_pixels", [.cache, .site, .request, .image])
      case 11:
        if raw.batched.rawValue != 0 { try level.check("batched", [.request]) }
        if raw.reserved_1 != 0 { throw raw.newer(\.reserved_1) }
      case 12:
        try level.check("site", [.request])
      case 13:
        if raw.addresses.rawValue != 0 { try level.check("addresses", [.cache, .site, .request]) }
        if raw.reserved_2 != 0 { throw raw.newer(\.reserved_2) }
      case 14:
        try level.check("proxy", [.cache, .site])
      case 15:
        try level.check("method", [.request])
      case 16:
        try level.check("headers", [.cache, .site, .request])
      case 17:
        try level.check("headers", [.cache, .site, .request])
      case 18:
        try level.check("keep_headers_across_origins", [.cache, .site, .request])
      case 19:
        try level.check("user_agent", [.cache, .site])
      case 20:
        try level.check("accept", [.cache, .site])
      case 21:
        try level.check("user", [.site, .request])
      case 22:
        try level.check("password", [.site, .request])
      case 23:
        try level.check("user_place", [.request])
      case 24:
        try level.check("bearer", [.request])
      case 25:
        if raw.sign_in.rawValue != 0 { try level.check("sign_in", [.site, .request]) }
        if raw.reserved_3 != 0 { throw raw.newer(\.reserved_3) }
      case 26:
        try level.check("cert", [.site, .request])
      case 27:
        try level.check("cert_key", [.site, .request])
      case 28:
        try level.check("cert_password", [.site, .request])
      case 29:
        try level.check("netrc", [.cache, .site, .request])
      case 30:
        try level.check("partition", [.cache, .site, .request])
      case 31:
        if raw.cookie_jar.rawValue != 0 { try level.check("cookie_jar", [.site]) }
        if raw.reserved_4 != 0 { throw raw.newer(\.reserved_4) }
      case 32:
        try level.check("asks", [.site, .request])
      case 33:
        try level.check("asks_not", [.request])
      case 34:
        try level.check("cache_key", [.request])
      case 35:
        if raw.ignore_query.rawValue != 0 { try level.check("ignore_query", [.request]) }
        if raw.reserved_5 != 0 { throw raw.newer(\.reserved_5) }
      case 36:
        try level.check("sizes", [.request, .image])
      case 37:
        try level.check("sizes", [.request, .image])
      case 38:
        try level.check("sizes", [.request, .image])
      case 39:
        if raw.fit.rawValue != 0 { try level.check("fit", [.request, .image]) }
        if raw.enlarge.rawValue != 0 { try level.check("enlarge", [.request, .image]) }
      case 40:
        if raw.scaling.rawValue != 0 { try level.check("scaling", [.request, .image]) }
        if raw.allow_damaged.rawValue != 0 { try level.check("allow_damaged", [.request, .image]) }
      case 41:
        if raw.early_stop.rawValue != 0 { try level.check("early_stop", [.request]) }
        if raw.decode.rawValue != 0 { try level.check("decode", [.request]) }
      case 42:
        if raw.delivery.rawValue != 0 { try level.check("delivery", [.request]) }
        if raw.reserved_6 != 0 { throw raw.newer(\.reserved_6) }
      case 43:
        try level.check("priority", [.request])
      case 44:
        try level.check("tag", [.request])
      case 45:
        if raw.progress_events.rawValue != 0 { try level.check("progress_events", [.request]) }
        if raw.resume.rawValue != 0 { try level.check("resume", [.request]) }
      case 46:
        if raw.freezable.rawValue != 0 { try level.check("freezable", [.request]) }
        if raw.outbox_durable.rawValue != 0 { try level.check("outbox_durable", [.request]) }
      case 47:
        try level.check("outbox_queue", [.request])
      case 48:
        try level.check("outbox_handler", [.request])
      case 49:
        try level.check("secrets", [.request])
      case 50:
        try level.check("secrets", [.request])
      case 51:
        try level.check("password_provider", [.request])
      case 52:
        try level.check("outbox_attempts", [.request])
      case 53:
        try level.check("outbox_max_age", [.request])
      case 54:
        try level.check("outbox_key_lifetime", [.request])
      case 55:
        try level.check("user_data", [.site, .request])
      case 56:
        try level.check("callback", [.site, .request])
      case 57:
        if raw.quiet.rawValue != 0 { try level.check("quiet", [.request]) }
        if raw.reserved_7 != 0 { throw raw.newer(\.reserved_7) }
      case 58:
        try level.check("memory_bytes", [.cache])
      case 59:
        try level.check("memory_items", [.cache])
      case 60:
        try level.check("disk_bytes", [.cache])
      case 61:
        if raw.spill.rawValue != 0 { try level.check("spill", [.cache]) }
        if raw.thumb_store.rawValue != 0 { try level.check("thumb_store", [.cache]) }
      case 62:
        if raw.keep_source.rawValue != 0 { try level.check("keep_source", [.cache]) }
        if raw.allow_files.rawValue != 0 { try level.check("allow_files", [.cache]) }
      case 63:
        if raw.outbox.rawValue != 0 { try level.check("outbox", [.cache]) }
        if raw.reserved_8 != 0 { throw raw.newer(\.reserved_8) }
      case 64:
        try level.check("outbox_bytes", [.cache])
      case 65:
        try level.check("outbox_items", [.cache])
      case 66:
        try level.check("concurrency", [.process])
      case 67:
        try level.check("per_host", [.process])
      case 68:
        if raw.per_host_grows.rawValue != 0 { try level.check("per_host_grows", [.process]) }
        if raw.reserved_9 != 0 { throw raw.newer(\.reserved_9) }
      case 69:
        try level.check("rate", [.process])
      case 70:
        try level.check("inflight_bytes", [.process])
      case 71:
        try level.check("redirects", [.cache, .site, .request])
      case 72:
        try level.check("ca_file", [.cache, .site, .request])
      case 73:
        try level.check("ca_dir", [.cache, .site, .request])
      case 74:
        if raw.insecure.rawValue != 0 { try level.check("insecure", [.cache, .site, .request]) }
        if raw.check_bytes.rawValue != 0 { try level.check("check_bytes", [.cache]) }
      case 75:
        try level.check("expire_after", [.cache, .site, .request])
      case 76:
        try level.check("config", [.cache])
      case 77:
        if raw.decoding.rawValue != 0 { try level.check("decoding", [.cache, .site, .request, .image]) }
        if raw.reserved_10 != 0 { throw raw.newer(\.reserved_10) }
      default: break
      }
    }
  }
}

extension SaidWords {
  /// The words of options that change which stored answer is returned, and of members that `Options` lacks.
  static var reachingHits: SaidWords { SaidWords(bits: 0x1fffffffe3fffffff61f) }
}

func given(_ said: nh_policy, _ name: String) throws(NuthatchError) -> Policy? {
  switch said {
  case NH_POLICY_UNSAID: nil
  case NH_POLICY_KIT: .kit
  case NH_POLICY_RFC9111: .rfc9111
  case NH_POLICY_OFFLINE: .offline
  case NH_POLICY_RELOAD: .reload
  default: throw .unknownValue(name, said.rawValue, of: "nh_policy")
  }
}

func given(_ said: nh_addresses, _ name: String) throws(NuthatchError) -> Addresses? {
  switch said {
  case NH_ADDRESSES_UNSAID: nil
  case NH_ADDRESSES_GUARDED: .guarded
  case NH_ADDRESSES_PUBLIC: .public
  case NH_ADDRESSES_ANY: .any
  default: throw .unknownValue(name, said.rawValue, of: "nh_addresses")
  }
}

func given(_ said: nh_sign_in, _ name: String) throws(NuthatchError) -> SignIn? {
  switch said {
  case NH_SIGN_IN_UNSAID: nil
  case NH_SIGN_IN_BASIC: .basic
  case NH_SIGN_IN_DIGEST: .digest
  case NH_SIGN_IN_NTLM: .ntlm
  case NH_SIGN_IN_NEGOTIATE: .negotiate
  case NH_SIGN_IN_ANY: .any
  default: throw .unknownValue(name, said.rawValue, of: "nh_sign_in")
  }
}

func given(_ said: nh_cookie_jar, _ name: String) throws(NuthatchError) -> CookieJarMode? {
  switch said {
  case NH_COOKIE_JAR_UNSAID: nil
  case NH_COOKIE_JAR_OFF: .off
  case NH_COOKIE_JAR_MEMORY: .memory
  case NH_COOKIE_JAR_DISK: .disk
  default: throw .unknownValue(name, said.rawValue, of: "nh_cookie_jar")
  }
}

func given(_ said: nh_delivery, _ name: String) throws(NuthatchError) -> Delivery? {
  switch said {
  case NH_DELIVERY_UNSAID: nil
  case NH_DELIVERY_TWICE: .twice
  case NH_DELIVERY_FIRST: .first
  case NH_DELIVERY_FRESH: .fresh
  default: throw .unknownValue(name, said.rawValue, of: "nh_delivery")
  }
}

func given(_ said: nh_spill, _ name: String) throws(NuthatchError) -> Spill? {
  switch said {
  case NH_SPILL_UNSAID: nil
  case NH_SPILL_EAGER: .eager
  case NH_SPILL_PRESSURE: .pressure
  default: throw .unknownValue(name, said.rawValue, of: "nh_spill")
  }
}

func given(_ said: nh_check_bytes, _ name: String) throws(NuthatchError) -> ByteCheck? {
  switch said {
  case NH_CHECK_BYTES_UNSAID: nil
  case NH_CHECK_BYTES_FIRST: .first
  case NH_CHECK_BYTES_ALWAYS: .always
  default: throw .unknownValue(name, said.rawValue, of: "nh_check_bytes")
  }
}

func given(_ said: nh_thumb_store, _ name: String) throws(NuthatchError) -> ThumbStore? {
  switch said {
  case NH_THUMB_STORE_UNSAID: nil
  case NH_THUMB_STORE_PACKED: .packed
  case NH_THUMB_STORE_LOSSLESS: .lossless
  case NH_THUMB_STORE_RAW: .raw
  case NH_THUMB_STORE_SMALL: .small
  default: throw .unknownValue(name, said.rawValue, of: "nh_thumb_store")
  }
}

func given(_ said: nh_outbox, _ name: String) throws(NuthatchError) -> OutboxMode? {
  switch said {
  case NH_OUTBOX_UNSAID: nil
  case NH_OUTBOX_AUTO: .auto
  case NH_OUTBOX_OFF: .off
  default: throw .unknownValue(name, said.rawValue, of: "nh_outbox")
  }
}

func given(_ said: nh_fit, _ name: String) throws(NuthatchError) -> ThumbnailBox.Fit? {
  switch said {
  case NH_FIT_UNSAID: nil
  case NH_FIT_INSIDE: .inside
  case NH_FIT_COVER: .cover
  case NH_FIT_STRETCH: .stretch
  default: throw .unknownValue(name, said.rawValue, of: "nh_fit")
  }
}

func given(_ said: nh_scaling, _ name: String) throws(NuthatchError) -> ThumbnailBox.Scaling? {
  switch said {
  case NH_SCALING_UNSAID: nil
  case NH_SCALING_BEST: .best
  case NH_SCALING_FAST: .fast
  default: throw .unknownValue(name, said.rawValue, of: "nh_scaling")
  }
}

func given(_ said: nh_decoding, _ name: String) throws(NuthatchError) -> DecodePlace? {
  switch said {
  case NH_DECODING_UNSAID: nil
  case NH_DECODING_HERE: .here
  case NH_DECODING_ISOLATED: .isolated
  default: throw .unknownValue(name, said.rawValue, of: "nh_decoding")
  }
}
