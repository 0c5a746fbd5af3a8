/// Paths that answer without a script, for use with curl and the demo.
public enum BuiltinPaths {
  /// One line a path.
  public static let help = """
    /status/N                         that status, with a short body
    /bytes/N                          N bytes, with ETag and ranges
    /png/W/H?seed=S                   a PNG picture, with ETag and ranges
    /echo                             the request as JSON
    /headers?NAME=VALUE&...           200 with those header fields
    /huge-headers/N                   a header of at least N bytes
    /redirect/N?status=S              N redirects, then 200
    /redirect-loop                    redirects to itself
    /redirect-to?url=URL&status=S     redirects there (302)
    /etag/TAG, /last-modified/N       validators (N seconds since 1970), 304 when they match
    /basic-auth/USER/PASSWORD         401 without them
    /delay/MS                         waits before the head
    /slow-headers?ms=MS               the head byte by byte, MS (default 100) between them
    /slow-body?ms=MS&count=N          N bytes (default 100), one every MS (default 100)
    /truncated?announced=A&sent=S     announces A (default 1000) bytes, sends S (default 10)
    /chunked?count=C&size=S           C chunks (default 3) of S (default 100) bytes
    /cut-chunks, /bad-chunk           chunks without an end; with a bad size
    /until-close/N                    N bytes, no length, ended by closing
    /two-lengths                      two different Content-Length fields
    /reset?after=nothing|head|body    a TCP reset
    /not-http                         an answer that isn't HTTP
    /early-hints                      103, then 200
    /gzip/N, /bomb/N                  N bytes in gzip; N zeros in gzip, packed 1:159
    /cut-gzip/N                       the first half of N bytes in gzip, with that half's Content-Length
    """

  static func script(for request: ReceivedRequest) -> Script? {
    let words = request.path.split(separator: "/").map { percentDecoded($0) }
    guard let name = words.first else { return nil }
    let number = words.count > 1 ? Int(words[1]).map { max(0, min($0, 1 << 30)) } : nil
    if let number, let script = sized(name, number, words, request) { return script }
    return words.count == 1 ? plain(name, request) : worded(name, words, request)
  }

  private static func option(_ name: String, _ standard: Int, _ request: ReceivedRequest) -> Int {
    max(0, min(request.queryValue(name).flatMap { Int($0) } ?? standard, 1 << 30))
  }

  private static func sized(
    _ name: String, _ count: Int, _ words: [String], _ request: ReceivedRequest
  ) -> Script? {
    let gzipHeaders: HeaderLines = ["Content-Type": "text/plain", "Content-Encoding": "gzip"]
    switch name {
    case "status": return .status(count, body: (200..<600).contains(count) ? "status \(count)\n" : "")
    case "bytes":
      return Script(steps: [.fill(count: count, byte: 120)]).withValidators(etag: "\"\(count)\"").withRanges()
    case "png":
      guard words.count == 3, let height = Int(words[2]), count * height <= 1 << 24, count * height > 0 else {
        return nil
      }
      let seed = option("seed", 0, request)
      return Script.ok(Pictures.png(width: count, height: height, seed: seed), type: "image/png")
        .withValidators(etag: "\"\(count)-\(height)-\(seed)\"").withRanges()
    case "huge-headers":
      let lines = stride(from: 0, to: count, by: 1000).map {
        HeaderLines.Line("X-Filler-\($0 / 1000)", String(repeating: "x", count: min(1000, count - $0)))
      }
      return Script(headers: HeaderLines(lines), steps: [.text("ok\n")])
    case "redirect":
      if count == 0 { return .ok("ok\n") }
      let status = option("status", 302, request)
      return .redirect(to: "/redirect/\(count - 1)?status=\(status)", status: status)
    case "last-modified": return Script.ok("ok\n").withValidators(lastModified: httpDate(count))
    case "delay": return Script.ok("ok\n").after(.pause(milliseconds: count))
    case "until-close":
      return Script(steps: [.fill(count: count, byte: 120)], framing: .untilClose)
    case "gzip", "cut-gzip":
      let packed = Gzip.packed([UInt8](repeating: 120, count: count))
      let sent = name == "gzip" ? packed : Array(packed.prefix(packed.count / 2))
      return Script(headers: gzipHeaders, steps: [.bytes(sent)])
    case "bomb": return Script(headers: gzipHeaders, steps: [.bytes(Gzip.bomb(zeros: count))])
    default: return nil
    }
  }

  private static func worded(_ name: String, _ words: [String], _ request: ReceivedRequest) -> Script? {
    switch name {
    case "etag": return Script.ok("ok\n").withValidators(etag: "\"\(words[1])\"")
    case "basic-auth":
      guard words.count == 3 else { return nil }
      let wanted = "Basic " + encodedBase64(Array("\(words[1]):\(words[2])".utf8))
      if request.headers["Authorization"] == wanted { return .ok("welcome\n") }
      return .status(401, headers: ["WWW-Authenticate": "Basic realm=\"test\""], body: "who are you?\n")
    default: return nil
    }
  }

  private static func plain(_ name: String, _ request: ReceivedRequest) -> Script? {
    let pause = option("ms", 100, request)
    switch name {
    case "echo": return Answers.echo(request)
    case "headers": return Script(headers: queryHeaders(request), steps: [.text("ok\n")])
    case "redirect-loop": return .redirect(to: "/redirect-loop")
    case "redirect-to":
      return .redirect(to: request.queryValue("url") ?? "/", status: option("status", 302, request))
    case "slow-headers": return Script(steps: [.dripHead(piece: 1, milliseconds: pause), .text("ok\n")])
    case "slow-body":
      let bytes = [UInt8](repeating: 120, count: option("count", 100, request))
      return Script(steps: [.drip(bytes, piece: 1, milliseconds: pause)])
    case "truncated":
      let sent = [UInt8](repeating: 120, count: option("sent", 10, request))
      return .truncated(announced: option("announced", 1000, request), sent: sent)
    case "chunked":
      let chunk = [UInt8](repeating: 120, count: max(1, option("size", 100, request)))
      return .chunked([[UInt8]](repeating: chunk, count: option("count", 3, request)))
    case "cut-chunks": return Script(steps: [.chunk(text: "one"), .chunk(text: "two")])
    case "bad-chunk": return Script(steps: [.chunk(text: "one"), .badChunk(text: "zz\r\ntwo\r\n")])
    case "two-lengths":
      return Script(headers: ["Content-Length": "3", "Content-Length": "5"], steps: [.text("three")])
    case "reset":
      switch request.queryValue("after") ?? "nothing" {
      case "head": return Script(headers: ["Content-Length": "1000"], steps: [.head, .reset])
      case "body": return Script(headers: ["Content-Length": "1000"], steps: [.text("some"), .reset])
      default: return Script(steps: [.reset])
      }
    case "not-http": return .raw("220 ready for mail\r\n")
    case "early-hints":
      return Script.ok("ok\n").after(.interim(103, ["Link": "</a.css>; rel=preload; as=style"]))
    default: return nil
    }
  }

  private static func queryHeaders(_ request: ReceivedRequest) -> HeaderLines {
    HeaderLines(
      request.query.split(separator: "&").map { field in
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return HeaderLines.Line(percentDecoded(parts[0]), parts.count > 1 ? percentDecoded(parts[1]) : "")
      })
  }
}
