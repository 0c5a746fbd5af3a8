/// Parses dates in the three forms of HTTP. A cache must ignore case (RFC 9111, 4.2); other deviations are refused.
package enum HTTPDate {
  /// Returns the seconds since 1970, or nil if the text isn't a date.
  ///
  /// - Parameter now: determines the century of a year with two digits.
  package static func seconds(_ text: String, now: Int64) -> Int64? {
    let bytes = Array(text.utf8)
    return fixed(bytes) ?? rfc850(bytes, now) ?? asctime(bytes)
  }

  private static let days: [StaticString] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  private static let longDays: [StaticString] = [
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
  ]
  private static let months: [StaticString] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The lengths of the months, in a leap year.
  private static let lengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

  /// `Sun, 06 Nov 1994 08:49:37 GMT`
  private static func fixed(_ bytes: [UInt8]) -> Int64? {
    var scan = Scanner(bytes)
    guard scan.take(oneOf: days) != nil, scan.take(", "), let day = scan.number(2), scan.take(" "),
      let month = scan.take(oneOf: months), scan.take(" "), let year = scan.number(4), scan.take(" "),
      let time = scan.time(), scan.take(" GMT"), scan.isAtEnd
    else { return nil }
    return seconds(year, month, day, time)
  }

  /// `Sunday, 06-Nov-94 08:49:37 GMT`
  private static func rfc850(_ bytes: [UInt8], _ now: Int64) -> Int64? {
    var scan = Scanner(bytes)
    guard scan.take(oneOf: longDays) != nil, scan.take(", "), let day = scan.number(2), scan.take("-"),
      let month = scan.take(oneOf: months), scan.take("-"), let short = scan.number(2), scan.take(" "),
      let time = scan.time(), scan.take(" GMT"), scan.isAtEnd
    else { return nil }
    // A year more than 50 years ahead means the previous century (RFC 9110, 5.6.7).
    let thisYear = 1970 + Int(now / 31_556_952)
    var year = thisYear - thisYear % 100 + short
    if year > thisYear + 50 { year -= 100 }
    return seconds(year, month, day, time)
  }

  /// `Sun Nov  6 08:49:37 1994`
  private static func asctime(_ bytes: [UInt8]) -> Int64? {
    var scan = Scanner(bytes)
    guard scan.take(oneOf: days) != nil, scan.take(" "), let month = scan.take(oneOf: months), scan.take(" "),
      let day = scan.take(" ") ? scan.number(1) : scan.number(2), scan.take(" "), let time = scan.time(),
      scan.take(" "), let year = scan.number(4), scan.isAtEnd
    else { return nil }
    return seconds(year, month, day, time)
  }

  /// `month` counts from 0, `time` is in seconds of the day. Returns nil if the month doesn't have the day.
  static func seconds(_ year: Int, _ month: Int, _ day: Int, _ time: Int) -> Int64? {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    guard day >= 1, day <= (month == 1 && !isLeap ? 28 : lengths[month]) else { return nil }
    // Days since 1970 by the civil calendar; years begin in March.
    let shifted = month < 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * ((month + 10) % 12) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return Int64(era * 146_097 + dayOfEra - 719_468) * 86_400 + Int64(time)
  }

  private struct Scanner {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    // Plain loops, because every answer from the cache parses one or two dates.
    private func begins(with text: StaticString) -> Bool {
      let count = text.utf8CodeUnitCount
      guard bytes.count - place >= count else { return false }
      for offset in 0..<count
      where bytes[place + offset].lowercased != text.utf8Start[offset].lowercased { return false }
      return true
    }

    var isAtEnd: Bool { place == bytes.count }

    mutating func take(_ text: StaticString) -> Bool {
      guard begins(with: text) else { return false }
      place += text.utf8CodeUnitCount
      return true
    }

    mutating func take(oneOf words: [StaticString]) -> Int? {
      guard let found = words.firstIndex(where: { begins(with: $0) }) else { return nil }
      place += words[found].utf8CodeUnitCount
      return found
    }

    mutating func number(_ digits: Int) -> Int? {
      guard bytes.count - place >= digits else { return nil }
      var number = 0
      for offset in 0..<digits {
        guard bytes[place + offset].isDigit else { return nil }
        number = number * 10 + Int(bytes[place + offset] - 0x30)
      }
      place += digits
      return number
    }

    mutating func time() -> Int? {
      guard let hour = number(2), take(":"), let minute = number(2), take(":"), let second = number(2),
        hour < 24, minute < 60, second <= 60
      else { return nil }
      return hour * 3600 + minute * 60 + second
    }
  }
}
