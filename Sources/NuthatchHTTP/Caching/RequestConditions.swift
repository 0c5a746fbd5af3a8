/// Evaluates a caller's conditions and ranges on a complete stored answer to a GET (RFC 9110, 13; RFC 9111, 4.3.2).
package enum RequestConditions {
  /// The kind of answer.
  package enum Reply: Sendable, Equatable {
    /// 200, all of it.
    case whole
    /// 304, without a body.
    case notModified
    /// 206, these bytes.
    case part(Range<Int64>)
    /// 416: the body has none of the requested bytes.
    case unsatisfiable
  }

  /// Fields that ask for a part, or set a condition.
  package static let names = [
    "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
  ]

  /// Returns the reply to a request from a complete stored answer with a body of `length` bytes; nil if only the server can
  /// decide.
  package static func reply(to request: HeaderFields, from head: ResponseHead, length: Int64, now: Int64)
    -> Reply?
  {
    guard head.status == 200, !request.contains("If-Match"), !request.contains("If-Unmodified-Since") else {
      return nil
    }
    if isUnchanged(head, request, now: now) { return .notModified }
    guard request.contains("Range") else { return .whole }
    // Only the server answers several ranges and unknown units. Also ranges of a body that was decoded: the server counts the
    // coded bytes.
    guard let range = ByteRange(request), !head.fields.contains("Content-Encoding") else { return nil }
    guard holds(request["If-Range"], head, now: now) else { return .whole }
    return range.resolved(in: length).map { .part($0) } ?? .unsatisfiable
  }

  /// Returns the head of the reply.
  package static func head(of reply: Reply, from head: ResponseHead, length: Int64) -> ResponseHead {
    var result = head
    switch reply {
    case .whole: return head
    case .notModified:
      result.status = 304
      result.reason = "Not Modified"
      result.fields.remove { Self.ofTheBody.contains($0.name.lowercased()) }
    case .part(let bytes):
      result.status = 206
      result.reason = "Partial Content"
      result.fields.remove { Self.ofTheLength.contains($0.name.lowercased()) }
      result.fields.append("Content-Range", "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(length)")
      result.fields.append("Content-Length", String(bytes.count))
    case .unsatisfiable:
      result.status = 416
      result.reason = "Range Not Satisfiable"
      result.fields.remove { Self.ofTheBody.contains($0.name.lowercased()) }
      result.fields.append("Content-Range", "bytes */\(length)")
      result.fields.append("Content-Length", "0")
    }
    return result
  }

  private static let ofTheLength: Set<String> = ["content-length", "content-range"]
  private static let ofTheBody: Set<String> = [
    "content-length", "content-range", "content-type", "content-encoding", "content-language", "content-md5",
  ]

  /// Returns whether the caller already has the stored answer. `If-None-Match` takes precedence over `If-Modified-Since`.
  private static func isUnchanged(_ head: ResponseHead, _ request: HeaderFields, now: Int64) -> Bool {
    let lines = request.values("If-None-Match")
    guard lines.isEmpty else {
      guard let tag = head.fields["ETag"] else { return lines.contains("*") }
      return tags(lines.joined(separator: ",")).contains { $0 == "*" || weakly($0) == weakly(tag) }
    }
    guard let since = request["If-Modified-Since"].flatMap({ HTTPDate.seconds($0, now: now) }),
      let changed = (head.fields["Last-Modified"] ?? head.fields["Date"]).flatMap({
        HTTPDate.seconds($0, now: now)
      })
    else { return false }
    return changed <= since
  }

  /// Returns whether `If-Range` allows a part: the caller's other parts are from the same bytes (RFC 9110, 13.1.5).
  private static func holds(_ condition: String?, _ head: ResponseHead, now: Int64) -> Bool {
    guard let condition else { return true }
    if condition.hasPrefix("\"") { return condition == head.fields["ETag"] }
    // Two versions of the same second have the same date. So the answer must be younger than that second.
    guard condition == head.fields["Last-Modified"], let changed = HTTPDate.seconds(condition, now: now),
      let date = head.fields["Date"].flatMap({ HTTPDate.seconds($0, now: now) })
    else { return false }
    return changed < date
  }

  /// Splits at commas outside of quotes.
  private static func tags(_ list: String) -> [String] {
    var tags: [String] = []
    var tag = ""
    var isQuoted = false
    for letter in list {
      if letter == "\"" { isQuoted.toggle() }
      if letter == ",", !isQuoted {
        tags.append(tag.trimmed)
        tag = ""
      } else {
        tag.append(letter)
      }
    }
    return (tags + [tag.trimmed]).filter { !$0.isEmpty }
  }

  private static func weakly(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
}
