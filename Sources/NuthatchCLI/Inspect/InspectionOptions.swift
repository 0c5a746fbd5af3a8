import NuthatchCore

/// What the commands have in common that look at what a cache holds.
enum InspectionOptions {
  static let format = Option("format", value: "text|json", "for people; or as JSON (text)")

  /// Of several things.
  static let formats = Option(
    "format", value: "FORMAT", "text, for people; json, a list; or jsonl, an object a line (text)")

  enum Format {
    case text, json, jsonl
  }

  /// Whose answer is meant.
  static let names = [
    FetchOptions.user,
    Option(
      "header", letter: "H", value: "'K: V'",
      "as sent with the request: credentials take part in the name; repeatable"),
    Option("partition", value: "NAME", "whose answers are meant, instead of the credentials sent"),
    Option("proxy", value: "URL", "the proxy that it came through, where --proxy named one"),
    Option("ignore-query", "kept under the URL without its query"),
    Option("cache-key", value: "TEXT", "kept under TEXT, in which {} stands for the URL without its query"),
  ]

  static let exits = """
    Exit status: 0 done; 1 the cache can't be opened, read or written; 2 wrong usage; 141 standard output was closed.
    """
}

extension ParsedArguments {
  var wantsJSON: Bool {
    get throws(UsageError) { try choice("format", ["text": false, "json": true]) ?? false }
  }

  var format: InspectionOptions.Format {
    get throws(UsageError) {
      try choice("format", ["text": .text, "json": .json, "jsonl": .jsonl]) ?? .text
    }
  }

  func noOperands(_ command: String) throws(UsageError) {
    guard operands.isEmpty else {
      throw UsageError("\(command): it takes no arguments. See 'nuthatch help \(command)'.")
    }
  }

  /// The request for a URL as `InspectionOptions.names` have it.
  func namedRequest(_ url: String) throws(UsageError) -> Request {
    var request = Request(url)
    request.headers = try headers("header")
    request.ignoreQuery = has("ignore-query")
    request.cacheKey = cacheKey?.key(for: url)
    if let user { request.user = user }
    request.delivery = .fresh
    return request
  }

  /// Opens the cache, does something with it, and says what kept it from that.
  ///
  /// - Parameter sends: whether what waits in the outbox is sent meanwhile.
  func withCache(
    _ command: String, sends: Bool = false, _ body: (Cache) throws -> ExitCode
  ) throws(UsageError) -> ExitCode {
    var options = try cacheOptions()
    if sends { options.outbox = .auto }
    do {
      try CacheDirectory.refuseOthers(value("cache"))
      let cache = try Cache(path: value("cache"), options: options)
      defer { cache.close() }
      return try body(cache)
    } catch let error as UsageError {
      throw error
    } catch let error as NuthatchError {
      Terminal.complain("nuthatch: \(command): \(error)\n")
      return [.badURL, .badHeader, .invalid].contains(error.code) ? .usage : .failure
    } catch {
      return .failure
    }
  }
}
