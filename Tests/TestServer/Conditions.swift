import Glibc

/// Conditional and range requests against a script that answers them.
enum Conditions {
  static func apply(to script: Script, for request: ReceivedRequest) -> Script {
    guard script.status == 200, ["GET", "HEAD"].contains(request.method) else { return script }
    if script.answersConditions && isUnchanged(script, request) {
      var answer = script
      answer.status = 304
      answer.reason = nil
      answer.headers.lines.removeAll { $0.name.lowercased().hasPrefix("content-") }
      answer.steps.removeAll(where: \.isBody)
      return answer
    }
    guard script.answersRanges, request.method == "GET" else { return script }
    return part(of: script, request) ?? script
  }

  private static func isUnchanged(_ script: Script, _ request: ReceivedRequest) -> Bool {
    let lists = request.headers.values(of: "If-None-Match")
    if !lists.isEmpty {
      guard let etag = script.headers["ETag"] else { return false }
      return tags(in: lists.joined(separator: ",")).contains { $0 == "*" || opaque($0) == opaque(etag) }
    }
    guard let since = request.headers["If-Modified-Since"] else { return false }
    guard let modified = script.headers["Last-Modified"] else { return false }
    guard let sinceTime = parsedDate(since), let modifiedTime = parsedDate(modified) else {
      return since == modified
    }
    return modifiedTime <= sinceTime
  }

  /// Splits at commas outside quotes.
  private static func tags(in list: String) -> [String] {
    var tags = [""]
    var isQuoted = false
    for letter in list {
      if letter == "\"" { isQuoted.toggle() }
      if letter == "," && !isQuoted { tags.append("") } else { tags[tags.count - 1].append(letter) }
    }
    return tags.map { trimmed($0) }.filter { !$0.isEmpty }
  }

  private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }

  private static func part(of script: Script, _ request: ReceivedRequest) -> Script? {
    guard !script.isChunked, let text = request.headers["Range"]?.lowercased() else { return nil }
    guard text.hasPrefix("bytes=") else { return nil }
    if let condition = request.headers["If-Range"] {
      let isStrong = condition.hasPrefix("\"") && condition == script.headers["ETag"]
      guard isStrong || condition == script.headers["Last-Modified"] else { return nil }
    }
    let ends = text.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard ends.count == 2, !text.contains(",") else { return nil }
    let count = script.plainCount
    var range: ClosedRange<Int>?
    if let suffix = Int(ends[1]), ends[0].isEmpty {
      if suffix > 0 && count > 0 { range = max(0, count - suffix)...count - 1 }
    } else {
      let last = ends[1].isEmpty ? Int.max : Int(ends[1])
      guard let first = Int(ends[0]), let last, first <= last else { return nil }
      if first < count { range = first...min(last, count - 1) }
    }
    var answer = script
    answer.reason = nil
    answer.headers.remove("Content-Length")
    if let range {
      answer.status = 206
      answer.headers.set("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound)/\(count)")
      answer.steps = cut(script.steps, to: range)
    } else {
      answer.status = 416
      answer.headers.set("Content-Range", "bytes */\(count)")
      answer.steps.removeAll(where: \.isBody)
    }
    return answer
  }

  /// The steps with only those body bytes; pauses and faults stay at their places.
  private static func cut(_ steps: [Script.Step], to range: ClosedRange<Int>) -> [Script.Step] {
    var start = 0
    return steps.compactMap { step in
      let end = start + step.plainCount
      defer { start = end }
      guard step.isBody else { return step }
      let from = max(start, range.lowerBound) - start
      let upTo = min(end, range.upperBound + 1) - start
      guard from < upTo else { return nil }
      switch step {
      case .bytes(let bytes): return .bytes(Array(bytes[from..<upTo]))
      case .fill(_, let byte): return .fill(count: upTo - from, byte: byte)
      case .drip(let bytes, let piece, let time):
        return .drip(Array(bytes[from..<upTo]), piece: piece, milliseconds: time)
      default: return step
      }
    }
  }
}

private let dayNames = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
private let monthNames = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

/// `Sun, 06 Nov 1994 08:49:37 GMT`, from seconds since 1970.
public func httpDate(_ seconds: Int) -> String {
  var time = time_t(seconds)
  var parts = tm()
  gmtime_r(&time, &parts)
  func two(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
  let clock = "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
  let day = dayNames[Int(parts.tm_wday)]
  return "\(day), \(two(parts.tm_mday)) \(monthNames[Int(parts.tm_mon)]) \(parts.tm_year + 1900) \(clock) GMT"
}

/// Seconds since 1970; nil for anything but the format that `httpDate` writes.
func parsedDate(_ text: String) -> Int? {
  let words = text.split(separator: " ")
  guard words.count == 6, words[5] == "GMT", let day = CInt(words[1]), let year = CInt(words[3]),
    let month = monthNames.firstIndex(of: String(words[2]))
  else { return nil }
  let clock = words[4].split(separator: ":").compactMap { CInt($0) }
  guard clock.count == 3, (1...9999).contains(year) else { return nil }
  var parts = tm()
  parts.tm_year = year - 1900
  parts.tm_mon = CInt(month)
  parts.tm_mday = day
  parts.tm_hour = clock[0]
  parts.tm_min = clock[1]
  parts.tm_sec = clock[2]
  return timegm(&parts)
}
