/// What may be stored of an answer, and how a 304 renews it.
package enum StorageRules {
  /// Fields that belong to a connection, or to one exchange with a proxy, and never to an answer.
  private static let hopByHop: Set<String> = [
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-authentication-info",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
  ]

  /// Fields that describe the stored bytes as they lie there, which a 304 doesn't bring (RFC 9111, 3.2).
  private static let ofTheBody: Set<String> = ["content-encoding", "content-length", "content-range", "etag"]

  /// Statuses whose meaning for a cache is known, and which may be kept without a word about it.
  private static let understood: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]

  /// Whether an answer to a GET may be stored (RFC 9111, 3). `kit` keeps successes. `rfc9111` keeps the statuses that
  /// may be kept without a word about it, and any other where the server has said for how long, or for whom.
  package static func mayStore(_ answer: AnswerFacts, request: HeaderFields, _ rules: FreshnessRules) -> Bool
  {
    let head = answer.head
    let control = CacheDirectives(head.fields)
    guard head.status >= 200, head.status != 206, head.status != 304, !request.contains("Range"),
      !CacheDirectives(request).has("no-store")
    else { return false }
    // With `must-understand`, `no-store` is for those who don't know the status; and they keep nothing either way.
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

  /// The head as it is stored: without what belongs to the connection, and without the fields that the server wants
  /// asked for each time.
  package static func stored(_ head: ResponseHead) -> ResponseHead {
    var head = head
    var unwanted = hopByHop
    for line in head.fields.values("Connection") {
      for name in line.split(separator: ",") { unwanted.insert(String(name).trimmed.lowercased()) }
    }
    unwanted.formUnion(CacheDirectives(head.fields).fields("no-cache"))
    head.fields.remove { unwanted.contains($0.name.lowercased()) }
    return head
  }

  /// The fields that ask whether a stored answer still holds.
  package static func conditionalFields(_ head: ResponseHead) -> [HeaderFields.Field] {
    var fields: [HeaderFields.Field] = []
    if let tag = head.fields["ETag"], !tag.isEmpty { fields.append(.init(name: "If-None-Match", value: tag)) }
    if let date = head.fields["Last-Modified"], !date.isEmpty {
      fields.append(.init(name: "If-Modified-Since", value: date))
    }
    return fields
  }

  /// The stored head renewed by a 304 (RFC 9111, 3.2 and 4.3.4); nil when the 304 is about something else than
  /// what is stored.
  package static func renewed(_ stored: ResponseHead, by notModified: ResponseHead) -> ResponseHead? {
    if let new = notModified.fields["ETag"], let old = stored.fields["ETag"] {
      guard weakly(new) == weakly(old) else { return nil }
    } else if let new = notModified.fields["Last-Modified"], let old = stored.fields["Last-Modified"] {
      guard new == old else { return nil }
    }
    let news = Self.stored(notModified)
    var result = stored
    let replaced = Set(news.fields.fields.map { $0.name.lowercased() }).subtracting(ofTheBody)
    // An age is that of the exchange that it came with.
    // So is a date: with the old one the renewed answer would be as old as it was.
    result.fields.remove {
      replaced.contains($0.name.lowercased()) || ["age", "date"].contains($0.name.lowercased())
    }
    for field in news.fields.fields where replaced.contains(field.name.lowercased()) {
      result.fields.append(field.name, field.value)
    }
    return result
  }

  private static func weakly(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }

  /// What the answer to a HEAD says about a stored one (RFC 9111, 4.3.5).
  package enum HeadVerdict: Equatable {
    case same(renewed: ResponseHead)
    case another
    /// It names nothing that could be compared: it may speak of anything.
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

  /// The stored head when it is known to be of the past: stale from now on.
  package static func outdated(_ stored: ResponseHead) -> ResponseHead {
    var head = stored
    head.fields.append("Cache-Control", "max-age=0")
    return head
  }

  /// Whether the answer to a POST may be stored and given to those who GET its URL (RFC 9110, 9.3.3): it says for how
  /// long, and that it is what is found there.
  package static func answersGet(_ answer: AnswerFacts, at url: WebURL, _ rules: FreshnessRules) -> Bool {
    let control = CacheDirectives(answer.head.fields)
    guard rules.kind == .rfc9111, answer.head.status == 200,
      control.has("max-age") || answer.head.fields.contains("Expires"),
      let location = answer.head.fields["Content-Location"]
    else { return false }
    // What is no URL is not this one.
    return (try? url.resolving(Array(location.utf8)))?.address == url.address
  }

  /// The URLs whose stored answers a request with this method makes doubtful (RFC 9111, 4.4): its own, and those that
  /// the answer names, when they are of the same origin.
  package static func invalidated(method: String, url: WebURL, by head: ResponseHead) -> [WebURL] {
    guard !["GET", "HEAD", "OPTIONS", "TRACE"].contains(method), (200..<400).contains(head.status) else {
      return []
    }
    var urls = [url]
    for name in ["Location", "Content-Location"] {
      // What is no URL names nothing that could be stored.
      guard let text = head.fields[name], let target = try? url.resolving(Array(text.utf8)),
        target.origin == url.origin
      else { continue }
      urls.append(target)
    }
    return urls
  }
}

extension ResponseHead {
  /// Seconds for which the server asks to be left alone, from a number or a date; never negative.
  package func retryAfter(now: Int64) -> Int64? {
    guard let text = fields["Retry-After"] else { return nil }
    if let seconds = DeltaSeconds.parse(text) { return seconds }
    return HTTPDate.seconds(text, now: now).map { min(max(0, $0 - now), DeltaSeconds.most) }
  }
}
