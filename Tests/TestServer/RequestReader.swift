import Glibc

/// Reads requests from a connection: heads and bodies, with what came too early kept for the next.
struct RequestReader {
  /// Why there is no request.
  enum Failure: Error {
    /// The peer closed, reset or was cut off.
    case ended
    /// Not HTTP, or over a limit; the status to answer.
    case refused(Int)
  }

  static let headLimit = 1 << 20
  static let bodyLimit = 256 << 20

  let descriptor: CInt
  private var buffer: [UInt8] = []

  init(_ descriptor: CInt) { self.descriptor = descriptor }

  /// Whether bytes after the head have come already.
  var hasMore: Bool { !buffer.isEmpty }

  /// The next request's head, its body still unread.
  mutating func head() throws(Failure) -> ReceivedRequest {
    var line = try self.line(limit: Self.headLimit)
    while line.isEmpty { line = try self.line(limit: Self.headLimit) }
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, words[2].hasPrefix("HTTP/"), !words[1].isEmpty else { throw .refused(400) }
    var request = ReceivedRequest(
      method: String(words[0]), target: String(words[1]), version: String(words[2]), headers: [:])
    var left = Self.headLimit
    while true {
      let field = try self.line(limit: left)
      if field.isEmpty { return request }
      left -= field.utf8.count
      guard let colon = field.firstIndex(of: ":") else { throw .refused(400) }
      request.headers.add(String(field[..<colon]), trimmed(field[field.index(after: colon)...]))
    }
  }

  /// The body that the head announced, as far as it came.
  mutating func body(of request: ReceivedRequest) -> (bytes: [UInt8], failure: Failure?) {
    var body: [UInt8] = []
    do throws(Failure) {
      if request.headers.lists("chunked", in: "Transfer-Encoding") {
        try chunks(into: &body)
      } else if let text = request.headers["Content-Length"] {
        guard let count = Int(text), count >= 0 else { throw .refused(400) }
        guard count <= Self.bodyLimit else { throw .refused(413) }
        try take(count, into: &body)
      }
    } catch {
      return (body, error)
    }
    return (body, nil)
  }

  private mutating func chunks(into body: inout [UInt8]) throws(Failure) {
    while true {
      let size = try line(limit: 4096).prefix { $0 != ";" && $0 != " " }
      guard let count = Int(size, radix: 16), count >= 0, count <= Self.bodyLimit - body.count else {
        throw .refused(400)
      }
      if count == 0 { break }
      try take(count, into: &body)
      guard try line(limit: 2).isEmpty else { throw .refused(400) }
    }
    while try !line(limit: Self.headLimit).isEmpty {}
  }

  private mutating func take(_ count: Int, into body: inout [UInt8]) throws(Failure) {
    var left = count
    while true {
      let part = min(left, buffer.count)
      body += buffer[..<part]
      buffer.removeFirst(part)
      left -= part
      if left == 0 { return }
      try fill()
    }
  }

  /// A line without its CR LF or LF.
  private mutating func line(limit: Int) throws(Failure) -> String {
    var searched = 0
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        var line = buffer[..<end]
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        let text = String(decoding: line, as: UTF8.self)
        buffer.removeFirst(end + 1)
        return text
      }
      searched = buffer.count
      guard searched <= limit else { throw .refused(431) }
      try fill()
    }
  }

  private mutating func fill() throws(Failure) {
    guard receive(descriptor, into: &buffer) > 0 else { throw .ended }
  }
}
