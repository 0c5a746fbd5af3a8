/// A template for cache keys, in place of the URL: `{}` stands for the URL without its query. With it, URLs that differ only in
/// a signature share one answer.
struct KeyTemplate {
  private var pieces: [String] = []

  init(_ text: String) {
    var piece = ""
    for character in text {
      if character == "}", piece.last == "{" {
        pieces.append(String(piece.dropLast()))
        piece = ""
      } else {
        piece.append(character)
      }
    }
    pieces.append(piece)
  }

  /// Whether all URLs get the same key.
  var isFixed: Bool { pieces.count == 1 }

  func key(for url: String) -> String {
    pieces.joined(separator: String(url.prefix { $0 != "?" && $0 != "#" }))
  }
}
