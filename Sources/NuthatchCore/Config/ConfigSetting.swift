import NuthatchBase

/// A value of an option in a config file.
package struct ConfigSetting: Sendable {
  package let row: ConfigRow
  /// The value as on the command line. Arguments of a command have a NUL byte between them. `headers` has a setting for each header.
  package let text: String
  /// The name of the section; nil outside of sections.
  package let host: String?
  package let file: ConfigFile
  package let place: TOMLPlace

  package var name: String { row.name }
  package var isHeader: Bool { row.kind == .headers }
  /// The name of a header.
  package var header: String { text.prefix { $0 != ":" }.lowercased() }

  func take(_ draft: inout ConfigDraft) throws(NuthatchError) {
    // The usual file, as `--netrc` means.
    if row.name == "netrc", text.isEmpty { return draft.options.netrc = .standard }
    let value = WrittenValue(
      name, text, words: row.words, range: row.range, isSecret: row.kind == .secret || row.kind == .command)
    try row.take(&draft, value)
  }

  /// Whether the value must not be read by other users.
  var isSecret: Bool {
    row.kind == .secret || isHeader && Request.isSecret(header: header) || name == "proxy" && shown != text
  }

  package var signsIn: Bool {
    ["user", "netrc"].contains(name) || row.isOfSignIn || isHeader && header == "authorization"
  }

  /// Whether the program's options leave it to the file.
  ///
  /// - Parameters:
  ///   - options: those of the cache.
  ///   - process: those of the process.
  package func counts(under options: Options, process: Options) -> Bool {
    if signsIn, options.signsIn { return false }
    if row.isOfTrust { return !options.namesTrust }
    if isHeader { return !options.headers.contains { $0.name.equalsIgnoringCase(header) } }
    return !row.isSet(options) && !row.isSet(process)
  }

  /// The value as it may be shown: without secrets.
  package var shown: String { Self.shown(text, of: row) }

  package static func shown(_ text: String, of row: ConfigRow) -> String {
    switch row.kind {
    case .secret: return "…"
    case .headers: return "\(text.prefix { $0 != ":" }): …"
    case .command: return text.split(separator: "\0", omittingEmptySubsequences: false).joined(separator: " ")
    default: return row.name == "proxy" && !text.isEmpty ? Request(text).shownURL : text
    }
  }
}

extension Sequence<ConfigSetting> {
  /// Sets the options of one file or section. Its headers replace those of the same names.
  func take(_ draft: inout ConfigDraft) throws(NuthatchError) {
    let headers = Set(filter(\.isHeader).map(\.header))
    draft.options.headers.removeAll { headers.contains($0.name.lowercased()) }
    if contains(where: \.row.isOfTrust) { (draft.options.caFile, draft.options.caDir) = (nil, nil) }
    for setting in self { try setting.take(&draft) }
  }
}
