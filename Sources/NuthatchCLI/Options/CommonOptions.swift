import NuthatchCore

/// Options that are not the library's, and that several commands have.
enum CommonOptions {
  static let cache = Option(
    "cache", value: "DIR",
    "the cache directory ($NUTHATCH_CACHE, $XDG_CACHE_HOME/nuthatch, ~/.cache/nuthatch)")

  /// Options of all commands that open a cache.
  static let files = [
    Option(
      "config", value: "FILE",
      "read options from this file, not from ~/.config/nuthatch/config.toml and /etc/nuthatch/config.toml"),
    Option("no-config", "read no config file"),
  ]

  /// Options for the amount of output.
  static let words = [
    Option(
      "progress", value: "auto|always|never|plain",
      "show progress on standard error; auto: on a terminal; plain: a line every 5 s (auto)"),
    Option("quiet", letter: "q", "print errors only"),
    Option("verbose", letter: "v", "print the outcome of each URL"),
  ]

  /// Options for reading a list.
  static let list = [
    Option(
      "input", value: "FORMAT", "auto, lines, csv, tsv or jsonl; also compressed by gzip, zstd or xz (auto)",
      words: ["auto", "lines", "csv", "tsv", "jsonl"]),
    Option(
      "url-field", value: "NAME",
      "the column, by name or number, or the JSON field with the URL, such as a.b (url)"),
  ]
}

extension [Option] {
  /// Returns the options with the changes that commands with lists need.
  var forList: [Option] {
    changing("user") {
      $0.value = "NAME:PASSWORD[@HOST]"
      $0.help =
        "sign in at HOST: host, host:port or https://host; without HOST, at the one origin of the list"
    }.changing("size") { $0.help = "make thumbnails that fit these boxes, at most 64 of them (256)" }
  }
}

/// How much a command prints besides answers and errors.
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

  /// Returns the value that the option's word stands for, or nil if the option is not given.
  ///
  /// - Parameter values: one for each word of the option, in the same order.
  func word<Value>(_ name: String, _ values: [Value]) throws(UsageError) -> Value? {
    guard let given = last(name) else { return nil }
    return try given.word(values)
  }
}
