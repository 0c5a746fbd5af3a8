import NuthatchBase

/// Finds settings in the table of a config file, and all mistakes.
struct ConfigReader {
  private let file: ConfigFile
  private(set) var settings: [ConfigSetting] = []
  private(set) var mistakes: [ConfigFile.Mistake] = []

  init(_ file: ConfigFile) { self.file = file }

  mutating func read(_ table: TOMLTable) {
    for entry in table.entries {
      if entry.key == "host" { readHosts(entry) } else { read(entry, host: nil) }
    }
  }

  /// Complains about secrets in a file that all users can read.
  mutating func refuseSecrets() {
    for setting in settings where setting.isSecret {
      complain(
        "\(setting.name) is secret, and other users can read this file (run chmod o-r)",
        setting.place)
    }
  }

  private mutating func complain(_ message: String, _ place: TOMLPlace) {
    mistakes.append(ConfigFile.Mistake(message, place))
  }

  // MARK: Hosts

  private mutating func readHosts(_ entry: TOMLTable.Entry) {
    guard case .table(let hosts) = entry.value.form else {
      return complain("host is a section: [host.\"img.example.org\"]", entry.place)
    }
    for host in hosts.entries {
      guard case .table(let table) = host.value.form else {
        complain("host is a section: [host.\"img.example.org\"]", host.place)
        continue
      }
      guard SignInPlace(host.key) != nil else {
        complain("\(host.key.quotedForMessage) is not host, host:port or https://host", host.place)
        continue
      }
      let first = settings.count
      for option in table.entries { read(option, host: host.key) }
      checkTogether(settings[first...], host.place)
    }
  }

  /// Checks what one option alone can't show.
  private mutating func checkTogether(_ section: ArraySlice<ConfigSetting>, _ place: TOMLPlace) {
    for setting in section {
      guard let needs = setting.row.needs, !section.contains(where: { $0.name == needs }) else { continue }
      complain("\(setting.name) goes with \(needs)", setting.place)
    }
    if let command = section.first(where: { $0.name == "auth_command" }),
      let other = section.first(where: { ["user", "netrc"].contains($0.name) })
    {
      complain("auth_command and \(other.name) exclude each other", command.place)
    }
    do throws(NuthatchError) {
      var draft = ConfigDraft()
      try section.take(&draft)
      try draft.ofSite.check(.site)
      try draft.ofSite.checkContents()
    } catch {
      complain(error.message, place)
    }
  }

  // MARK: Options

  private mutating func read(_ entry: TOMLTable.Entry, host: String?) {
    guard let row = ConfigRows.all.first(where: { $0.name == entry.key }) else {
      return complain(ConfigNames.absence(of: entry, host: host), entry.place)
    }
    if !row.isHere(host: host) { return complain(ConfigNames.place(of: row), entry.place) }
    if row.kind == .headers { return readHeaders(entry, row, host) }
    take(entry.value, at: entry.place, row, host) { value throws(Wrong) in try Self.text(value, of: row) }
  }

  private mutating func readHeaders(_ entry: TOMLTable.Entry, _ row: ConfigRow, _ host: String?) {
    guard case .table(let headers) = entry.value.form else {
      return complain("headers is a table: headers = { Accept = \"image/png\" }", entry.value.place)
    }
    for header in headers.entries {
      var values = [header.value]
      if case .array(let several) = header.value.form { values = several }
      if host == nil, Request.isSecret(header: header.key) {
        complain(
          "the header \(header.key.quotedForMessage) may be secret, and would be sent to every server; set it for a host: "
            + "[host.\"img.example.org\"]", header.place)
        continue
      }
      for value in values {
        take(value, at: header.place, row, host) { value throws(Wrong) in
          guard case .text(let text) = value.form else { throw Wrong("the value of a header is a text") }
          guard !header.key.contains(":") else { throw Wrong("the name of a header has no colon") }
          return "\(header.key): \(text)"
        }
      }
    }
  }

  /// The value has another type.
  private struct Wrong: Error {
    let message: String

    init(_ message: String) { self.message = message }
  }

  /// Adds a setting if its value can be used.
  private mutating func take(
    _ value: TOMLValue, at place: TOMLPlace, _ row: ConfigRow, _ host: String?,
    _ text: (TOMLValue) throws(Wrong) -> String
  ) {
    do throws(Wrong) {
      let setting = ConfigSetting(row: row, text: try text(value), host: host, file: file, place: place)
      if let message = Self.flaw(setting) { throw Wrong(message) }
      settings.append(setting)
    } catch {
      complain(error.message, value.place)
    }
  }

  private static func flaw(_ setting: ConfigSetting) -> String? {
    do throws(NuthatchError) {
      var draft = ConfigDraft()
      try setting.take(&draft)
      try draft.options.checkContents()
      return nil
    } catch {
      return error.message
    }
  }

  // MARK: Values

  /// Returns the value as a text of the command line.
  private static func text(_ value: TOMLValue, of row: ConfigRow) throws(Wrong) -> String {
    let name = row.name
    switch (row.kind, value.form) {
    // True means the usual file, as `--netrc` does.
    case (.path, .flag(true)) where name == "netrc": return ""
    case (.path, .text("")) where name == "netrc": return ""
    case (.path, _): return try path(value)
    case (.duration, .integer(let number)), (.bytes, .integer(let number)), (.count, .integer(let number)),
      (.share, .integer(let number)), (.rate, .integer(let number)):
      return String(number)
    case (.duration, .decimal(let text)), (.share, .decimal(let text)), (.rate, .decimal(let text)):
      return text
    case (.flag, .flag(let isOn)): return isOn ? "true" : "false"
    case (.flag, _): throw Wrong("\(name) is true or false, without quotes")
    case (.names, .array(let values)):
      return try texts(values, "\(name) is a list of texts").joined(separator: ",")
    case (.command, .array(let values)):
      return try texts(values, "\(name) is \(row.range)").joined(separator: "\0")
    case (.command, _): throw Wrong("\(name) is \(row.range), such as [\"/usr/bin/token\", \"img\"]")
    case (_, .text(let text)): return text
    case (.duration, _): throw Wrong("\(name) is a time in quotes, such as \"90s\", or a number of seconds")
    case (.bytes, _): throw Wrong("\(name) is a size in quotes, such as \"64MiB\", or a number of bytes")
    case (.count, _), (.share, _), (.rate, _): throw Wrong("\(name) is a number, or a text such as \"none\"")
    default: throw Wrong("\(name) is a text, in quotes")
    }
  }

  private static func texts(_ values: [TOMLValue], _ message: String) throws(Wrong) -> [String] {
    try values.map { value throws(Wrong) in
      guard case .text(let text) = value.form else { throw Wrong(message) }
      return text
    }
  }

  /// Returns a path that doesn't depend on the working directory.
  private static func path(_ value: TOMLValue) throws(Wrong) -> String {
    guard case .text(let text) = value.form else { throw Wrong("a path is a text, in quotes") }
    if text.hasPrefix("~/"), let home = Environment.home { return home + text.dropFirst() }
    guard text.hasPrefix("/") else {
      throw Wrong("the path \(text.quotedForMessage) must begin with / or ~/")
    }
    return text
  }
}
