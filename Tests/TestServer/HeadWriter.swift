/// The bytes of an answer's head, and whether the connection outlives the answer.
struct HeadWriter {
  let script: Script
  let request: ReceivedRequest

  private var hasNoBody: Bool {
    request.method == "HEAD" || (100..<200).contains(script.status) || [204, 304].contains(script.status)
  }

  private var clientKeeps: Bool {
    if request.headers.lists("close", in: "Connection") { return false }
    return request.version != "HTTP/1.0" || request.headers.lists("keep-alive", in: "Connection")
  }

  private var isLengthRight: Bool {
    if hasNoBody { return true }
    if script.isChunked { return script.steps.contains { if case .lastChunk = $0 { true } else { false } } }
    let announced = script.headers.values(of: "Content-Length")
    return announced.isEmpty || announced == [String(script.plainCount)]
  }

  var keepsConnection: Bool {
    switch script.framing {
    case .keepOpen: true
    case .untilClose: false
    case .automatic:
      script.sendsHead && clientKeeps && script.version != "HTTP/1.0" && isLengthRight
        && !script.headers.lists("close", in: "Connection")
    }
  }

  /// With the computed fields behind the script's own.
  var bytes: [UInt8] {
    var headers = script.headers
    let isFramed = headers["Content-Length"] != nil || headers["Transfer-Encoding"] != nil
    if !isFramed && script.framing != .untilClose {
      if script.isChunked {
        headers.add("Transfer-Encoding", "chunked")
      } else if !hasNoBody || request.method == "HEAD" {
        headers.add("Content-Length", String(script.plainCount))
      }
    }
    if headers["Connection"] == nil {
      if script.framing == .untilClose || script.framing == .automatic && !clientKeeps {
        headers.add("Connection", "close")
      } else if request.version == "HTTP/1.0" && keepsConnection {
        headers.add("Connection", "keep-alive")
      }
    }
    let reason = script.reason ?? reasons[script.status] ?? "Status \(script.status)"
    return Array("\(script.version) \(script.status) \(reason)\r\n\(Self.fields(headers))\r\n".utf8)
  }

  static func fields(_ headers: HeaderLines) -> String {
    headers.lines.reduce(into: "") { $0 += "\($1.name): \($1.value)\r\n" }
  }
}
