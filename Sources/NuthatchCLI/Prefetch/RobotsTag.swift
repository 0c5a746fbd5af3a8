/// Reads from `X-Robots-Tag` whether AI training is forbidden.
enum RobotsTag {
  /// Directives that have a value after a colon. A robot's name is also followed by a colon.
  private static let valued = [
    "max-snippet", "max-image-preview", "max-video-preview", "unavailable_after",
  ]

  /// Returns whether a value says `noai` or `noimageai` for all robots, or for `nuthatch`.
  static func forbidsTraining(_ value: String) -> Bool {
    var isForUs = true
    for part in value.lowercased().split(separator: ",") {
      var word = trimmed(part)
      if let colon = word.firstIndex(of: ":") {
        let name = trimmed(word[..<colon])
        // A robot's name has no space. A text with a space is a part of a date, up to the colon after its hour.
        if valued.contains(String(name)) || name.contains(" ") { continue }
        // A name applies to all directives after it in the line.
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
