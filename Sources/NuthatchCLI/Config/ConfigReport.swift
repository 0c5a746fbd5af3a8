import NuthatchBase
import NuthatchCore

/// What holds, and where it comes from.
enum ConfigReport {
  enum Source {
    case commandLine, environment, user, system, named, usual

    var word: String {
      switch self {
      case .commandLine: "command line"
      case .environment: "environment"
      case .user: "user"
      case .system: "system"
      case .named: "file"
      case .usual: "default"
      }
    }
  }

  struct Value {
    let name: String
    var host: String?
    /// Without secrets. nil: none.
    var value: String?
    let source: Source
    var variable: String?
    var setting: ConfigSetting?

    /// For people. Control characters would change the terminal.
    var shown: String {
      guard let value else { return "-" }
      return value.isEmpty ? "\"\"" : value.printable
    }

    /// The source for people.
    var origin: String {
      if let setting { return "\(setting.file.path.printable):\(setting.place.line)" }
      return source.word + (variable.map { " ($\($0))" } ?? "")
    }
  }

  /// Returns the options of all hosts in the order of the table, then those of sections.
  ///
  /// - Parameter line: the options of the command line alone.
  static func values(_ arguments: ParsedArguments, under line: ParsedOptions) -> [Value] {
    var options = line.cache
    options.headers = line.request.headers
    let settings = effective(
      arguments.settings.filter { $0.counts(under: options, process: line.process) })
    var values = [cache(arguments)]
    for row in ConfigRows.all where row.isWide && row.name != CommonOptions.cache.name {
      let own = settings.filter { $0.name == row.name && $0.host == nil }
      values += self.values(of: row, arguments.given(row: row.name), own, options)
    }
    var hosts: [String] = []
    for case let host? in settings.map(\.host) where !hosts.contains(host) { hosts.append(host) }
    return values + hosts.flatMap { host in settings.filter { $0.host == host }.map(value) }
  }

  private static func cache(_ arguments: ParsedArguments) -> Value {
    let name = CommonOptions.cache.name
    if let path = arguments.value(name) { return Value(name: name, value: path, source: .commandLine) }
    if let variable = Config.variable(for: name) {
      return Value(
        name: name, value: Environment.variable(variable), source: .environment, variable: variable)
    }
    if let setting = arguments.settings.last(where: { $0.name == name }) { return value(setting) }
    return Value(name: name, value: CacheDirectory.usual, source: .usual)
  }

  private static func values(
    of row: ConfigRow, _ given: [OptionText], _ settings: [ConfigSetting], _ line: Options
  ) -> [Value] {
    if row.kind == .headers {
      let values =
        given.map {
          Value(name: row.name, value: ConfigSetting.shown($0.text, of: row), source: .commandLine)
        } + settings.map(value)
      return values.isEmpty ? [Value(name: row.name, value: nil, source: .usual)] : values
    }
    if let last = given.last {
      let text = last.option.value == nil && last.text.isEmpty && row.kind == .flag ? "true" : last.text
      return [Value(name: row.name, value: ConfigSetting.shown(text, of: row), source: .commandLine)]
    }
    // A file of certificates leaves no folder of certificates, and the other way round.
    if row.isOfTrust, line.namesTrust { return [Value(name: row.name, value: nil, source: .commandLine)] }
    if let variable = Config.variable(for: row.name) {
      let isOther = (row.name == "ca_dir") != (variable == "SSL_CERT_DIR") && row.name != "proxy"
      let text = isOther ? nil : Environment.variable(variable).map { ConfigSetting.shown($0, of: row) }
      return [Value(name: row.name, value: text, source: .environment, variable: variable)]
    }
    if let setting = settings.last { return [value(setting)] }
    let isNone = ["none", "nothing"].contains(row.usual)
    return [Value(name: row.name, value: isNone ? nil : row.usual, source: .usual)]
  }

  /// Leaves out settings of the system's file that the user's file replaces.
  private static func effective(_ settings: [ConfigSetting]) -> [ConfigSetting] {
    func isSame(_ one: ConfigSetting, _ other: ConfigSetting) -> Bool {
      guard one.host == other.host else { return false }
      return one.row.isOfTrust && other.row.isOfTrust || one.signsIn && other.signsIn
        || one.name == other.name && (!one.isHeader || one.header == other.header)
    }
    return settings.filter { setting in
      setting.file.kind != .system
        || !settings.contains { $0.file.kind != .system && isSame($0, setting) }
    }
  }

  private static func value(_ setting: ConfigSetting) -> Value {
    let source: Source =
      switch setting.file.kind {
      case .named: .named
      case .user: .user
      case .system: .system
      }
    return Value(
      name: setting.name, host: setting.host, value: setting.shown, source: source, setting: setting)
  }
}
