import Glibc
import NuthatchCore

/// `nuthatch explain`: why a URL would hit or miss.
enum ExplainCommand: Command {
  static let name = "explain"
  static let summary = "show whether a URL would hit or miss, why, and until when"
  static let usage = "[OPTION…] URL"
  static let options = [InspectionOptions.format, CommonOptions.cache] + .ofLibrary(for: name)
  static let details = """
    The first word of the output says what a request would do. hit: it gets an answer from the cache at once; if the
    picture is known to be undecodable, that is an error. revalidate: it asks the server whether the stored answer is still
    valid. fetch: it fetches the whole answer. refuse: it fails at once. Use the same options as for get or prefetch: limits,
    caching rules, and options that are part of the cache key. With --size, explain describes thumbnails, without it the
    answer itself. It does not know what the server would answer, nor failures that another run remembers in memory.

    \(InspectionOptions.exits)

    Examples:
      nuthatch explain https://example.org/a.jpg
      nuthatch explain --size 256 --format json https://example.org/a.jpg | jq .prospect

    """

  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    guard arguments.operands.count == 1 else { throw UsageError("explain: exactly one URL is needed") }
    let said = try arguments.said()
    let wantsJSON = try arguments.wantsJSON
    return try arguments.withCache(name) { cache in
      let request = try said.request(for: arguments.operands[0], in: cache)
      var info = try cache.inspect(request)
      let unstored = info == nil ? try cache.prospect(of: request) : (.fetch, nil)
      var whole = request
      whole.boxes = []
      // If all thumbnails are stored, `inspect` doesn't look for the original, so ask again without boxes.
      let hasBody = try info?.hasBody == true || cache.inspect(whole)?.hasBody == true
      if info?.facts.format == nil, hasBody, let facts = try cache.facts(ofBodyFor: whole) {
        info?.facts = facts
      }
      let text = wantsJSON ? json(request, info, unstored, hasBody) : text(request, info, unstored, hasBody)
      Terminal.print(wantsJSON ? text : Terminal.fitted(text))
      return .success
    }
  }

  /// What a request does if nothing is stored.
  private typealias Unstored = (prospect: StoredAnswerInfo.Prospect, refusal: StoredAnswerInfo.Refusal?)

  private static func text(
    _ request: Request, _ info: StoredAnswerInfo?, _ unstored: Unstored, _ hasBody: Bool
  ) -> String {
    guard let info else {
      let why = unstored.refusal.map { ": " + refusal($0) } ?? ""
      return "\(unstored.prospect.rawValue): nothing is stored for \(request.shownURL)\(why)\n"
    }
    let prospect = Terminal.styled(info.prospect.rawValue, info.prospect == .hit ? .good : .doubtful)
    var lines = ["\(prospect): \(reason(request, info))"]
    let left = info.isFromFuture ? 0 : info.lifetime - info.age
    lines.append("  rule      \(rule(info))")
    lines.append("  age       \(info.isFromFuture ? "not known" : Amounts.seconds(Double(info.age)))")
    let until =
      left > 0 ? "another \(Amounts.seconds(Double(left)))" : "over for \(Amounts.seconds(Double(-left)))"
    lines.append("  fresh     until \(moment(info.freshUntil)), \(until)")
    lines.append(
      "  answer    \(info.status), \(Amounts.bytes(info.bodyBytes)), \(info.header("Content-Type")?.printable ?? "no type")"
    )
    if info.finalURL != request.url { lines.append("  from      \(info.finalURL.printable)") }
    if !info.varied.isEmpty { lines.append("  varies by \(info.varied.joined(separator: ", ").printable)") }
    lines.append("  original  \(hasBody ? "stored" : "not stored")")
    if let picture = info.facts.text { lines.append("  picture   \(picture)") }
    if let why = info.undecodable { lines.append("  undecoded \(why.printable)") }
    for thumb in info.thumbs {
      lines.append(
        "  thumb     \(thumb.width)x\(thumb.height), \(thumb.form), \(Amounts.bytes(Int64(thumb.bytes)))")
    }
    if let content = info.content { lines.append("  content   \(content)") }
    lines.append("  record    \(info.record)")
    return lines.joined(separator: "\n") + "\n"
  }

  /// Returns a time in the local time zone.
  private static func moment(_ seconds: Int64) -> String {
    var (when, parts) = (time_t(seconds), tm())
    guard localtime_r(&when, &parts) != nil else { return String(seconds) }
    var text = [CChar](repeating: 0, count: 40)
    let count = strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &parts)
    return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func reason(_ request: Request, _ info: StoredAnswerInfo) -> String {
    let isThere =
      request.boxes.isEmpty ? info.hasBody : info.hasBody || info.thumbs.count == request.boxes.count
    switch info.prospect {
    case .refuse: return refusal(info.refusal)
    case .hit where info.isRedirect:
      return "a redirect to an answer that is stored, and good enough for this request"
    case .revalidate where info.isRedirect:
      return "a redirect; the server is asked about it, or about what it leads to"
    case .fetch where info.isRedirect:
      return "a redirect to an answer that isn't stored, or that this request can't use"
    case .revalidate where info.isFromFuture:
      return "stored at a time in the future: the clock was set back, and the server is asked"
    case .hit where info.age >= info.lifetime: return "stale, but good enough for this request"
    case .hit where info.undecodable != nil: return "fresh, and known to be undecodable"
    case .hit where info.thumbs.count == request.boxes.count: return "fresh, and all of it is there"
    case .hit:
      return info.hasBody ? "fresh; made from the stored original" : "fresh; made from a larger thumbnail"
    case .revalidate: return "stale; the server is asked whether it is still valid"
    case .fetch where !isThere: return "the URL is known, but the requested bytes or sizes are not stored"
    case .fetch: return "stored, but this request can't use it"
    }
  }

  private static func refusal(_ refusal: StoredAnswerInfo.Refusal?) -> String {
    switch refusal {
    case .failedBefore: "the URL failed a short time ago, and isn't tried again yet"
    case .tooLarge: "the answer is longer than max_bytes"
    case .tooManyPixels: "the picture has more pixels than max_pixels"
    case .badRedirect: "the answer is a redirect that can't be followed"
    case .offline, nil: "no usable answer is stored, and the network is off (policy offline)"
    }
  }

  private static func rule(_ info: StoredAnswerInfo) -> String {
    let why =
      switch info.rule {
      case "expire-after": "the lifetime is set by the request"
      case "no-store": "the server forbids storing it"
      case "no-cache": "the server wants to be asked each time"
      case "max-age": "the lifetime is set by Cache-Control"
      case "expires": "the lifetime is set by Expires"
      case "validator": "a picture with ETag or Last-Modified, without a lifetime"
      case "picture": "a picture without a lifetime, ETag and Last-Modified"
      case "heuristic": "a part of the time since Last-Modified"
      default: "nothing sets a lifetime"
      }
    let lifetime = "\(info.rule) (\(why)): \(Amounts.seconds(Double(info.lifetime)))"
    return info.mustRevalidate ? "\(lifetime), must-revalidate" : lifetime
  }

  private static func json(
    _ request: Request, _ info: StoredAnswerInfo?, _ unstored: Unstored, _ hasBody: Bool
  ) -> String {
    JSONText.line { json in
      json.put("url", request.url)
      json.put("prospect", (info?.prospect ?? unstored.prospect).rawValue)
      json.put("refusal", (info?.refusal ?? unstored.refusal)?.rawValue)
      json.put("stored", info != nil)
      json.put("reason", info.map { reason(request, $0) } ?? "nothing is stored")
      guard let info else { return }
      write(info, to: &json)
      json.put("has_body", hasBody)
      info.facts.write(to: &json)
      json.put("undecodable", info.undecodable)
      json.objects("thumbs", info.thumbs) { json, thumb in
        json.put("width", thumb.width)
        json.put("height", thumb.height)
        json.put("form", thumb.form)
        json.put("bytes", thumb.bytes)
      }
    }
  }

  /// Writes the facts about a stored answer.
  static func write(_ info: StoredAnswerInfo, to json: inout JSONText) {
    json.put("final_url", info.finalURL)
    json.put("status", info.status)
    json.put("rule", info.rule)
    json.put("must_revalidate", info.mustRevalidate)
    json.put("age", info.age)
    json.put("lifetime", info.lifetime)
    json.put("fresh_until", info.freshUntil)
    json.put("stored_at", info.storedAt)
    json.put("is_picture", info.isPicture)
    json.put("content_type", info.header("Content-Type"))
    json.put("bytes", info.bodyBytes)
    json.put("content", info.content)
    json.list("varies_by", info.varied) { json, name in json.put(nil, name) }
    json.put("record", info.record)
  }
}
