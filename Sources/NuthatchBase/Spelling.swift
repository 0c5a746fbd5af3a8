/// Finds similar words.
package enum Spelling {
  /// Returns the candidate that is at most two typing errors away, or nil.
  package static func nearest(to word: String, among candidates: [String]) -> String? {
    let measured = candidates.map { (distance(word, $0), $0) }
    guard let best = measured.min(by: { $0.0 < $1.0 }), best.0 <= 2, best.0 < word.count else { return nil }
    return best.1
  }

  /// Levenshtein's distance.
  private static func distance(_ first: String, _ second: String) -> Int {
    let (rows, columns) = (Array(first), Array(second))
    var previous = Array(0...columns.count)
    for (row, character) in rows.enumerated() {
      var current = [row + 1]
      for (column, other) in columns.enumerated() {
        current.append(
          min(previous[column] + (character == other ? 0 : 1), previous[column + 1] + 1, current[column] + 1))
      }
      previous = current
    }
    return previous[columns.count]
  }
}
