// Generated from options.toml by Scripts/make-header; edit that instead.

import CNuthatch
import NuthatchCore

extension Options {
  /// Takes what a C program says; what it doesn't say stays as it is.
  mutating func take(_ raw: nh_options) throws(NuthatchError) {
    if let said = try given(raw.policy, "policy") { policy = said }
    if let said = lifetime(raw.validator_ttl_ms) { validatorTTL = said }
    if let said = lifetime(raw.image_ttl_ms) { imageTTL = said }
    if let said = lifetime(raw.no_cache_ttl_ms) { noCacheTTL = said }
    if let said = try share(raw.heuristic, "heuristic") { heuristic = said }
    if let said = limit(raw.timeout_ms) { timeout = said }
    if let said = limit(raw.deadline_ms) { deadline = said }
    if let said = try number(raw.retries, "retries", none: 0, greatest: 1000) {
      retries = Int(said)
    }
    if let said = limit(raw.give_up_after_ms) { giveUpAfter = said }
    if let said = try number(raw.max_bytes, "max_bytes", none: .max, greatest: .max) {
      maxBytes = said
    }
    if let said = try number(raw.max_pixels, "max_pixels", none: .max, greatest: .max) {
      maxPixels = Int(said)
    }
    if let said = try given(raw.batched, "batched") { isBatched = said }
    if let said = try given(raw.addresses, "addresses") { addresses = said }
    if let said = try text(raw.proxy, "proxy", mayBeEmpty: true) { proxy = said }
    try takeHeaders(raw)
    if let said = try names(raw.keep_headers_across_origins, "keep_headers_across_origins") {
      keepHeadersAcrossOrigins = said
    }
    if let said = try text(raw.user_agent, "user_agent", mayBeEmpty: true) { userAgent = said }
    if let said = try text(raw.accept, "accept", mayBeEmpty: true) { accept = said }
    try takeUser(raw)
    if let said = try given(raw.sign_in, "sign_in") { signIn = said }
    try takeCert(raw)
    try takeNetrc(raw)
    if let said = try text(raw.partition, "partition", mayBeEmpty: false) { partition = said }
    if let said = try given(raw.cookie_jar, "cookie_jar") { cookieJar = said }
    try takeQuestions(raw)
    if let said = try text(raw.cache_key, "cache_key", mayBeEmpty: false) { cacheKey = said }
    if let said = try given(raw.ignore_query, "ignore_query") { ignoreQuery = said }
    if let said = try given(raw.allow_damaged, "allow_damaged") { allowDamaged = said }
    if let said = try given(raw.early_stop, "early_stop") { earlyStop = said }
    if let said = try given(raw.delivery, "delivery") { delivery = said }
    if let said = try number(raw.priority, "priority", none: 0, greatest: 10) {
      priority = Int(said)
    }
    if let said = try text(raw.tag, "tag", mayBeEmpty: false) { tag = said }
    if let said = try given(raw.progress_events, "progress_events") { progressEvents = said }
    if let said = try given(raw.resume, "resume") { resume = said }
    if let said = try number(raw.memory_bytes, "memory_bytes", none: 0, greatest: .max) {
      memoryBytes = said
    }
    if let said = try number(raw.memory_items, "memory_items", none: .max, greatest: .max) {
      memoryItems = Int(said)
    }
    if let said = try number(raw.disk_bytes, "disk_bytes", none: nil, greatest: 70368744177664) {
      diskBytes = said
    }
    if let said = try given(raw.spill, "spill") { spill = said }
    if let said = try given(raw.thumb_store, "thumb_store") { thumbStore = said }
    if let said = try given(raw.keep_source, "keep_source") { keepSource = said }
    if let said = try given(raw.allow_files, "allow_files") { allowFiles = said }
    if let said = try given(raw.outbox, "outbox") { outbox = said }
    if let said = try number(raw.outbox_bytes, "outbox_bytes", none: .max, greatest: .max) {
      outboxBytes = said
    }
    if let said = try number(raw.outbox_items, "outbox_items", none: .max, greatest: .max) {
      outboxItems = Int(said)
    }
    if let said = try number(raw.concurrency, "concurrency", none: nil, greatest: 512) {
      concurrency = Int(said)
    }
    if let said = try number(raw.per_host, "per_host", none: nil, greatest: 512) {
      perHost = Int(said)
    }
    if let said = try given(raw.per_host_grows, "per_host_grows") { perHostGrows = said }
    if let said = try startRate(raw.rate, "rate") { rate = said }
    if let said = try number(raw.inflight_bytes, "inflight_bytes", none: 0, greatest: .max) {
      inFlightBytes = said
    }
    if let said = try number(raw.redirects, "redirects", none: 0, greatest: 100) {
      redirects = Int(said)
    }
    if let said = try text(raw.ca_file, "ca_file", mayBeEmpty: true) { caFile = said }
    if let said = try text(raw.ca_dir, "ca_dir", mayBeEmpty: true) { caDir = said }
    if let said = try given(raw.insecure, "insecure") { insecure = said }
    if let said = try given(raw.check_bytes, "check_bytes") { checkBytes = said }
    if let said = lifetime(raw.expire_after_ms) { expireAfter = said }
  }
}

