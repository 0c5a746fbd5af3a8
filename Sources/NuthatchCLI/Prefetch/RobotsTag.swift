/// `X-Robots-Tag`, as far as it is about training.
enum RobotsTag {
  /// Directives that have a value of their own behind a colon, as the names of robots have what holds for them.
  private static let valued = [
    "max-snippet", "max-image-preview", "max-video-preview", "unavailable_after",
  ]

  /// Whether a value says `noai` or `noimageai` to everybody, or to us by name.
  static func forbidsTraining(_ value: String) -> Bool {
    var isForUs = true
    for part in value.lowercased().split(separator: ",") {
      var word = trimmed(part)
      if let colon = word.firstIndex(of: ":") {
        let name = trimmed(word[..<colon])
        // No robot's name has a space in it: then it is a date up to its hour.
        if valued.contains(String(name)) || name.contains(" ") { continue }
        // A name holds for all that follows it in the line.
        isForUs = name == "nuthatch" || name == "*"
        word = trimmed(word[word.index(after: colon)...])
      }
      if isForUs, word == "noai" || word == "noimageai" { return true }
    }
    return false
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    let rest = text.drop(while: isBlank)
    return rest[..<(rest.lastIndex { !isBlank($0) }.map { rest.index(after: $0) } ?? rest.startIndex)]
  }
}
