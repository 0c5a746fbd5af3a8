import NuthatchBase

/// Messages about names that a config file may not have.
enum ConfigNames {
  /// Returns what is wrong with the name of an entry, and the name that was probably meant.
  static func absence(of entry: TOMLTable.Entry, host: String?) -> String {
    let key = entry.key
    let name = key.quotedForMessage
    let underscored = String(key.map { $0 == "-" ? "_" : $0 })
    if let row = ConfigRows.all.first(where: { $0.names.contains(key) || $0.name == underscored }) {
      return "there is no option \(name); its name is \(row.name) here"
    }
    if let flag = ofRequest(key) {
      return "\(name) is an option of a single request, and stands in no file (--\(flag) of the command)"
    }
    let known = ConfigRows.all.filter { $0.isHere(host: host) }.map(\.name) + (host == nil ? ["host"] : [])
    let near = Spelling.nearest(to: key, among: known)
    if near == nil, host != nil, case .table = entry.value.form {
      return "there is no option \(name); a host with dots needs quotes: [host.\"img.example.org\"]"
    }
    return "there is no option \(name)" + (near.map { "; did you mean \($0)?" } ?? "")
  }

  private static func ofRequest(_ key: String) -> String? {
    ConfigRows.ofRequests[key] ?? ConfigRows.ofRequests.values.first { $0 == key }
  }
}
