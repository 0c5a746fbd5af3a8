import NuthatchBase

/// Messages about names that a config file may not have.
enum ConfigNames {
  /// Returns what is wrong with the name of an entry, and the name that was probably meant.
  static func absence(of entry: TOMLTable.Entry, host: String?) -> String {
    let key = entry.key.lowercased()
    let name = entry.key.quotedForMessage
    let underscored = String(key.map { $0 == "-" ? "_" : $0 })
    if let row = ConfigRows.all.first(where: { $0.names.contains(key) || $0.name == underscored }) {
      return "there is no option \(name); its name is \(row.name) here\(elsewhere(row, host))"
    }
    if let flag = ofRequest(key) {
      return "\(name) is an option of a single request, and stands in no file (--\(flag) of the command)"
    }
    // Those of this level come first: of two that are equally near, the first one is named.
    let rows = ConfigRows.all.filter { $0.isHere(host: host) } + ConfigRows.all
    let near = Spelling.nearest(to: key, among: rows.map(\.name) + (host == nil ? ["host"] : []))
    if near == nil, case .table = entry.value.form {
      return "there is no option \(name); a host with dots needs quotes: [host.\"img.example.org\"]"
    }
    let row = rows.first { $0.name == near }
    return "there is no option \(name)"
      + (near.map { "; did you mean \($0)?" } ?? "") + (row.map { elsewhere($0, host) } ?? "")
  }

  private static func elsewhere(_ row: ConfigRow, _ host: String?) -> String {
    row.isHere(host: host) ? "" : " (\(place(of: row)))"
  }

  /// Says where an option stands that stands at one level only.
  static func place(of row: ConfigRow) -> String {
    row.isWide
      ? "\(row.name) counts for all hosts, and stands above all sections"
      : "\(row.name) goes into a section for a host: [host.\"img.example.org\"]"
  }

  private static func ofRequest(_ key: String) -> String? {
    ConfigRows.ofRequests[key] ?? ConfigRows.ofRequests.values.first { $0 == key }
  }
}
