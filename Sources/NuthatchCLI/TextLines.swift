/// Lines of text that fit a number of columns.
enum TextLines {
  /// A line, broken between words. The lines after the first begin behind `hang` spaces: where the first one begins and two
  /// columns further, unless it is given.
  static func broken(_ line: String, to columns: Int, hang: Int? = nil) -> [String] {
    guard line.count > columns else { return [line] }
    let indent = line.prefix { $0 == " " }.count
    let margin = String(repeating: " ", count: min(hang ?? indent + 2, columns / 2))
    var lines: [String] = []
    var current = String(line.prefix(indent))
    var isEmpty = true
    for word in line.dropFirst(indent).split(separator: " ", omittingEmptySubsequences: false) {
      // Spaces between columns stay, but not where a line begins.
      if word.isEmpty, isEmpty { continue }
      // A word that is wider than all of it is left to the terminal.
      if !isEmpty, current.count + 1 + word.count > columns {
        lines.append(current)
        (current, isEmpty) = (margin, true)
      }
      current += isEmpty ? String(word) : " " + word
      isEmpty = false
    }
    return lines + [current]
  }

  /// Paragraphs, filled anew. What is indented stays as it is; words in a second column stay there.
  static func flowed(_ lines: [String], to columns: Int) -> [String] {
    var flowed: [String] = []
    var paragraph: [String] = []
    for line in lines + [""] {
      let isWords = !line.isEmpty && !line.hasPrefix(" ") && !line.contains("  ")
      if isWords {
        paragraph.append(line)
        continue
      }
      if !paragraph.isEmpty { flowed += broken(paragraph.joined(separator: " "), to: columns, hang: 0) }
      paragraph = []
      flowed += line.hasPrefix(" ") ? [line] : broken(line, to: columns, hang: secondColumn(of: line))
    }
    return flowed.dropLast()
  }

  /// Where the words behind several spaces begin.
  private static func secondColumn(of line: String) -> Int {
    guard let name = line.split(separator: " ").first else { return 0 }
    return name.count + line.dropFirst(name.count).prefix { $0 == " " }.count
  }
}
