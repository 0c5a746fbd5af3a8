/// The status line and the header fields of an answer.
package struct ResponseHead: Sendable, Equatable {
  package var status: Int
  /// The reason phrase, with control characters escaped.
  package var reason: String
  package var fields = HeaderFields()

  package init(status: Int, reason: String = "", fields: HeaderFields = HeaderFields()) {
    self.status = status
    self.reason = reason
    self.fields = fields
  }

  /// Returns the announced length, or nil if there is none.
  ///
  /// Throws if there are two different lengths, although libcurl accepts them: the end of the answer is unknown. They may be an
  /// attack on programs that share the connection (request smuggling).
  package func contentLength() throws(HeaderFault) -> Int64? {
    var announced: Int64?
    for value in fields.values("Content-Length") {
      if announced == nil, value.utf8.allSatisfy(\.isDigit), let length = Int64(value) {
        announced = length
        continue
      }
      for part in value.split(separator: ",", omittingEmptySubsequences: false) {
        let digits = part.filter { $0 != " " && $0 != "\t" }
        guard digits.utf8.allSatisfy(\.isDigit), let length = Int64(digits) else {
          throw HeaderFault("Content-Length \(value.quotedForMessage) is not a length")
        }
        guard announced == nil || announced == length else {
          throw HeaderFault(
            "the answer has two different Content-Length values, \(announced ?? 0) and \(length)")
        }
        announced = length
      }
    }
    return announced
  }

  /// The `Location` of a redirect that the client must follow. Nil if it is empty.
  package var redirection: String? {
    guard [301, 302, 303, 307, 308].contains(status), let location = fields["Location"] else { return nil }
    return location.isEmpty ? nil : location
  }

  /// Returns whether a body may follow, regardless of an announced length (RFC 9110, 6.4.1).
  package func mayHaveBody(method: String) -> Bool {
    method != "HEAD" && status >= 200 && status != 204 && status != 304 || status == 101
  }
}

/// Parses heads from the lines of a connection, including interim (1xx) answers.
package struct ResponseHeadParser: Sendable {
  package enum Step: Equatable, Sendable {
    case more
    /// A 1xx answer; the final one follows.
    case interim(ResponseHead)
    case head(ResponseHead)
    /// A field after the body, not part of the head.
    case trailer
  }

  private var current: ResponseHead?
  private var isComplete = false
  private var bytes = 0
  private var lines = 0

  package init() {}

  /// Parses one line including its line break.
  package mutating func take(_ line: UnsafeRawBufferPointer) throws(HeaderFault) -> Step {
    bytes += line.count
    if line.count > 2 { lines += 1 }
    guard bytes <= HeaderFields.mostBytes else {
      throw HeaderFault("the headers of the answer have more than \(HeaderFields.mostBytes) bytes, the limit")
    }
    guard lines <= HeaderFields.mostLines else {
      throw HeaderFault("the answer has more than \(HeaderFields.mostLines) header lines, the limit")
    }
    // Only the first line of a head is a status line. A later line that looks like one is an attempt to fake one.
    let isFirst = isComplete ? current.map(Self.isInterim) ?? true : current == nil
    if isFirst, line.starts(with: "HTTP/".utf8) {
      current = Self.statusLine(line)
      isComplete = false
      return .more
    }
    if isComplete { return .trailer }
    guard var head = current else {
      throw HeaderFault("the server sent a header line before the status line")
    }
    if line.allSatisfy({ $0 == 0x0d || $0 == 0x0a }) { return finish(head) }
    current = nil  // a second reference would copy all fields at each line
    if line.first == 0x20 || line.first == 0x09 {
      head.fields.fold(Self.text(line[...]))
    } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
      head.fields.append(Self.text(line[..<colon]), Self.text(line[(colon + 1)...]))
    }
    current = head
    return .more
  }

  private mutating func finish(_ head: ResponseHead) -> Step {
    isComplete = true
    return Self.isInterim(head) ? .interim(head) : .head(head)
  }

  /// 101 ends HTTP on the connection, so it is a final answer.
  private static func isInterim(_ head: ResponseHead) -> Bool {
    (100..<200).contains(head.status) && head.status != 101
  }

  /// Decodes UTF-8 if it is valid, else Latin-1, the original encoding of header fields.
  private static func text(_ line: Slice<UnsafeRawBufferPointer>) -> String {
    // Trim bytes and decode one buffer: several times faster than decoding a slice.
    var bytes = UnsafeRawBufferPointer(rebasing: line).bindMemory(to: UInt8.self)[...]
    while let last = bytes.last, last == 0x20 || last == 0x09 || last == 0x0d || last == 0x0a {
      bytes.removeLast()
    }
    while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
    let piece = UnsafeBufferPointer(rebasing: bytes)
    if piece.allSatisfy({ $0 < 0x80 }) { return String(decoding: piece, as: UTF8.self) }
    if let text = String(validating: piece, as: UTF8.self) { return text }
    var text = ""
    for byte in bytes { text.unicodeScalars.append(Unicode.Scalar(byte)) }
    return text
  }

  private static func statusLine(_ line: UnsafeRawBufferPointer) -> ResponseHead {
    // The usual form, "HTTP/1.1 200 OK".
    if line.count > 13, line[8] == 0x20, line[12] == 0x20, line[9..<12].allSatisfy(\.isDigit),
      line[13...].allSatisfy({ ($0 >= 0x20 && $0 < 0x7f) || $0 == 0x0d || $0 == 0x0a })
    {
      let status = line[9..<12].reduce(0) { 10 * $0 + Int($1 - UInt8(ascii: "0")) }
      var head = ResponseHead(status: status, reason: text(line[13...]))
      head.fields.reserveCapacity(16)
      return head
    }
    let text = String(decoding: line.prefix { $0 != 0x0d && $0 != 0x0a }, as: UTF8.self)
    let parts = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true)
    return ResponseHead(
      status: parts.count > 1 ? Int(parts[1]) ?? 0 : 0,
      reason: parts.count > 2 ? String(parts[2]).printable : "")
  }
}
