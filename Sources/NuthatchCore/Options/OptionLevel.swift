/// The levels at which options can be set.
package enum OptionLevel: String {
  case cache, site, request, image, process

  private var place: String {
    switch self {
    case .image: "an image"
    case .process: "the process"
    default: "a \(rawValue)"
    }
  }

  /// - Throws: `invalid` for an option of another level.
  @inline(__always)
  package func check(_ name: StaticString, _ levels: [OptionLevel]) throws(NuthatchError) {
    guard levels.contains(self) else { throw doesNotHave(name, levels) }
  }

  /// Returns the error for an option of another level.
  package func doesNotHave(_ name: StaticString, _ levels: [OptionLevel]) -> NuthatchError {
    let places = levels.map(\.place).joined(separator: " and ")
    return NuthatchError(.invalid, "\(name) is an option of \(places), not of \(place)")
  }
}

/// The ranges of numbers, with one message for all of them.
enum OptionRange {
  /// - Parameter range: the range for the message.
  /// - Throws: `invalid` for a number outside the range.
  static func check<Number: Comparable>(
    _ name: StaticString, _ value: Number?, _ least: Number, _ most: Number?, _ range: StaticString
  ) throws(NuthatchError) {
    guard let value else { return }
    // NaN is neither greater nor less than a bound, so it is refused, too.
    guard value >= least, most.map({ value <= $0 }) ?? true else { throw error(name, "\(value)", range) }
  }

  /// Checks a time limit; `least` is in milliseconds.
  static func check(
    _ name: StaticString, _ value: Request.Limit?, _ least: Int64, _ range: StaticString
  ) throws(NuthatchError) {
    guard case .milliseconds(let count)? = value, count < least else { return }
    throw error(name, "\(count) ms", range)
  }

  /// Checks a lifetime; `least` is in milliseconds.
  static func check(
    _ name: StaticString, _ value: Duration?, _ least: Int64, _ range: StaticString
  ) throws(NuthatchError) {
    guard let value, value < .milliseconds(least) else { return }
    // The value is negative here, because `least` is always 0. Parts of a millisecond are rounded away from zero.
    let (seconds, parts) = value.components
    let milliseconds = Int128(seconds) * 1000 + Int128((parts - 999_999_999_999_999) / 1_000_000_000_000_000)
    throw error(name, "\(milliseconds) ms", range)
  }

  private static func error(_ name: StaticString, _ value: String, _ range: StaticString) -> NuthatchError {
    NuthatchError(.invalid, "\(name) is \(value); it must be \(range)")
  }
}
