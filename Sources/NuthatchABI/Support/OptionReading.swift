import CNuthatch
import NuthatchCore

/// What nh_options say.
func given(_ pointer: UnsafePointer<nh_options>?) throws(NuthatchError) -> Options {
  var options = Options()
  guard let pointer else { return options }
  let raw = try readSized(pointer, zero: nh_options(), "options")
  options.policy = try given(raw.policy, "options.policy")
  options.validatorTTL = given(lifetime: raw.validator_ttl)
  options.imageTTL = given(lifetime: raw.image_ttl)
  options.noCacheTTL = given(lifetime: raw.no_cache_ttl)
  options.heuristic = try given(share: raw.heuristic, "options.heuristic")
  options.addresses = try given(raw.guard, "options.guard")
  options.timeout = given(milliseconds: raw.timeout_ms)
  options.deadline = given(milliseconds: raw.deadline_ms)
  options.maxBytes = given(limit: raw.max_bytes)
  options.maxPixels = given(limit: raw.max_pixels).map { Int($0) }
  options.retries = given(amount: Int64(raw.retries)).map { Int($0) }
  options.userAgent = try given(raw.user_agent, "options.user_agent")
  options.accept = try given(raw.accept, "options.accept")
  options.partition = try given(raw.partition, "options.partition")
  options.proxy = try given(raw.proxy, "options.proxy")
  options.netrc = try netrc(raw)
  options.cookieJar = try chosen(
    raw.cookies, "options.cookies",
    among: [NH_COOKIES_UNSAID: .off, NH_COOKIES_MEMORY: .memory, NH_COOKIES_DISK: .disk])
  options.headers = try headerList(raw.headers, raw.header_count, "options.headers")
  let names = try given(raw.cross_origin_headers, "options.cross_origin_headers") ?? ""
  options.crossOriginHeaders = names.split { $0 == "," || $0 == " " }.map(String.init)
  if let user = try given(raw.user, "options.user") {
    options.user = (user, try given(raw.password, "options.password") ?? "")
  } else if raw.password != nil {
    throw NuthatchError(.invalid, "options.password without options.user")
  }
  options.memoryBytes = given(amount: raw.memory_bytes)
  options.memoryItems = raw.memory_items > 0 ? Int(raw.memory_items) : nil
  options.diskBytes = raw.disk_bytes == 0 ? nil : raw.disk_bytes
  options.keepSource = try given(raw.keep_source, "options.keep_source")
  options.allowFiles = try given(raw.allow_files, "options.allow_files") ?? false
  options.outboxBytes = given(limit: raw.outbox_bytes)
  options.outboxItems = given(limit: raw.outbox_items).map { Int($0) }
  options.outbox = try chosen(
    raw.outbox, "options.outbox",
    among: [NH_OUTBOX_UNSAID: .auto, NH_OUTBOX_AUTO: .auto, NH_OUTBOX_OFF: .off])
  options.spill = try chosen(
    raw.spill, "options.spill",
    among: [NH_SPILL_UNSAID: nil, NH_SPILL_EAGER: .eager, NH_SPILL_PRESSURE: .pressure])
  options.thumbStore = try chosen(
    raw.store, "options.store",
    among: [
      NH_STORE_UNSAID: nil, NH_STORE_PACKED: .packed, NH_STORE_LOSSLESS: .lossless, NH_STORE_RAW: .raw,
    ])
  return options
}

private func netrc(_ raw: nh_options) throws(NuthatchError) -> Netrc? {
  guard raw.reserved_too == 0 else { throw NuthatchError(.invalid, "options.reserved_too is not 0") }
  let isNone = try given(raw.no_netrc, "options.no_netrc") ?? false
  guard isNone else { return try given(netrc: raw.netrc, "options.netrc") }
  guard raw.netrc == nil else {
    throw NuthatchError(.invalid, "options.netrc and options.no_netrc exclude each other")
  }
  return .off
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
