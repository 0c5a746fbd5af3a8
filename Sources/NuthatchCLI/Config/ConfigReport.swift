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
    var setting: Setting?

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
  static func values(_ arguments: ParsedArguments) -> [Value] {
    var values = [cache(arguments)]
    let rows = Setting.options.filter {
      $0.library.map { $0.levels.contains(.cache) || $0.levels.contains(.process) } == true
    }
    for option in rows { values += self.values(of: option, arguments) }
    return values + sections(arguments)
  }

  private static func cache(_ arguments: ParsedArguments) -> Value {
    let name = CommonOptions.cache.name
    if let path = arguments.value(name) { return Value(name: name, value: path, source: .commandLine) }
    if let variable = Configuration.variable(for: name) {
      return Value(
        name: name, value: Environment.variable(variable), source: .environment, variable: variable)
    }
    if let setting = arguments.settings.last(where: { $0.name == name }) { return value(setting) }
    return Value(name: name, value: CacheDirectory.usual, source: .usual)
  }

  private static func values(of option: Option, _ arguments: ParsedArguments) -> [Value] {
    guard let library = option.library else { return [] }
    let given = arguments.given(row: library.row)
    let settings = arguments.settings.filter { $0.name == library.row && $0.host == nil }
    if library.kind == .headers { return headers(option, given, settings) }
    if let last = given.last {
      let text = last.option.value == nil && last.text.isEmpty && library.kind == .flag ? "true" : last.text
      return [
        Value(name: library.row, value: Setting.shown(text, of: option), source: .commandLine)
      ]
    }
    if let variable = Configuration.variable(for: library.row) {
      // A file of certificates in the environment leaves no folder of certificates, and the other way round.
      let isOther = (library.row == "ca_dir") != (variable == "SSL_CERT_DIR") && library.row != "proxy"
      let text = isOther ? nil : Environment.variable(variable).map { Setting.shown($0, of: option) }
      return [Value(name: library.row, value: text, source: .environment, variable: variable)]
    }
    if let setting = settings.last { return [value(setting)] }
    let isNone = ["none", "nothing"].contains(library.usual)
    return [Value(name: library.row, value: isNone ? nil : library.usual, source: .usual)]
  }

  /// Headers of the command line and of the user's file replace those of the same name below them.
  private static func headers(_ option: Option, _ given: [OptionText], _ settings: [Setting]) -> [Value] {
    func name(_ text: String) -> String { text.prefix { $0 != ":" }.lowercased() }
    let row = option.library?.row ?? option.name
    let said = Set(given.map { name($0.text) })
    let values =
      given.map { Value(name: row, value: Setting.shown($0.text, of: option), source: .commandLine) }
      + effective(settings).filter { !said.contains($0.header) }.map(value)
    return values.isEmpty ? [Value(name: row, value: nil, source: .usual)] : values
  }

  private static func sections(_ arguments: ParsedArguments) -> [Value] {
    let settings = arguments.settings.filter { $0.host != nil }
    var hosts: [String] = []
    for case let host? in settings.map(\.host) where !hosts.contains(host) { hosts.append(host) }
    return hosts.flatMap { host in effective(settings.filter { $0.host == host }).map(value) }
  }

  /// Leaves out settings of the system's file that the user's file replaces.
  private static func effective(_ settings: [Setting]) -> [Setting] {
    func isSame(_ one: Setting, _ other: Setting) -> Bool {
      one.name == other.name && (!one.isHeader || one.header == other.header)
    }
    return settings.filter { setting in
      !settings.contains { isSame($0, setting) && setting.file.kind == .system && $0.file.kind != .system }
    }
  }

  private static func value(_ setting: Setting) -> Value {
    let source: Source =
      switch setting.file.kind {
      case .named: .named
      case .user: .user
      case .system: .system
      }
    return Value(
      name: setting.name, host: setting.host, value: Setting.shown(setting.text, of: setting.option),
      source: source,
      setting: setting)
  }
}
