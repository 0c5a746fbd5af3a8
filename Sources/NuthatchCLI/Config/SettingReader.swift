import NuthatchBase
import NuthatchCore

/// Finds settings in the table of a config file, and all mistakes.
struct SettingReader {
  private let file: ConfigFile
  private(set) var settings: [Setting] = []
  private(set) var mistakes: [ConfigFile.Mistake] = []

  init(_ file: ConfigFile) { self.file = file }

  mutating func read(_ table: TOMLTable) {
    for entry in table.entries {
      if entry.key == "host" { readHosts(entry) } else { read(entry, host: nil) }
    }
  }

  private mutating func complain(_ message: String, _ place: TOMLPlace) {
    mistakes.append(ConfigFile.Mistake(message: message, place: place))
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
  private mutating func checkTogether(_ section: ArraySlice<Setting>, _ place: TOMLPlace) {
    for setting in section where setting.option.needs == "cert" {
      guard !section.contains(where: { $0.name == "cert" }) else { continue }
      complain("\(setting.name) goes with cert", setting.place)
    }
    do throws(NuthatchError) {
      if let options = try? section.siteOptions() { try options.checkForSite() }
    } catch {
      complain(error.message, place)
    }
  }

  // MARK: Options

  private mutating func read(_ entry: TOMLTable.Entry, host: String?) {
    if entry.key == CommonOptions.cache.name, host == nil {
      return take(entry.value, at: entry.place, CommonOptions.cache, host) { value throws(Wrong) in
        try Self.path(value)
      }
    }
    guard let option = Setting.options.first(where: { $0.library?.row == entry.key }),
      let library = option.library
    else {
      return complain(Self.absence(of: entry, host: host), entry.place)
    }
    let isWide = library.levels.contains(.cache) || library.levels.contains(.process)
    if host == nil, !isWide {
      return complain("\(entry.key) goes into a section for a host: [host.\"img.example.org\"]", entry.place)
    }
    if host != nil, !library.levels.contains(.site) {
      return complain("\(entry.key) counts for all hosts, and can't be set for one of them", entry.place)
    }
    if library.kind == .headers { return readHeaders(entry, option, host) }
    // An empty text means the usual file, as --netrc does.
    if library.row == "netrc", case .text("") = entry.value.form, let bare = Self.bareNetrc {
      return take(entry.value, at: entry.place, bare, host) { _ in "" }
    }
    take(entry.value, at: entry.place, option, host) { value throws(Wrong) in
      try Self.text(value, of: option, library.kind)
    }
  }

  private static let bareNetrc = LibraryOptions.all.first { $0.name == "netrc" }

  private mutating func readHeaders(_ entry: TOMLTable.Entry, _ option: Option, _ host: String?) {
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
        take(value, at: header.place, option, host) { value throws(Wrong) in
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
    _ value: TOMLValue, at place: TOMLPlace, _ option: Option, _ host: String?,
    _ text: (TOMLValue) throws(Wrong) -> String
  ) {
    do throws(Wrong) {
      let setting = Setting(
        option: option, text: try text(value), host: host, file: file, place: place)
      if let message = Self.flaw(setting) { throw Wrong(message) }
      settings.append(setting)
    } catch {
      complain(error.message, value.place)
    }
  }

  private static func flaw(_ setting: Setting) -> String? {
    var said = ParsedOptions()
    do {
      try setting.take(&said)
      try said.cache.checkContents()
    } catch let error as UsageError {
      return error.message
    } catch let error as NuthatchError {
      return error.message
    } catch {
      return "the value can't be used"
    }
    return nil
  }

  // MARK: Values

  /// Returns the value as a text of the command line.
  private static func text(
    _ value: TOMLValue, of option: Option, _ kind: Option.Library.Kind
  ) throws(Wrong) -> String {
    let name = option.library?.row ?? option.name
    switch (kind, value.form) {
    case (.path, _): return try path(value)
    case (.duration, .integer(let number)), (.bytes, .integer(let number)), (.count, .integer(let number)),
      (.share, .integer(let number)), (.rate, .integer(let number)):
      return String(number)
    case (.duration, .decimal(let text)), (.share, .decimal(let text)), (.rate, .decimal(let text)):
      return text
    case (.flag, .flag(let isOn)):
      return option.words.isEmpty ? isOn ? "true" : "false" : isOn ? "yes" : "no"
    case (.flag, _): throw Wrong("\(name) is true or false, without quotes")
    case (.names, .array(let values)):
      return try values.map { value throws(Wrong) in
        guard case .text(let text) = value.form else { throw Wrong("\(name) is a list of texts") }
        return text
      }.joined(separator: ",")
    case (_, .text(let text)): return text
    case (.duration, _): throw Wrong("\(name) is a time in quotes, such as \"90s\", or a number of seconds")
    case (.bytes, _): throw Wrong("\(name) is a size in quotes, such as \"64MiB\", or a number of bytes")
    case (.count, _), (.share, _), (.rate, _): throw Wrong("\(name) is a number, or a text such as \"none\"")
    default: throw Wrong("\(name) is a text, in quotes")
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

  // MARK: Unknown names

  private static func absence(of entry: TOMLTable.Entry, host: String?) -> String {
    let key = entry.key
    let name = key.quotedForMessage
    if let option = (LibraryOptions.all + [CommonOptions.cache]).first(where: { same($0, key) }) {
      let row = option.library?.row ?? option.name
      if Setting.options.contains(where: { $0.library?.row == row }) {
        return "there is no option \(name); its name is \(row) here"
      }
      return option.library == nil
        ? "\(name) counts for all hosts, and can't be set for one of them"
        : "\(name) is an option of a single request; give it to the command: --\(option.name)"
    }
    let known = Setting.options.compactMap { option -> String? in
      guard let library = option.library else { return nil }
      let isHere =
        host == nil
        ? library.levels.contains(.cache) || library.levels.contains(.process)
        : library.levels.contains(.site)
      return isHere ? library.row : nil
    }
    let near = Spelling.nearest(to: key, among: known + (host == nil ? ["cache", "host"] : []))
    if near == nil, host != nil, case .table = entry.value.form {
      return "there is no option \(name); a host with dots needs quotes: [host.\"img.example.org\"]"
    }
    return "there is no option \(name)" + (near.map { "; did you mean \($0)?" } ?? "")
  }

  /// Whether the command or the library has the option under this name.
  private static func same(_ option: Option, _ key: String) -> Bool {
    option.name == key || option.library?.row == key || option.old.keys.contains(key)
      || option.name == String(key.map { $0 == "_" ? "-" : $0 })
      || option.library?.row == String(key.map { $0 == "-" ? "_" : $0 })
  }
}
