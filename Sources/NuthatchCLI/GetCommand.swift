import NuthatchCore

/// `nuthatch get`: one URL, its bytes or a picture made from them, to files or standard output.
enum GetCommand: Command {
  static let name = "get"
  static let summary = "fetch one URL to a file or standard output"
  static let usage = "[OPTION…] URL"
  static let options = [
    Option(
      "output", letter: "o", value: "FILE",
      "write the body to FILE; - is standard output, the default; repeatable"),
    Option(
      "size", letter: "s", value: "N[xM]",
      "write a picture that fits a box of N by N or N by M pixels, never enlarged"),
    Option(
      "mode", value: "MODE", "with --size: fit inside the box, fill it and cut off the rest, or exact (fit)"),
    Option("enlarge", "with --size: make smaller pictures larger"),
    Option("quality", value: "best|fast", "with --size: how much is decoded before it is scaled down (best)"),
    Option("allow-truncated", "with --size: take what can be decoded of a damaged picture"),
    Option("max-pixels", value: "N", "with --size: most pixels of the source; N may end in K or M (100M)"),
    Option("header", letter: "H", value: "'K: V'", "send this header; repeatable"),
    Option("method", letter: "X", value: "METHOD", "the method (GET; POST with --data)"),
    Option(
      "data", letter: "d", value: "DATA",
      "send DATA as the body; @FILE reads it from FILE, @- from standard input"),
    Option("user", letter: "u", value: "NAME:PASSWORD", "sign in (Basic)"),
    Option("user-agent", value: "TEXT", "what the User-Agent header says (nuthatch/\(Version.string))"),
    Option("timeout", value: "SECONDS", "longest silence: connecting, waiting, between two bytes (30)"),
    Option("deadline", value: "SECONDS", "longest time for all of it (none)"),
    Option("max-bytes", value: "N", "largest body; N may end in K, M or G (64M)"),
    Option(
      "cache", value: "DIR",
      "the cache directory ($NUTHATCH_CACHE, $XDG_CACHE_HOME/nuthatch, ~/.cache/nuthatch)"),
  ]
  static let details = """
    A file gets its name only when it is complete; until then it does not exist or is the old one. When the server
    answers with a status of 400 or more, files stay untouched; standard output gets what the server said.

    With --size, FILE must end in .png, .jpg or .jpeg, and is written as that; standard output gets a PNG. JPEG and PNG
    are decoded; the picture is upright and sRGB.

    Exit status: 0 done; 4 not fetched, or a status of 400 or more; 2 wrong usage; 1 the cache can't be opened or a
    file can't be written; 130 and 143 interrupted; 141 standard output was closed.

    Examples:
      nuthatch get https://example.org/a.jpg -o a.jpg
      nuthatch get --size 256 https://example.org/a.jpg -o thumbnail.png
      nuthatch get --header 'Accept: application/json' https://example.org/api | less
      nuthatch get --data @form.json -H 'Content-Type: application/json' https://example.org/api

    """

  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    guard arguments.operands.count == 1 else {
      throw UsageError(
        "get: exactly one URL is needed, not \(arguments.operands.count). See 'nuthatch help get'.")
    }
    let options = try cacheOptions(arguments)
    let writer = try ResponseWriter(arguments)
    do {
      let request = try request(arguments, url: arguments.operands[0])
      let cache = try Cache(path: arguments.value("cache"), options: options)
      defer { cache.close() }
      return deliver(fetch(request, cache), to: writer)
    } catch let error as UsageError {
      throw error
    } catch let error as NuthatchError {
      return report(error, .failure)
    } catch {
      return .failure
    }
  }

  private static func cacheOptions(_ arguments: ParsedArguments) throws(UsageError) -> Cache.Options {
    var options = Cache.Options()
    if let limit = try arguments.limit("timeout") { options.timeout = limit }
    if let limit = try arguments.limit("deadline") { options.deadline = limit }
    if let bytes = try arguments.bytes("max-bytes") { options.maxBytes = bytes }
    if let agent = arguments.value("user-agent") { options.userAgent = agent }
    return options
  }

  private static func request(_ arguments: ParsedArguments, url: String) throws -> Request {
    var request = Request(url)
    request.delivery = .fresh
    request.headers = try arguments.headers("header")
    if arguments.has("size"), !request.headers.contains(where: { $0.name.lowercased() == "accept" }) {
      request.headers.append(("Accept", Cache.pictureAccept))
    }
    if let data = arguments.value("data") {
      request.method = "POST"
      request.body = data.hasPrefix("@") ? try InputFile.read(String(data.dropFirst())) : Array(data.utf8)
      if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
        request.headers.append(("Content-Type", "application/x-www-form-urlencoded"))
      }
    }
    if let method = arguments.value("method") { request.method = method }
    if let user = arguments.value("user") {
      let parts = user.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      request.user = (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
    }
    return request
  }

  private static func fetch(_ request: Request, _ cache: Cache) -> Result<Response, NuthatchError> {
    Interruption.watch()
    do throws(NuthatchError) {
      let ticket = try cache.submit(request)
      while true {
        // In slices, because a signal may come to any thread and can't wake this one by itself.
        if let event = try ticket.final(within: 50) { return event.result }
        if Interruption.signal != nil { ticket.cancel() }
      }
    } catch {
      return .failure(error)
    }
  }

  private static func deliver(_ outcome: Result<Response, NuthatchError>, to writer: ResponseWriter)
    -> ExitCode
  {
    switch outcome {
    case .failure(let error):
      if let code = Interruption.exitCode { return code }
      return report(error, error.code == .outOfMemory || error.code == .internal ? .failure : .notFetched)
    case .success(let response):
      let isError = response.status >= 400
      if isError {
        Terminal.complain("nuthatch: get: HTTP \(response.status) \(response.reason): \(response.finalURL)\n")
      }
      switch isError ? writer.writeErrorPage(response) : writer.write(response) {
      case .written: return isError ? .notFetched : .success
      case .notAPicture(let error): return report(error, .notFetched)
      case .notWritten(let error): return Interruption.exitCode ?? report(error, .failure)
      case .ended(let code): return code
      }
    }
  }

  private static func report(_ error: NuthatchError, _ code: ExitCode) -> ExitCode {
    Terminal.complain("nuthatch: get: \(error)\n")
    return code
  }
}
