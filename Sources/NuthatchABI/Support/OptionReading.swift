import CNuthatch
import NuthatchCore

/// What nh_options say, for a cache or for a site.
struct GivenOptions {
  private let raw: nh_options
  private let lifetimes: Lifetimes
  private let headers: [(name: String, value: String)]

  /// Nil for no options at all.
  init?(_ pointer: UnsafePointer<nh_options>?) throws(NuthatchError) {
    guard let pointer else { return nil }
    raw = try readSized(pointer, zero: nh_options(), "options")
    lifetimes = Lifetimes(
      rules: try given(raw.policy, "options.policy"), validatorTTL: given(amount: raw.validator_ttl),
      imageTTL: given(amount: raw.image_ttl), noCacheTTL: given(amount: raw.no_cache_ttl),
      heuristic: try given(share: raw.heuristic, "options.heuristic"))
    headers = try headerList(raw.headers, raw.header_count, "options.headers")
  }

  func forCache() throws(NuthatchError) -> Cache.Options {
    guard raw.user == nil, raw.password == nil else {
      throw NuthatchError(.invalid, "options.user is for sites: a cache's requests go to many origins")
    }
    var options = Cache.Options()
    if let policy = lifetimes.changing(options.policy) { options.policy = policy }
    if let grade = try given(raw.guard, "options.guard") { options.guard = grade }
    options.timeout = limit(raw.timeout_ms, default: options.timeout)
    options.deadline = given(milliseconds: raw.deadline_ms)
    if let bytes = given(limit: raw.max_bytes) { options.maxBytes = bytes }
    if let pixels = given(limit: raw.max_pixels) { options.maxPixels = Int(pixels) }
    if let retries = given(amount: Int64(raw.retries)) { options.retries = Int(retries) }
    if let agent = try given(raw.user_agent, "options.user_agent") { options.userAgent = agent }
    options.accept = try given(raw.accept, "options.accept")
    options.partition = try given(raw.partition, "options.partition")
    options.proxy = try given(raw.proxy, "options.proxy")
    // There is none that it could go without, and what has nothing to do with a netrc goes a shorter way.
    options.netrc = try netrc().flatMap { $0 == .off ? nil : $0 }
    guard raw.cookies == NH_COOKIES_UNSAID else {
      throw NuthatchError(.invalid, "options.cookies is for sites: a cache's requests go to many")
    }
    guard raw.cross_origin_headers == nil else {
      throw NuthatchError(.invalid, "options.cross_origin_headers is for sites: a cache has no origin")
    }
    options.headers = headers
    options.memoryBytes = given(amount: raw.memory_bytes).map { Int($0) }
    options.memoryItems = raw.memory_items > 0 ? Int(raw.memory_items) : nil
    guard raw.disk_bytes >= 0 else { throw NuthatchError(.invalid, "options.disk_bytes is negative") }
    options.diskBytes = given(amount: raw.disk_bytes).map { Int($0) }
    options.keepSource = try given(raw.keep_source, "options.keep_source")
    options.allowFiles = try given(raw.allow_files, "options.allow_files") ?? false
    options.outboxBytes = given(limit: raw.outbox_bytes)
    options.outboxItems = given(limit: raw.outbox_items).map { Int($0) }
    options.outbox = try chosen(
      raw.outbox, "options.outbox",
      among: [NH_OUTBOX_UNSAID: .on, NH_OUTBOX_AUTO: .on, NH_OUTBOX_OFF: .off])
    options.spill = try chosen(
      raw.spill, "options.spill",
      among: [NH_SPILL_UNSAID: nil, NH_SPILL_EAGER: .eager, NH_SPILL_PRESSURE: .pressure])
    options.store = try chosen(
      raw.store, "options.store",
      among: [
        NH_STORE_UNSAID: nil, NH_STORE_PACKED: .packed, NH_STORE_LOSSLESS: .lossless, NH_STORE_RAW: .raw,
      ])
    return options
  }

  func forSite(of cache: Cache) throws(NuthatchError) -> Site.Options {
    guard raw.memory_bytes == 0, raw.memory_items == 0, raw.disk_bytes == 0, raw.spill == NH_SPILL_UNSAID,
      raw.store == NH_STORE_UNSAID, raw.keep_source == NH_UNSAID, raw.allow_files == NH_UNSAID,
      raw.outbox == NH_OUTBOX_UNSAID, raw.outbox_bytes == 0, raw.outbox_items == 0
    else {
      throw NuthatchError(.invalid, "options of the directory, allow_files and outbox belong to nh_open")
    }
    var options = Site.Options()
    options.policy = lifetimes.changing(cache.options.policy)
    options.guard = try given(raw.guard, "options.guard")
    options.timeout = given(milliseconds: raw.timeout_ms)
    options.deadline = given(milliseconds: raw.deadline_ms)
    options.maxBytes = given(limit: raw.max_bytes)
    options.maxPixels = given(limit: raw.max_pixels).map { Int($0) }
    options.retries = given(amount: Int64(raw.retries)).map { Int($0) }
    options.userAgent = try given(raw.user_agent, "options.user_agent")
    options.accept = try given(raw.accept, "options.accept")
    options.partition = try given(raw.partition, "options.partition")
    options.proxy = try given(raw.proxy, "options.proxy")
    options.netrc = try netrc()
    options.cookies = try chosen(
      raw.cookies, "options.cookies",
      among: [NH_COOKIES_UNSAID: nil, NH_COOKIES_MEMORY: .memory, NH_COOKIES_DISK: .disk])
    options.headers = headers
    let names = try given(raw.cross_origin_headers, "options.cross_origin_headers") ?? ""
    options.crossOriginHeaders = names.split { $0 == "," || $0 == " " }.map(String.init)
    if let user = try given(raw.user, "options.user") {
      options.user = (user, try given(raw.password, "options.password") ?? "")
    } else if raw.password != nil {
      throw NuthatchError(.invalid, "options.password without options.user")
    }
    return options
  }

  private func netrc() throws(NuthatchError) -> Netrc? {
    guard raw.reserved_too == 0 else { throw NuthatchError(.invalid, "options.reserved_too is not 0") }
    let isNone = try given(raw.no_netrc, "options.no_netrc") ?? false
    guard isNone else { return try given(netrc: raw.netrc, "options.netrc") }
    guard raw.netrc == nil else {
      throw NuthatchError(.invalid, "options.netrc and options.no_netrc exclude each other")
    }
    return .off
  }
}

func headerList(_ lines: UnsafePointer<nh_header>?, _ count: Int, _ name: String) throws(NuthatchError)
  -> [(name: String, value: String)]
{
  guard count != 0 else { return [] }
  guard let lines else { throw .null(name) }
  guard (1...1000).contains(count) else { throw NuthatchError(.invalid, "\(name): more than 1000 headers") }
  var headers: [(name: String, value: String)] = []
  for index in 0..<count {
    headers.append(
      (
        try string(lines[index].name, "\(name)[\(index)].name"),
        try string(lines[index].value, "\(name)[\(index)].value")
      ))
  }
  return headers
}
