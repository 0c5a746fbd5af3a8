/// The answers that tests ask for most.
extension Script {
  /// 200 with a body and, unless nil, a Content-Type.
  public static func ok(_ bytes: [UInt8], type: String? = nil) -> Script {
    var script = Script(steps: [.bytes(bytes)])
    if let type { script.headers.add("Content-Type", type) }
    return script
  }

  /// 200 with text, `text/plain` by default.
  public static func ok(_ text: String, type: String? = "text/plain; charset=utf-8") -> Script {
    ok(Array(text.utf8), type: type)
  }

  /// A status with optional fields and body.
  public static func status(_ status: Int, headers: HeaderLines = [:], body: String = "") -> Script {
    Script(status: status, headers: headers, steps: body.isEmpty ? [] : [.text(body)])
  }

  /// A redirect, 302 by default.
  public static func redirect(to location: String, status: Int = 302) -> Script {
    Script(status: status, headers: ["Location": location])
  }

  /// A body of which only a part is sent before the connection is closed.
  public static func truncated(announced: Int, sent: [UInt8], type: String? = nil) -> Script {
    var script = Script.ok(sent, type: type)
    script.headers.add("Content-Length", String(announced))
    return script
  }

  /// A chunked body, whole.
  public static func chunked(_ chunks: [[UInt8]], trailers: HeaderLines = [:]) -> Script {
    Script(steps: chunks.map { .chunk($0) } + [.lastChunk(trailers)])
  }

  /// No head of the server's making: only what the steps send; then the connection is closed.
  public static func raw(_ steps: [Step]) -> Script {
    Script(steps: steps, sendsHead: false)
  }

  /// No head: this text as it is; then the connection is closed.
  public static func raw(_ text: String) -> Script { raw([.raw(text: text)]) }

  /// With ETag, Last-Modified or both (nil: without), answering 304 to conditional requests that match.
  public func withValidators(etag: String? = nil, lastModified: String? = nil) -> Script {
    var script = self
    if let etag { script.headers.set("ETag", etag) }
    if let lastModified { script.headers.set("Last-Modified", lastModified) }
    script.answersConditions = true
    return script
  }

  /// Answering Range requests with 206 or 416.
  public func withRanges() -> Script {
    var script = self
    script.headers.set("Accept-Ranges", "bytes")
    script.answersRanges = true
    return script
  }

  /// With one more header field.
  public func with(_ name: String, _ value: String) -> Script {
    var script = self
    script.headers.add(name, value)
    return script
  }

  /// With steps before all others, for example a pause before the head.
  public func after(_ first: Step...) -> Script {
    var script = self
    script.steps = first + steps
    return script
  }
}

let reasons: [Int: String] = [
  100: "Continue", 101: "Switching Protocols", 102: "Processing", 103: "Early Hints", 200: "OK",
  201: "Created",
  202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content", 206: "Partial Content",
  300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
  307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized",
  403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout", 410: "Gone",
  412: "Precondition Failed", 413: "Content Too Large", 416: "Range Not Satisfiable",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large", 500: "Internal Server Error", 501: "Not Implemented",
  502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
]
