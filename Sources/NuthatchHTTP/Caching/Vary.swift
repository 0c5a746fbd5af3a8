/// The request fields that an answer depends on.
package struct Vary: Sendable, Equatable {
  /// In lower case, sorted, without duplicates.
  package private(set) var names: [String] = []
  /// `Vary: *`: the answer depends on something that a cache can't know.
  package private(set) var isAny = false

  package init(_ fields: HeaderFields) {
    var found: Set<String> = []
    for line in fields.values("Vary") {
      for part in line.split(separator: ",") {
        let name = String(part).trimmed.lowercased()
        if name == "*" { isAny = true }
        if !name.isEmpty { found.insert(name) }
      }
    }
    if found.contains("accept-encoding"), Self.isPlain(fields) { found.remove("accept-encoding") }
    names = found.sorted()
  }

  /// Returns whether the answer has no coding, or one that every request accepts and that is decoded before storing. An answer
  /// in another coding depends on `Accept-Encoding`.
  private static func isPlain(_ fields: HeaderFields) -> Bool {
    fields.values("Content-Encoding").flatMap { $0.split(separator: ",") }
      .allSatisfy {
        ["", "identity", "gzip", "x-gzip", "deflate"].contains(String($0).trimmed.lowercased())
      }
  }

  /// Returns a request's normalised value for each name: lines joined, white space around list members removed, members of
  /// unordered lists sorted.
  package static func values(_ names: [String], in request: HeaderFields) -> [(name: String, value: String?)]
  {
    // Group once instead of searching for each name: both lists may be long.
    let lines = Dictionary(grouping: request.fields) { $0.name.lowercased() }
    return names.map { name in
      guard let lines = lines[name]?.map(\.value) else { return (name, nil) }
      var members = lines.joined(separator: ",").split(separator: ",", omittingEmptySubsequences: false)
        .map { String($0).trimmed }
      switch name {
      case "accept-language", "accept-charset":
        members = members.map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }.sorted()
      case "accept": members.sort()
      default: break
      }
      return (name, members.joined(separator: ","))
    }
  }
}
