/// Dates in `Set-Cookie`: any order, any separators (RFC 6265, 5.1.1).
enum CookieDate {
  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  /// Returns the seconds since 1970, or nil if it isn't a date.
  static func seconds(_ text: some StringProtocol) -> Int64? {
    var (day, month, year, time): (Int?, Int?, Int?, Int?) = (nil, nil, nil, nil)
    for word in text.lowercased().utf8.split(whereSeparator: { $0.separatesDate }) {
      if time == nil, let found = self.time(word) {
        time = found
      } else if day == nil, let found = number(word, 1...2) {
        day = found
      } else if month == nil, let found = months.firstIndex(where: { word.starts(with: $0.utf8) }) {
        month = found
      } else if year == nil, let found = number(word, 2...4) {
        year = found + (found < 70 ? 2000 : found < 100 ? 1900 : 0)
      }
    }
    guard let day, let month, let year, let time, year >= 1601 else { return nil }
    return HTTPDate.seconds(year, month, day, time)
  }

  private static func time(_ word: Substring.UTF8View.SubSequence) -> Int? {
    let parts = word.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard parts.count == 3, let hour = number(parts[0], 1...2), let minute = number(parts[1], 1...2),
      let second = number(parts[2], 1...2), hour < 24, minute < 60, second < 60
    else { return nil }
    return hour * 3600 + minute * 60 + second
  }

  private static func number(_ word: Substring.UTF8View.SubSequence, _ digits: ClosedRange<Int>) -> Int? {
    guard digits.contains(word.count), word.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(String(decoding: word, as: UTF8.self))
  }
}

extension UInt8 {
  fileprivate var separatesDate: Bool {
    switch self {
    case 0x09, 0x20...0x2f, 0x3b...0x40, 0x5b...0x60, 0x7b...0x7e: true
    default: false
    }
  }
}
