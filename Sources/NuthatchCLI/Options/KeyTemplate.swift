/// The name that answers are kept under instead of their URLs': a text, in which `{}` stands for the URL without its
/// query. So URLs that carry a signature, another one each time, are one answer.
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

  /// Whether it is one name for all URLs.
  var isFixed: Bool { pieces.count == 1 }

  func key(for url: String) -> String {
    pieces.joined(separator: String(url.prefix { $0 != "?" && $0 != "#" }))
  }
}
