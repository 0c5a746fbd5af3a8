/// An option that config files may have.
package struct ConfigRow: Sendable {
  /// The kind of the value, as in options.toml.
  package enum Kind: Sendable {
    case duration, bytes, count, share, rate, flag, words, text, path, secret, headers, names
    /// Only here: an array of texts.
    case command
  }

  /// The name in files: the library's name of the option.
  package let name: String
  package let kind: Kind
  /// The levels at which files can set it: cache and process at the top, site in sections for hosts.
  let levels: [OptionLevel]
  /// The allowed values, for messages.
  let range: String
  let words: [String]
  /// Other names that users may take for this one: those of the command.
  let names: [String]
  /// The default, for people.
  package let usual: String
  /// An option that must stand in the same section.
  let needs: String?
  /// Whether the program has set the option. Then the file's value doesn't count.
  let isSet: @Sendable (Options) -> Bool
  let take: @Sendable (inout ConfigDraft, WrittenValue) throws(NuthatchError) -> Void

  init(
    _ name: String, _ kind: Kind, levels: [OptionLevel], range: String, words: [String], names: [String],
    usual: String, needs: String? = nil, isSet: @escaping @Sendable (Options) -> Bool,
    take: @escaping @Sendable (inout ConfigDraft, WrittenValue) throws(NuthatchError) -> Void
  ) {
    (self.name, self.kind, self.levels, self.range) = (name, kind, levels, range)
    (self.words, self.names, self.usual, self.needs) = (words, names, usual, needs)
    (self.isSet, self.take) = (isSet, take)
  }

  /// Whether the option stands at the top of a file.
  package var isWide: Bool { levels.contains(.cache) || levels.contains(.process) }

  /// Whether it is an option of the command that signs in, which only files have.
  package var isOfSignIn: Bool { kind == .command || needs == "auth_command" }

  /// `ca_file` and `ca_dir` are one choice: either one replaces both of what it overrides.
  package var isOfTrust: Bool { ["ca_file", "ca_dir"].contains(name) }

  var isOfProcess: Bool { levels.contains(.process) }

  /// Whether the option stands in sections for hosts.
  var isOfHosts: Bool { levels.contains(.site) }

  func isHere(host: String?) -> Bool { host == nil ? isWide : isOfHosts }
}

extension ConfigRows {
  package static let all: [ConfigRow] = [cache] + ofTable.map(\.inSections) + [command, lifetime, timeLimit]

  /// The cache's directory, which is no option of the library but an argument.
  static let cache = ConfigRow(
    "cache", .path, levels: [.cache], range: "a path", words: [], names: [], usual: "",
    isSet: { _ in false }
  ) { (draft, value) throws(NuthatchError) in
    draft.cache = try value.filled()
  }

  // MARK: Only in sections

  private static let command = ConfigRow(
    "auth_command", .command, levels: [.site], range: "an array of texts: a program and its arguments",
    words: [], names: ["auth", "auth-command", "credential_helper"], usual: "", isSet: { _ in false }
  ) { (draft, value) throws(NuthatchError) in
    draft.command = try SignInCommand.words(value)
  }

  private static let lifetime = ConfigRow(
    "auth_lifetime", .duration, levels: [.site], range: "1s to 1d", words: [],
    names: ["auth-lifetime"], usual: "5m", needs: "auth_command", isSet: { _ in false }
  ) { (draft, value) throws(NuthatchError) in
    draft.commandLifetime = try value.milliseconds(1000, 86_400_000)
  }

  private static let timeLimit = ConfigRow(
    "auth_timeout", .duration, levels: [.site], range: "100ms to 10m", words: [],
    names: ["auth-timeout"], usual: "30s", needs: "auth_command", isSet: { _ in false }
  ) { (draft, value) throws(NuthatchError) in
    draft.commandTime = try value.milliseconds(100, 600_000)
  }
}

extension ConfigRow {
  /// `rate` is an option of the process, and a file can also set it for a host.
  fileprivate var inSections: ConfigRow {
    guard name == "rate" else { return self }
    return ConfigRow(
      name, kind, levels: levels + [.site], range: range, words: words, names: names, usual: usual,
      isSet: isSet, take: take)
  }
}

/// The options of a file or a section, while they are read.
struct ConfigDraft {
  var options = Options()
  var cache: String?
  // A certificate consists of several options, in any order.
  var cert: String?
  var certKey: String?
  var certPassword: String?
  var command: [String] = []
  /// In milliseconds.
  var commandLifetime: Int64 = 300_000
  var commandTime: Int64 = 30_000

  /// The options of a site.
  var ofSite: Options {
    var options = options
    options.rate = nil
    if let cert { options.cert = ClientCertificate(cert, key: certKey, password: certPassword) }
    return options
  }
}
