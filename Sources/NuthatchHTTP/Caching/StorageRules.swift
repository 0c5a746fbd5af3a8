/// Decides whether an answer may be stored, and how a 304 renews it.
package enum StorageRules {
  /// Fields of a connection, or of one exchange with a proxy. They are never stored.
  private static let hopByHop = [
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-authentication-info",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
  ]

  /// The same by length, because the names of each answer's fields are looked up.
  private static let hopByHopOfLength = hopByHop.reduce(into: [[String]](repeating: [], count: 32)) {
    $0[$1.utf8.count].append($1)
  }

  private static func isHopByHop(_ name: String) -> Bool {
    name.utf8.count < hopByHopOfLength.count
      && hopByHopOfLength[name.utf8.count].contains { name.equalsIgnoringCase($0) }
  }

  /// Fields that describe the stored bytes; a 304 doesn't replace them (RFC 9111, 3.2).
  private static let ofTheBody: Set<String> = ["content-encoding", "content-length", "content-range", "etag"]

  /// Statuses with known caching semantics that may be stored without explicit freshness.
  private static let understood: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]

  /// Returns whether an answer to a GET may be stored (RFC 9111, 3). `kit` stores successes. `rfc9111` stores the statuses that
  /// need no explicit freshness, and any other status if the server has set a lifetime, `public` or `private`.
  package static func mayStore(_ answer: AnswerFacts, request: HeaderFields, _ rules: FreshnessRules) -> Bool
  {
    let head = answer.head
    let control = CacheDirectives(head.fields)
    guard head.status >= 200, head.status != 206, head.status != 304, !request.contains("Range"),
      !CacheDirectives(request).has("no-store")
    else { return false }
    // With `must-understand`, a cache that knows the status ignores `no-store` (RFC 9111, 5.2.2.3).
    if control.has("must-understand") {
      guard understood.contains(head.status) else { return false }
    } else if control.has("no-store") {
      return false
    }
    if Vary(head.fields).isAny { return false }
    guard rules.kind == .rfc9111 else { return [200, 203, 204].contains(head.status) }
    return control.has("max-age") || head.fields.contains("Expires") || control.has("public")
      || control.has("private") || understood.contains(head.status)
  }

  /// Returns the head for the store, without fields of the connection and fields that the server lists in `no-cache`.
  package static func stored(_ head: ResponseHead) -> ResponseHead {
    var head = head
    var further = Set(CacheDirectives(head.fields).fields("no-cache"))
    for line in head.fields.values("Connection") where !line.equalsIgnoringCase("keep-alive") {
      for name in line.split(separator: ",") { further.insert(String(name).trimmed.lowercased()) }
    }
    head.fields.remove {
      isHopByHop($0.name) || !further.isEmpty && further.contains($0.name.lowercased())
    }
    return head
  }

  /// Returns the fields that ask the server whether a stored answer is still valid.
  package static func conditionalFields(_ head: ResponseHead) -> [HeaderFields.Field] {
    var fields: [HeaderFields.Field] = []
    if let tag = head.fields["ETag"], !tag.isEmpty { fields.append(.init(name: "If-None-Match", value: tag)) }
    if let date = head.fields["Last-Modified"], !date.isEmpty {
      fields.append(.init(name: "If-Modified-Since", value: date))
    }
    return fields
  }

  /// Returns the stored head renewed by a 304 (RFC 9111, 3.2 and 4.3.4); nil if the 304 is about another version.
  package static func renewed(_ stored: ResponseHead, by notModified: ResponseHead) -> ResponseHead? {
    if let new = notModified.fields["ETag"], let old = stored.fields["ETag"] {
      guard weakly(new) == weakly(old) else { return nil }
    } else if let new = notModified.fields["Last-Modified"], let old = stored.fields["Last-Modified"] {
      guard new == old else { return nil }
    }
    let news = Self.stored(notModified)
    var result = stored
    let replaced = Set(news.fields.fields.map { $0.name.lowercased() }).subtracting(ofTheBody)
    // Also remove an `Age` or `Date` that the 304 doesn't replace: the renewed answer would keep its old age.
    result.fields.remove {
      replaced.contains($0.name.lowercased()) || ["age", "date"].contains($0.name.lowercased())
    }
    for field in news.fields.fields where replaced.contains(field.name.lowercased()) {
      result.fields.append(field.name, field.value)
    }
    return result
  }

  private static func weakly(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }

  /// The result of comparing the answer to a HEAD with a stored answer (RFC 9111, 4.3.5).
  package enum HeadVerdict: Equatable {
    case same(renewed: ResponseHead)
    case another
    /// The two have no field in common that can be compared.
    case unknown
  }

  package static func verdict(on stored: ResponseHead, byHead answer: ResponseHead) -> HeadVerdict {
    var isKnown = false
    for name in ["ETag", "Last-Modified", "Content-Length"] {
      guard let new = answer.fields[name], let old = stored.fields[name] else { continue }
      guard new == old else { return .another }
      isKnown = true
    }
    guard isKnown, let renewed = renewed(stored, by: answer) else { return .unknown }
    return .same(renewed: renewed)
  }

  /// Returns the stored head, changed so that the answer is stale.
  package static func outdated(_ stored: ResponseHead) -> ResponseHead {
    var head = stored
    head.fields.append("Cache-Control", "max-age=0")
    return head
  }

  /// Returns whether the answer to a POST may be stored for later GETs of its URL (RFC 9110, 9.3.3): it has a lifetime, and its
  /// `Content-Location` is that URL.
  package static func answersGet(_ answer: AnswerFacts, at url: WebURL, _ rules: FreshnessRules) -> Bool {
    let control = CacheDirectives(answer.head.fields)
    guard rules.kind == .rfc9111, answer.head.status == 200,
      control.has("max-age") || answer.head.fields.contains("Expires"),
      let location = answer.head.fields["Content-Location"]
    else { return false }
    // A malformed URL isn't this one.
    return (try? url.resolving(Array(location.utf8)))?.address == url.address
  }

  /// Returns the URLs whose stored answers a request with this method invalidates (RFC 9111, 4.4): its own, and those of the
  /// same origin in `Location` and `Content-Location`.
  package static func invalidated(method: String, url: WebURL, by head: ResponseHead) -> [WebURL] {
    guard !["GET", "HEAD", "OPTIONS", "TRACE"].contains(method), (200..<400).contains(head.status) else {
      return []
    }
    var urls = [url]
    for name in ["Location", "Content-Location"] {
      // Nothing is stored for a malformed URL.
      guard let text = head.fields[name], let target = try? url.resolving(Array(text.utf8)),
        target.origin == url.origin
      else { continue }
      urls.append(target)
    }
    return urls
  }
}

extension ResponseHead {
  /// Returns the wait in seconds that `Retry-After` asks for, as a number or a date; never negative.
  package func retryAfter(now: Int64) -> Int64? {
    guard let text = fields["Retry-After"] else { return nil }
    if let seconds = DeltaSeconds.parse(text) { return seconds }
    return HTTPDate.seconds(text, now: now).map { min(max(0, $0 - now), DeltaSeconds.most) }
  }
}