extension nh_options {
  /// - Throws: `invalid` for an option that this level doesn't have, and for members that must be 0.
  func check(_ level: OptionLevel) throws(NuthatchError) {
    if reserved_1 != 0 { throw newer(\.reserved_1) }
    if reserved_2 != 0 { throw newer(\.reserved_2) }
    if reserved_3 != 0 { throw newer(\.reserved_3) }
    if reserved_4 != 0 { throw newer(\.reserved_4) }
    if reserved_5 != 0 { throw newer(\.reserved_5) }
    if reserved_6 != 0 { throw newer(\.reserved_6) }
    if reserved_7 != 0 { throw newer(\.reserved_7) }
    if reserved_8 != 0 { throw newer(\.reserved_8) }
    if level == .cache {
      if give_up_after_ms != 0 { throw level.doesNotHave("give_up_after", [.request]) }
      if batched.rawValue != 0 { throw level.doesNotHave("batched", [.request]) }
      if site != nil { throw level.doesNotHave("site", [.request]) }
      if method != nil { throw level.doesNotHave("method", [.request]) }
      if user != nil { throw level.doesNotHave("user", [.site, .request]) }
      if password != nil { throw level.doesNotHave("password", [.site, .request]) }
      if user_place != nil { throw level.doesNotHave("user_place", [.request]) }
      if bearer != nil { throw level.doesNotHave("bearer", [.request]) }
      if sign_in.rawValue != 0 { throw level.doesNotHave("sign_in", [.site, .request]) }
      if cert != nil { throw level.doesNotHave("cert", [.site, .request]) }
      if cert_key != nil { throw level.doesNotHave("cert_key", [.site, .request]) }
      if cert_password != nil { throw level.doesNotHave("cert_password", [.site, .request]) }
      if cookie_jar.rawValue != 0 { throw level.doesNotHave("cookie_jar", [.site]) }
      if asks != 0 { throw level.doesNotHave("asks", [.site, .request]) }
      if asks_not != 0 { throw level.doesNotHave("asks_not", [.request]) }
      if cache_key != nil { throw level.doesNotHave("cache_key", [.request]) }
      if ignore_query.rawValue != 0 { throw level.doesNotHave("ignore_query", [.request]) }
      if size != 0 || sizes != nil || size_count != 0 {
        throw level.doesNotHave("sizes", [.request, .image])
      }
      if fit.rawValue != 0 { throw level.doesNotHave("fit", [.request, .image]) }
      if enlarge.rawValue != 0 { throw level.doesNotHave("enlarge", [.request, .image]) }
      if scaling.rawValue != 0 { throw level.doesNotHave("scaling", [.request, .image]) }
      if allow_damaged.rawValue != 0 { throw level.doesNotHave("allow_damaged", [.request, .image]) }
      if early_stop.rawValue != 0 { throw level.doesNotHave("early_stop", [.request]) }
      if decode.rawValue != 0 { throw level.doesNotHave("decode", [.request]) }
      if delivery.rawValue != 0 { throw level.doesNotHave("delivery", [.request]) }
      if priority != 0 { throw level.doesNotHave("priority", [.request]) }
      if tag != nil { throw level.doesNotHave("tag", [.request]) }
      if progress_events.rawValue != 0 { throw level.doesNotHave("progress_events", [.request]) }
      if resume.rawValue != 0 { throw level.doesNotHave("resume", [.request]) }
      if freezable.rawValue != 0 { throw level.doesNotHave("freezable", [.request]) }
      if outbox_durable.rawValue != 0 { throw level.doesNotHave("outbox_durable", [.request]) }
      if outbox_queue != nil { throw level.doesNotHave("outbox_queue", [.request]) }
      if outbox_handler != nil { throw level.doesNotHave("outbox_handler", [.request]) }
      if secrets != nil || secret_count != 0 { throw level.doesNotHave("secrets", [.request]) }
      if password_provider != nil { throw level.doesNotHave("password_provider", [.request]) }
      if outbox_attempts != 0 { throw level.doesNotHave("outbox_attempts", [.request]) }
      if outbox_max_age_ms != 0 { throw level.doesNotHave("outbox_max_age", [.request]) }
      if outbox_key_lifetime_ms != 0 { throw level.doesNotHave("outbox_key_lifetime", [.request]) }
      if user_data != nil { throw level.doesNotHave("user_data", [.site, .request]) }
      if callback != nil { throw level.doesNotHave("callback", [.site, .request]) }
      if quiet.rawValue != 0 { throw level.doesNotHave("quiet", [.request]) }
      if concurrency != 0 { throw level.doesNotHave("concurrency", [.process]) }
      if per_host != 0 { throw level.doesNotHave("per_host", [.process]) }
      if per_host_grows.rawValue != 0 { throw level.doesNotHave("per_host_grows", [.process]) }
      if rate != 0 { throw level.doesNotHave("rate", [.process]) }
      if inflight_bytes != 0 { throw level.doesNotHave("inflight_bytes", [.process]) }
    }
    if level == .site {
      if give_up_after_ms != 0 { throw level.doesNotHave("give_up_after", [.request]) }
      if batched.rawValue != 0 { throw level.doesNotHave("batched", [.request]) }
      if site != nil { throw level.doesNotHave("site", [.request]) }
      if method != nil { throw level.doesNotHave("method", [.request]) }
      if user_place != nil { throw level.doesNotHave("user_place", [.request]) }
      if bearer != nil { throw level.doesNotHave("bearer", [.request]) }
      if asks_not != 0 { throw level.doesNotHave("asks_not", [.request]) }
      if cache_key != nil { throw level.doesNotHave("cache_key", [.request]) }
      if ignore_query.rawValue != 0 { throw level.doesNotHave("ignore_query", [.request]) }
      if size != 0 || sizes != nil || size_count != 0 {
        throw level.doesNotHave("sizes", [.request, .image])
      }
      if fit.rawValue != 0 { throw level.doesNotHave("fit", [.request, .image]) }
      if enlarge.rawValue != 0 { throw level.doesNotHave("enlarge", [.request, .image]) }
      if scaling.rawValue != 0 { throw level.doesNotHave("scaling", [.request, .image]) }
      if allow_damaged.rawValue != 0 { throw level.doesNotHave("allow_damaged", [.request, .image]) }
      if early_stop.rawValue != 0 { throw level.doesNotHave("early_stop", [.request]) }
      if decode.rawValue != 0 { throw level.doesNotHave("decode", [.request]) }
      if delivery.rawValue != 0 { throw level.doesNotHave("delivery", [.request]) }
      if priority != 0 { throw level.doesNotHave("priority", [.request]) }
      if tag != nil { throw level.doesNotHave("tag", [.request]) }
      if progress_events.rawValue != 0 { throw level.doesNotHave("progress_events", [.request]) }
      if resume.rawValue != 0 { throw level.doesNotHave("resume", [.request]) }
      if freezable.rawValue != 0 { throw level.doesNotHave("freezable", [.request]) }
      if outbox_durable.rawValue != 0 { throw level.doesNotHave("outbox_durable", [.request]) }
      if outbox_queue != nil { throw level.doesNotHave("outbox_queue", [.request]) }
      if outbox_handler != nil { throw level.doesNotHave("outbox_handler", [.request]) }
      if secrets != nil || secret_count != 0 { throw level.doesNotHave("secrets", [.request]) }
      if password_provider != nil { throw level.doesNotHave("password_provider", [.request]) }
      if outbox_attempts != 0 { throw level.doesNotHave("outbox_attempts", [.request]) }
      if outbox_max_age_ms != 0 { throw level.doesNotHave("outbox_max_age", [.request]) }
      if outbox_key_lifetime_ms != 0 { throw level.doesNotHave("outbox_key_lifetime", [.request]) }
      if quiet.rawValue != 0 { throw level.doesNotHave("quiet", [.request]) }
      if memory_bytes != 0 { throw level.doesNotHave("memory_bytes", [.cache]) }
      if memory_items != 0 { throw level.doesNotHave("memory_items", [.cache]) }
      if disk_bytes != 0 { throw level.doesNotHave("disk_bytes", [.cache]) }
      if spill.rawValue != 0 { throw level.doesNotHave("spill", [.cache]) }
      if thumb_store.rawValue != 0 { throw level.doesNotHave("thumb_store", [.cache]) }
      if keep_source.rawValue != 0 { throw level.doesNotHave("keep_source", [.cache]) }
      if allow_files.rawValue != 0 { throw level.doesNotHave("allow_files", [.cache]) }
      if outbox.rawValue != 0 { throw level.doesNotHave("outbox", [.cache]) }
      if outbox_bytes != 0 { throw level.doesNotHave("outbox_bytes", [.cache]) }
      if outbox_items != 0 { throw level.doesNotHave("outbox_items", [.cache]) }
      if concurrency != 0 { throw level.doesNotHave("concurrency", [.process]) }
      if per_host != 0 { throw level.doesNotHave("per_host", [.process]) }
      if per_host_grows.rawValue != 0 { throw level.doesNotHave("per_host_grows", [.process]) }
      if rate != 0 { throw level.doesNotHave("rate", [.process]) }
      if inflight_bytes != 0 { throw level.doesNotHave("inflight_bytes", [.process]) }
      if check_bytes.rawValue != 0 { throw level.doesNotHave("check_bytes", [.cache]) }
    }
    if level == .request {
      if proxy != nil { throw level.doesNotHave("proxy", [.cache, .site]) }
      if user_agent != nil { throw level.doesNotHave("user_agent", [.cache, .site]) }
      if accept != nil { throw level.doesNotHave("accept", [.cache, .site]) }
      if cookie_jar.rawValue != 0 { throw level.doesNotHave("cookie_jar", [.site]) }
      if memory_bytes != 0 { throw level.doesNotHave("memory_bytes", [.cache]) }
      if memory_items != 0 { throw level.doesNotHave("memory_items", [.cache]) }
      if disk_bytes != 0 { throw level.doesNotHave("disk_bytes", [.cache]) }
      if spill.rawValue != 0 { throw level.doesNotHave("spill", [.cache]) }
      if thumb_store.rawValue != 0 { throw level.doesNotHave("thumb_store", [.cache]) }
      if keep_source.rawValue != 0 { throw level.doesNotHave("keep_source", [.cache]) }
      if allow_files.rawValue != 0 { throw level.doesNotHave("allow_files", [.cache]) }
      if outbox.rawValue != 0 { throw level.doesNotHave("outbox", [.cache]) }
      if outbox_bytes != 0 { throw level.doesNotHave("outbox_bytes", [.cache]) }
      if outbox_items != 0 { throw level.doesNotHave("outbox_items", [.cache]) }
      if concurrency != 0 { throw level.doesNotHave("concurrency", [.process]) }
      if per_host != 0 { throw level.doesNotHave("per_host", [.process]) }
      if per_host_grows.rawValue != 0 { throw level.doesNotHave("per_host_grows", [.process]) }
      if rate != 0 { throw level.doesNotHave("rate", [.process]) }
      if inflight_bytes != 0 { throw level.doesNotHave("inflight_bytes", [.process]) }
      if check_bytes.rawValue != 0 { throw level.doesNotHave("check_bytes", [.cache]) }
    }
    if level == .image {
      if policy.rawValue != 0 { throw level.doesNotHave("policy", [.cache, .site, .request]) }
      if validator_ttl_ms != 0 { throw level.doesNotHave("validator_ttl", [.cache, .site, .request]) }
      if image_ttl_ms != 0 { throw level.doesNotHave("image_ttl", [.cache, .site, .request]) }
      if no_cache_ttl_ms != 0 { throw level.doesNotHave("no_cache_ttl", [.cache, .site, .request]) }
      if heuristic != 0 { throw level.doesNotHave("heuristic", [.cache, .site, .request]) }
      if timeout_ms != 0 { throw level.doesNotHave("timeout", [.cache, .site, .request]) }
      if deadline_ms != 0 { throw level.doesNotHave("deadline", [.cache, .site, .request]) }
      if retries != 0 { throw level.doesNotHave("retries", [.cache, .site, .request]) }
      if give_up_after_ms != 0 { throw level.doesNotHave("give_up_after", [.request]) }
      if max_bytes != 0 { throw level.doesNotHave("max_bytes", [.cache, .site, .request]) }
      if batched.rawValue != 0 { throw level.doesNotHave("batched", [.request]) }
      if site != nil { throw level.doesNotHave("site", [.request]) }
      if addresses.rawValue != 0 { throw level.doesNotHave("addresses", [.cache, .site, .request]) }
      if proxy != nil { throw level.doesNotHave("proxy", [.cache, .site]) }
      if method != nil { throw level.doesNotHave("method", [.request]) }
      if headers != nil || header_count != 0 {
        throw level.doesNotHave("headers", [.cache, .site, .request])
      }
      if keep_headers_across_origins != nil {
        throw level.doesNotHave("keep_headers_across_origins", [.cache, .site, .request])
      }
      if user_agent != nil { throw level.doesNotHave("user_agent", [.cache, .site]) }
      if accept != nil { throw level.doesNotHave("accept", [.cache, .site]) }
      if user != nil { throw level.doesNotHave("user", [.site, .request]) }
      if password != nil { throw level.doesNotHave("password", [.site, .request]) }
      if user_place != nil { throw level.doesNotHave("user_place", [.request]) }
      if bearer != nil { throw level.doesNotHave("bearer", [.request]) }
      if sign_in.rawValue != 0 { throw level.doesNotHave("sign_in", [.site, .request]) }
      if cert != nil { throw level.doesNotHave("cert", [.site, .request]) }
      if cert_key != nil { throw level.doesNotHave("cert_key", [.site, .request]) }
      if cert_password != nil { throw level.doesNotHave("cert_password", [.site, .request]) }
      if netrc != nil { throw level.doesNotHave("netrc", [.cache, .site, .request]) }
      if partition != nil { throw level.doesNotHave("partition", [.cache, .site, .request]) }
      if cookie_jar.rawValue != 0 { throw level.doesNotHave("cookie_jar", [.site]) }
      if asks != 0 { throw level.doesNotHave("asks", [.site, .request]) }
      if asks_not != 0 { throw level.doesNotHave("asks_not", [.request]) }
      if cache_key != nil { throw level.doesNotHave("cache_key", [.request]) }
      if ignore_query.rawValue != 0 { throw level.doesNotHave("ignore_query", [.request]) }
      if early_stop.rawValue != 0 { throw level.doesNotHave("early_stop", [.request]) }
      if decode.rawValue != 0 { throw level.doesNotHave("decode", [.request]) }
      if delivery.rawValue != 0 { throw level.doesNotHave("delivery", [.request]) }
      if priority != 0 { throw level.doesNotHave("priority", [.request]) }
      if tag != nil { throw level.doesNotHave("tag", [.request]) }
      if progress_events.rawValue != 0 { throw level.doesNotHave("progress_events", [.request]) }
      if resume.rawValue != 0 { throw level.doesNotHave("resume", [.request]) }
      if freezable.rawValue != 0 { throw level.doesNotHave("freezable", [.request]) }
      if outbox_durable.rawValue != 0 { throw level.doesNotHave("outbox_durable", [.request]) }
      if outbox_queue != nil { throw level.doesNotHave("outbox_queue", [.request]) }
      if outbox_handler != nil { throw level.doesNotHave("outbox_handler", [.request]) }
      if secrets != nil || secret_count != 0 { throw level.doesNotHave("secrets", [.request]) }
      if password_provider != nil { throw level.doesNotHave("password_provider", [.request]) }
      if outbox_attempts != 0 { throw level.doesNotHave("outbox_attempts", [.request]) }
      if outbox_max_age_ms != 0 { throw level.doesNotHave("outbox_max_age", [.request]) }
      if outbox_key_lifetime_ms != 0 { throw level.doesNotHave("outbox_key_lifetime", [.request]) }
      if user_data != nil { throw level.doesNotHave("user_data", [.site, .request]) }
      if callback != nil { throw level.doesNotHave("callback", [.site, .request]) }
      if quiet.rawValue != 0 { throw level.doesNotHave("quiet", [.request]) }
      if memory_bytes != 0 { throw level.doesNotHave("memory_bytes", [.cache]) }
      if memory_items != 0 { throw level.doesNotHave("memory_items", [.cache]) }
      if disk_bytes != 0 { throw level.doesNotHave("disk_bytes", [.cache]) }
      if spill.rawValue != 0 { throw level.doesNotHave("spill", [.cache]) }
      if thumb_store.rawValue != 0 { throw level.doesNotHave("thumb_store", [.cache]) }
      if keep_source.rawValue != 0 { throw level.doesNotHave("keep_source", [.cache]) }
      if allow_files.rawValue != 0 { throw level.doesNotHave("allow_files", [.cache]) }
      if outbox.rawValue != 0 { throw level.doesNotHave("outbox", [.cache]) }
      if outbox_bytes != 0 { throw level.doesNotHave("outbox_bytes", [.cache]) }
      if outbox_items != 0 { throw level.doesNotHave("outbox_items", [.cache]) }
      if concurrency != 0 { throw level.doesNotHave("concurrency", [.process]) }
      if per_host != 0 { throw level.doesNotHave("per_host", [.process]) }
      if per_host_grows.rawValue != 0 { throw level.doesNotHave("per_host_grows", [.process]) }
      if rate != 0 { throw level.doesNotHave("rate", [.process]) }
      if inflight_bytes != 0 { throw level.doesNotHave("inflight_bytes", [.process]) }
      if redirects != 0 { throw level.doesNotHave("redirects", [.cache, .site, .request]) }
      if ca_file != nil { throw level.doesNotHave("ca_file", [.cache, .site, .request]) }
      if ca_dir != nil { throw level.doesNotHave("ca_dir", [.cache, .site, .request]) }
      if insecure.rawValue != 0 { throw level.doesNotHave("insecure", [.cache, .site, .request]) }
      if check_bytes.rawValue != 0 { throw level.doesNotHave("check_bytes", [.cache]) }
      if expire_after_ms != 0 { throw level.doesNotHave("expire_after", [.cache, .site, .request]) }
    }
    if level == .process {
      if policy.rawValue != 0 { throw level.doesNotHave("policy", [.cache, .site, .request]) }
      if validator_ttl_ms != 0 { throw level.doesNotHave("validator_ttl", [.cache, .site, .request]) }
      if image_ttl_ms != 0 { throw level.doesNotHave("image_ttl", [.cache, .site, .request]) }
      if no_cache_ttl_ms != 0 { throw level.doesNotHave("no_cache_ttl", [.cache, .site, .request]) }
      if heuristic != 0 { throw level.doesNotHave("heuristic", [.cache, .site, .request]) }
      if timeout_ms != 0 { throw level.doesNotHave("timeout", [.cache, .site, .request]) }
      if deadline_ms != 0 { throw level.doesNotHave("deadline", [.cache, .site, .request]) }
      if retries != 0 { throw level.doesNotHave("retries", [.cache, .site, .request]) }
      if give_up_after_ms != 0 { throw level.doesNotHave("give_up_after", [.request]) }
      if max_bytes != 0 { throw level.doesNotHave("max_bytes", [.cache, .site, .request]) }
      if max_pixels != 0 { throw level.doesNotHave("max_pixels", [.cache, .site, .request, .image]) }
      if batched.rawValue != 0 { throw level.doesNotHave("batched", [.request]) }
      if site != nil { throw level.doesNotHave("site", [.request]) }
      if addresses.rawValue != 0 { throw level.doesNotHave("addresses", [.cache, .site, .request]) }
      if proxy != nil { throw level.doesNotHave("proxy", [.cache, .site]) }
      if method != nil { throw level.doesNotHave("method", [.request]) }
      if headers != nil || header_count != 0 {
        throw level.doesNotHave("headers", [.cache, .site, .request])
      }
      if keep_headers_across_origins != nil {
        throw level.doesNotHave("keep_headers_across_origins", [.cache, .site, .request])
      }
      if user_agent != nil { throw level.doesNotHave("user_agent", [.cache, .site]) }
      if accept != nil { throw level.doesNotHave("accept", [.cache, .site]) }
      if user != nil { throw level.doesNotHave("user", [.site, .request]) }
      if password != nil { throw level.doesNotHave("password", [.site, .request]) }
      if user_place != nil { throw level.doesNotHave("user_place", [.request]) }
      if bearer != nil { throw level.doesNotHave("bearer", [.request]) }
      if sign_in.rawValue != 0 { throw level.doesNotHave("sign_in", [.site, .request]) }
      if cert != nil { throw level.doesNotHave("cert", [.site, .request]) }
      if cert_key != nil { throw level.doesNotHave("cert_key", [.site, .request]) }
      if cert_password != nil { throw level.doesNotHave("cert_password", [.site, .request]) }
      if netrc != nil { throw level.doesNotHave("netrc", [.cache, .site, .request]) }
      if partition != nil { throw level.doesNotHave("partition", [.cache, .site, .request]) }
      if cookie_jar.rawValue != 0 { throw level.doesNotHave("cookie_jar", [.site]) }
      if asks != 0 { throw level.doesNotHave("asks", [.site, .request]) }
      if asks_not != 0 { throw level.doesNotHave("asks_not", [.request]) }
      if cache_key != nil { throw level.doesNotHave("cache_key", [.request]) }
      if ignore_query.rawValue != 0 { throw level.doesNotHave("ignore_query", [.request]) }
      if size != 0 || sizes != nil || size_count != 0 {
        throw level.doesNotHave("sizes", [.request, .image])
      }
      if fit.rawValue != 0 { throw level.doesNotHave("fit", [.request, .image]) }
      if enlarge.rawValue != 0 { throw level.doesNotHave("enlarge", [.request, .image]) }
      if scaling.rawValue != 0 { throw level.doesNotHave("scaling", [.request, .image]) }
      if allow_damaged.rawValue != 0 { throw level.doesNotHave("allow_damaged", [.request, .image]) }
      if early_stop.rawValue != 0 { throw level.doesNotHave("early_stop", [.request]) }
      if decode.rawValue != 0 { throw level.doesNotHave("decode", [.request]) }
      if delivery.rawValue != 0 { throw level.doesNotHave("delivery", [.request]) }
      if priority != 0 { throw level.doesNotHave("priority", [.request]) }
      if tag != nil { throw level.doesNotHave("tag", [.request]) }
      if progress_events.rawValue != 0 { throw level.doesNotHave("progress_events", [.request]) }
      if resume.rawValue != 0 { throw level.doesNotHave("resume", [.request]) }
      if freezable.rawValue != 0 { throw level.doesNotHave("freezable", [.request]) }
      if outbox_durable.rawValue != 0 { throw level.doesNotHave("outbox_durable", [.request]) }
      if outbox_queue != nil { throw level.doesNotHave("outbox_queue", [.request]) }
      if outbox_handler != nil { throw level.doesNotHave("outbox_handler", [.request]) }
      if secrets != nil || secret_count != 0 { throw level.doesNotHave("secrets", [.request]) }
      if password_provider != nil { throw level.doesNotHave("password_provider", [.request]) }
      if outbox_attempts != 0 { throw level.doesNotHave("outbox_attempts", [.request]) }
      if outbox_max_age_ms != 0 { throw level.doesNotHave("outbox_max_age", [.request]) }
      if outbox_key_lifetime_ms != 0 { throw level.doesNotHave("outbox_key_lifetime", [.request]) }
      if user_data != nil { throw level.doesNotHave("user_data", [.site, .request]) }
      if callback != nil { throw level.doesNotHave("callback", [.site, .request]) }
      if quiet.rawValue != 0 { throw level.doesNotHave("quiet", [.request]) }
      if memory_bytes != 0 { throw level.doesNotHave("memory_bytes", [.cache]) }
      if memory_items != 0 { throw level.doesNotHave("memory_items", [.cache]) }
      if disk_bytes != 0 { throw level.doesNotHave("disk_bytes", [.cache]) }
      if spill.rawValue != 0 { throw level.doesNotHave("spill", [.cache]) }
      if thumb_store.rawValue != 0 { throw level.doesNotHave("thumb_store", [.cache]) }
      if keep_source.rawValue != 0 { throw level.doesNotHave("keep_source", [.cache]) }
      if allow_files.rawValue != 0 { throw level.doesNotHave("allow_files", [.cache]) }
      if outbox.rawValue != 0 { throw level.doesNotHave("outbox", [.cache]) }
      if outbox_bytes != 0 { throw level.doesNotHave("outbox_bytes", [.cache]) }
      if outbox_items != 0 { throw level.doesNotHave("outbox_items", [.cache]) }
      if redirects != 0 { throw level.doesNotHave("redirects", [.cache, .site, .request]) }
      if ca_file != nil { throw level.doesNotHave("ca_file", [.cache, .site, .request]) }
      if ca_dir != nil { throw level.doesNotHave("ca_dir", [.cache, .site, .request]) }
      if insecure.rawValue != 0 { throw level.doesNotHave("insecure", [.cache, .site, .request]) }
      if check_bytes.rawValue != 0 { throw level.doesNotHave("check_bytes", [.cache]) }
      if expire_after_ms != 0 { throw level.doesNotHave("expire_after", [.cache, .site, .request]) }
    }
  }
}

