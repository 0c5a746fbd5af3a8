/// Which fields of the request an answer depends on.
package struct Vary: Sendable, Equatable {
  /// In lower case, sorted, each once.
  package private(set) var names: [String] = []
  /// It depends on something that no cache can know.
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
    if Self.isPlain(fields) { found.remove("accept-encoding") }
    names = found.sorted()
  }

  /// Codings that everybody is offered are taken off before anything is stored; others stay, and are not for everybody.
  private static func isPlain(_ fields: HeaderFields) -> Bool {
    fields.values("Content-Encoding").flatMap { $0.split(separator: ",") }
      .allSatisfy {
        ["", "identity", "gzip", "x-gzip", "deflate"].contains(String($0).trimmed.lowercased())
      }
  }

  /// What a request says of each name, so that what means the same is the same: lines joined, white space around list
  /// members left out, members of lists without an order sorted.
  package static func values(_ names: [String], in request: HeaderFields) -> [(name: String, value: String?)]
  {
    // Each field once, and not once for each of the names: both may be many.
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
