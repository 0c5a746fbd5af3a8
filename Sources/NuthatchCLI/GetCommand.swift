import NuthatchCore

/// `nuthatch get`: one URL, its bytes to files or standard output.
enum GetCommand: Command {
  static let name = "get"
  static let summary = "fetch one URL to a file or standard output"
  static let usage = "[OPTION…] URL"
  static let options = [
    Option(
      "output", "o", value: "FILE", "write the body to FILE; - is standard output, the default; repeatable"),
    Option("header", "H", value: "'K: V'", "send this header; repeatable"),
    Option("method", "X", value: "METHOD", "the method (GET; POST with --data)"),
    Option(
      "data", "d", value: "DATA", "send DATA as the body; @FILE reads it from FILE, @- from standard input"),
    Option("user", "u", value: "NAME:PASSWORD", "sign in (Basic)"),
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

    Exit status: 0 done; 4 not fetched, or a status of 400 or more; 2 wrong usage; 1 the cache can't be opened or a
    file can't be written; 130 and 143 interrupted; 141 standard output was closed.

    Examples:
      nuthatch get https://example.org/a.jpg -o a.jpg
      nuthatch get --header 'Accept: application/json' https://example.org/api | less
      nuthatch get --data @form.json -H 'Content-Type: application/json' https://example.org/api

    """

  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    guard arguments.operands.count == 1 else {
      throw UsageError(
        "get: exactly one URL is needed, not \(arguments.operands.count). See 'nuthatch help get'.")
    }
    let options = try cacheOptions(arguments)
    do {
      let request = try request(arguments, url: arguments.operands[0])
      let cache = try Cache(path: arguments.value("cache"), options: options)
      defer { cache.close() }
      return deliver(fetch(request, cache), to: arguments.values("output"))
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
    request.headers = try arguments.headers("header")
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
        if let event = try ticket.next(within: 50) { return event.result }
        if Interruption.signal != nil { ticket.cancel() }
      }
    } catch {
      return .failure(error)
    }
  }

  private static func deliver(_ outcome: Result<Response, NuthatchError>, to files: [String]) -> ExitCode {
    switch outcome {
    case .failure(let error):
      if let code = Interruption.exitCode { return code }
      return report(error, error.code == .outOfMemory || error.code == .internal ? .failure : .notFetched)
    case .success(let response):
      let isError = response.status >= 400
      if isError {
        Terminal.complain("nuthatch: get: HTTP \(response.status) \(response.reason): \(response.url)\n")
      }
      let wanted = files.isEmpty ? ["-"] : files
      for file in isError ? wanted.filter({ $0 == "-" }) : wanted {
        if let code = write(response, to: file) { return code }
      }
      return isError ? .notFetched : .success
    }
  }

  /// The exit code when it failed.
  private static func write(_ response: Response, to file: String) -> ExitCode? {
    response.withBody { (body) -> ExitCode? in
      if file == "-" { return Terminal.write(body) ? nil : .closedPipe }
      do throws(NuthatchError) {
        try OutputFile.write(body, to: file)
        return nil
      } catch {
        return report(error, .failure)
      }
    }
  }

  private static func report(_ error: NuthatchError, _ code: ExitCode) -> ExitCode {
    Terminal.complain("nuthatch: get: \(error)\n")
    return code
  }
}