func given(_ said: nh_policy, _ name: String) throws(NuthatchError) -> Policy? {
  switch said {
  case NH_POLICY_UNSAID: nil
  case NH_POLICY_KIT: .kit
  case NH_POLICY_RFC9111: .rfc9111
  case NH_POLICY_OFFLINE: .offline
  case NH_POLICY_RELOAD: .reload
  default: throw NuthatchError(.invalid, "\(name) is no nh_policy")
  }
}

func given(_ said: nh_addresses, _ name: String) throws(NuthatchError) -> Addresses? {
  switch said {
  case NH_ADDRESSES_UNSAID: nil
  case NH_ADDRESSES_GUARDED: .guarded
  case NH_ADDRESSES_PUBLIC: .public
  case NH_ADDRESSES_ANY: .any
  default: throw NuthatchError(.invalid, "\(name) is no nh_addresses")
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
  default: throw NuthatchError(.invalid, "\(name) is no nh_sign_in")
  }
}

func given(_ said: nh_cookie_jar, _ name: String) throws(NuthatchError) -> CookieJarMode? {
  switch said {
  case NH_COOKIE_JAR_UNSAID: nil
  case NH_COOKIE_JAR_OFF: .off
  case NH_COOKIE_JAR_MEMORY: .memory
  case NH_COOKIE_JAR_DISK: .disk
  default: throw NuthatchError(.invalid, "\(name) is no nh_cookie_jar")
  }
}

