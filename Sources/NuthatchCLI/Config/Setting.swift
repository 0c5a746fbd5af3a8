import NuthatchBase
import NuthatchCore

/// A value of an option in a config file.
struct Setting: Sendable {
  let option: Option
  /// The value as on the command line. An option with several headers has a setting for each.
  let text: String
  /// The name of the section; nil outside of sections.
  let host: String?
  let file: ConfigFile
  let place: TOMLPlace

  /// The name in the file.
  var name: String { option.library?.row ?? option.name }
  var isHeader: Bool { option.library?.kind == .headers }
  /// The name of a header.
  var header: String { text.prefix { $0 != ":" }.lowercased() }

  /// Sets the option.
  func take(_ said: inout ParsedOptions) throws(UsageError) {
    let value = OptionText(option: option, name: name, text: text, isOfFile: true)
    if isHeader {
      said.cache.headers.append(try value.header())
    } else {
      try option.library?.take(&said, value)
    }
  }

  /// The options that a file may have, once each: options of the library that a cache, the process or a site has.
  static let options = LibraryOptions.all.filter { option in
    option.value != nil || option.library?.kind == .flag
  }.filter { option in
    [.cache, .process, .site].contains { option.library?.levels.contains($0) == true }
  }

  /// Returns the value as it may be shown: secrets are left out.
  static func shown(_ text: String, of option: Option) -> String {
    switch option.library?.kind {
    case .secret: return "…"
    case .headers: return "\(text.prefix { $0 != ":" }): …"
    default: return option.library?.row == "proxy" && !text.isEmpty ? ShownURL.of(text) : text
    }
  }
}

extension Sequence<Setting> {
  /// Sets the options of one file or section. Its headers replace those of the same names.
  func take(_ said: inout ParsedOptions) throws(UsageError) {
    let headers = Set(filter(\.isHeader).map(\.header))
    said.cache.headers.removeAll { headers.contains($0.name.lowercased()) }
    for setting in self { try setting.take(&said) }
  }

  /// The options of a site that has these settings.
  func siteOptions() throws(UsageError) -> Options {
    var said = ParsedOptions()
    said.cache.outbox = .auto
    try take(&said)
    var options = said.request.options.overWider(said.site).overWider(said.cache)
    if let user = said.signIn { options.user = user }
    if let cert = said.cert {
      options.cert = ClientCertificate(cert, key: said.certKey, password: said.certPassword)
    }
    return options
  }
}
