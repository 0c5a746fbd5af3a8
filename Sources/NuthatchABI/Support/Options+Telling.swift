// Generated from options.toml by Scripts/make-header; edit that instead.

import CNuthatch
import NuthatchCore

extension nh_options {
  /// Returns the options of a cache or a site for C programs, without secrets.
  init(telling options: Options, _ level: OptionLevel, _ texts: ToldTexts) {
    self.init()
    policy = nh_policy(UInt32((options.policy?.rawValue ?? 0)))
    validator_ttl_ms = told(options.validatorTTL)
    image_ttl_ms = told(options.imageTTL)
    no_cache_ttl_ms = told(options.noCacheTTL)
    heuristic = told(options.heuristic)
    timeout_ms = told(options.timeout)
    deadline_ms = told(options.deadline)
    retries = told(options.retries)
    max_bytes = told(options.maxBytes)
    max_pixels = told(options.maxPixels)
    addresses = nh_addresses(UInt32((options.addresses?.rawValue ?? 0)))
    tellProxy(options.proxy, texts)
    tellHeaders(options.headers, texts)
    tellKeepHeadersAcrossOrigins(options.keepHeadersAcrossOrigins, texts)
    user_agent = texts.pointer(options.userAgent)
    accept = texts.pointer(options.accept)
    if level == .site { sign_in = nh_sign_in(UInt32((options.signIn?.rawValue ?? 0))) }
    if level == .site { tellCert(options.cert, texts) }
    tellNetrc(options.netrc, texts)
    partition = texts.pointer(options.partition)
    if level == .site { cookie_jar = nh_cookie_jar(UInt32(options.cookieJar.rawValue)) }
    if level == .site { tellAsks(options.asks, texts) }
    if level == .cache { memory_bytes = told(options.memoryBytes) }
    if level == .cache { memory_items = told(options.memoryItems) }
    if level == .cache { disk_bytes = told(options.diskBytes) }
    if level == .cache { spill = nh_spill(UInt32((options.spill?.rawValue ?? 0))) }
    if level == .cache { thumb_store = nh_thumb_store(UInt32((options.thumbStore?.rawValue ?? 0))) }
    if level == .cache { keep_source = told(options.keepSource) }
    if level == .cache { allow_files = told(options.allowFiles) }
    if level == .cache { outbox = nh_outbox(UInt32(options.outbox.rawValue)) }
    if level == .cache { outbox_bytes = told(options.outboxBytes) }
    if level == .cache { outbox_items = told(options.outboxItems) }
    redirects = told(options.redirects)
    ca_file = texts.pointer(options.caFile)
    ca_dir = texts.pointer(options.caDir)
    insecure = told(options.insecure)
    if level == .cache { check_bytes = nh_check_bytes(UInt32((options.checkBytes?.rawValue ?? 0))) }
    expire_after_ms = told(options.expireAfter)
    if level == .cache { config = texts.pointer(options.config) }
    decoding = nh_decoding(UInt32((options.decode?.rawValue ?? 0)))
  }
}