func given(_ said: nh_delivery, _ name: String) throws(NuthatchError) -> Delivery? {
  switch said {
  case NH_DELIVERY_UNSAID: nil
  case NH_DELIVERY_TWICE: .twice
  case NH_DELIVERY_FIRST: .first
  case NH_DELIVERY_FRESH: .fresh
  default: throw NuthatchError(.invalid, "\(name) is no nh_delivery")
  }
}

func given(_ said: nh_spill, _ name: String) throws(NuthatchError) -> Spill? {
  switch said {
  case NH_SPILL_UNSAID: nil
  case NH_SPILL_EAGER: .eager
  case NH_SPILL_PRESSURE: .pressure
  default: throw NuthatchError(.invalid, "\(name) is no nh_spill")
  }
}

func given(_ said: nh_check_bytes, _ name: String) throws(NuthatchError) -> ByteCheck? {
  switch said {
  case NH_CHECK_BYTES_UNSAID: nil
  case NH_CHECK_BYTES_FIRST: .first
  case NH_CHECK_BYTES_ALWAYS: .always
  default: throw NuthatchError(.invalid, "\(name) is no nh_check_bytes")
  }
}

func given(_ said: nh_thumb_store, _ name: String) throws(NuthatchError) -> ThumbStore? {
  switch said {
  case NH_THUMB_STORE_UNSAID: nil
  case NH_THUMB_STORE_PACKED: .packed
  case NH_THUMB_STORE_LOSSLESS: .lossless
  case NH_THUMB_STORE_RAW: .raw
  default: throw NuthatchError(.invalid, "\(name) is no nh_thumb_store")
  }
}

func given(_ said: nh_outbox, _ name: String) throws(NuthatchError) -> OutboxMode? {
  switch said {
  case NH_OUTBOX_UNSAID: nil
  case NH_OUTBOX_AUTO: .auto
  case NH_OUTBOX_OFF: .off
  default: throw NuthatchError(.invalid, "\(name) is no nh_outbox")
  }
}

func given(_ said: nh_fit, _ name: String) throws(NuthatchError) -> ThumbnailBox.Fit? {
  switch said {
  case NH_FIT_UNSAID: nil
  case NH_FIT_INSIDE: .inside
  case NH_FIT_COVER: .cover
  case NH_FIT_STRETCH: .stretch
  default: throw NuthatchError(.invalid, "\(name) is no nh_fit")
  }
}

func given(_ said: nh_scaling, _ name: String) throws(NuthatchError) -> ThumbnailBox.Scaling? {
  switch said {
  case NH_SCALING_UNSAID: nil
  case NH_SCALING_BEST: .best
  case NH_SCALING_FAST: .fast
  default: throw NuthatchError(.invalid, "\(name) is no nh_scaling")
  }
}
