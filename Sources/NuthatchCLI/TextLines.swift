/// Breaks text into lines that fit a number of columns.
enum TextLines {
  /// Breaks a line between words.
  ///
  /// - Parameter hang: the indent of all lines but the first. Default: 2 more than the first line has.
  static func broken(_ line: String, to columns: Int, hang: Int? = nil) -> [String] {
    guard line.count > columns else { return [line] }
    let indent = line.prefix { $0 == " " }.count
    let margin = String(repeating: " ", count: min(hang ?? indent + 2, columns / 2))
    var lines: [String] = []
    var current = String(line.prefix(indent))
    var isEmpty = true
    for word in line.dropFirst(indent).split(separator: " ", omittingEmptySubsequences: false) {
      // Keep spaces between columns, but not at the start of a line.
      if word.isEmpty, isEmpty { continue }
      // The terminal breaks a word that is wider than a line.
      if !isEmpty, current.count + 1 + word.count > columns {
        lines.append(current)
        (current, isEmpty) = (margin, true)
      }
      current += isEmpty ? String(word) : " " + word
      isEmpty = false
    }
    return lines + [current]
  }

  /// Fills paragraphs again for another width. Indented lines stay as they are, and text in a second column stays there.
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

  /// Returns the column of the text after the first word and its spaces.
  private static func secondColumn(of line: String) -> Int {
    guard let name = line.split(separator: " ").first else { return 0 }
    return name.count + line.dropFirst(name.count).prefix { $0 == " " }.count
  }
}
