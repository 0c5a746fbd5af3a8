import NuthatchCore

/// Options of the commands that inspect a cache.
enum InspectionOptions {
  static let format = Option("format", value: "text|json", "write text or JSON (text)")

  /// For commands that write several items.
  static let formats = Option(
    "format", value: "text|json|jsonl", "write text, a JSON array, or one JSON object a line (text)")

  enum Format {
    case text, json, jsonl
  }

  static let exits = """
    Exit status: 0 done; 1 the cache can't be opened, read or written; 2 wrong usage; 141 standard output was closed.
    """
}

extension ParsedArguments {
  var wantsJSON: Bool {
    get throws(UsageError) { try word("format", [false, true]) ?? false }
  }

  var format: InspectionOptions.Format {
    get throws(UsageError) { try word("format", [.text, .json, .jsonl]) ?? .text }
  }

  func noOperands(_ command: String) throws(UsageError) {
    guard operands.isEmpty else {
      throw UsageError("\(command): it takes no arguments. See 'nuthatch help \(command)'.")
    }
  }

  /// Opens the cache and runs `body`. If the cache or `body` fails, prints the error and returns its exit code.
  ///
  /// - Parameter sends: whether requests of the outbox are sent meanwhile.
  func withCache(
    _ command: String, sends: Bool = false, _ body: (Cache) throws -> ExitCode
  ) throws(UsageError) -> ExitCode {
    var options = try said().cache
    if sends { options.outbox = .auto }
    do {
      try CacheDirectory.refuseOthers(cachePath)
      let cache = try Cache(path: cachePath, options: options)
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
