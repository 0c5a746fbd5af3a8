import NuthatchCore

/// Options of the command's own that several commands have.
enum CommonOptions {
  static let cache = Option(
    "cache", value: "DIR",
    "the cache directory ($NUTHATCH_CACHE, $XDG_CACHE_HOME/nuthatch, ~/.cache/nuthatch)")

  /// How much is said.
  static let words = [
    Option(
      "progress", value: "auto|always|never|plain",
      "progress on standard error; auto: on a terminal; plain: a line every 5 s (auto)"),
    Option("quiet", letter: "q", "say nothing but errors"),
    Option("verbose", letter: "v", "say of each URL how it ended"),
  ]

  /// How a list is read.
  static let list = [
    Option(
      "input", value: "FORMAT", "auto, lines, csv, tsv or jsonl; also in gzip, zstd or xz (auto)",
      words: ["auto", "lines", "csv", "tsv", "jsonl"]),
    Option(
      "url-field", value: "NAME",
      "the column, by name or number, or the JSON field with the URL, such as a.b (url)"),
  ]
}

extension [Option] {
  /// As commands have them that read lists.
  var forList: [Option] {
    changing("user") {
      $0.value = "NAME:PASSWORD[@HOST]"
      $0.help = "at HOST: host, host:port or https://host; without, at the one origin of the list"
    }.changing("size") { $0.help = "the boxes of the thumbnails that are wanted, at most 64 (256)" }
  }
}

/// How much a command says besides its answers and its errors.
enum Wordiness {
  case quiet, usual, verbose
}

extension ParsedArguments {
  var wordiness: Wordiness {
    get throws(UsageError) {
      guard !has("quiet") || !has("verbose") else {
        throw UsageError("--quiet and --verbose exclude each other")
      }
      return has("quiet") ? .quiet : has("verbose") ? .verbose : .usual
    }
  }

  var progress: ProgressLine.Form {
    get throws(UsageError) { try word("progress", [.auto, .always, .never, .plain]) ?? .auto }
  }

  var input: URLList.Format {
    get throws(UsageError) { try word("input", [.auto, .lines, .csv, .tsv, .jsonl]) ?? .auto }
  }

  /// What the option's word stands for.
  ///
  /// - Parameter values: in the order of its words.
  func word<Value>(_ name: String, _ values: [Value]) throws(UsageError) -> Value? {
    guard let given = last(name) else { return nil }
    return try given.word(values)
  }
}
