/// A number with its unit, as text: `-1`, `1.5h`, `64KiB`. Exact: no digit is lost to rounding.
package struct WrittenNumber {
  private let isNegative: Bool
  /// All digits as one number; nil if it is larger than any option allows.
  private let digits: UInt128?
  /// `digits` divided by this is the number.
  private let divisor: UInt128
  package let unit: Substring

  package init?(_ text: String) {
    var rest = text[...]
    isNegative = rest.first == "-"
    if isNegative { rest.removeFirst() }
    let whole = Self.digits(of: &rest)
    var places: Substring = ""
    if rest.first == "." {
      rest.removeFirst()
      places = Self.digits(of: &rest)
      guard !places.isEmpty else { return nil }
    }
    guard !whole.isEmpty, rest.allSatisfy({ $0.isASCII && $0.isLetter }) else { return nil }
    // Keep 12 decimal places. Any digit after them counts as 1 in the last place, so that the number is still rounded up.
    let kept = places.prefix(12)
    let isMore = places.dropFirst(12).contains { $0 != "0" }
    digits = UInt128(whole + kept).flatMap { $0 > UInt128.max / 1000 ? nil : $0 + (isMore ? 1 : 0) }
    divisor = (0..<kept.count).reduce(1) { product, _ in product * 10 }
    unit = rest
  }

  private static func digits(of rest: inout Substring) -> Substring {
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    rest = rest.dropFirst(digits.count)
    return digits
  }

  /// Returns the number times `unit`, rounded down and rounded up. A result that is too large becomes the greatest `Int64`.
  package func counted(in unit: Int64) -> (below: Int64, above: Int64) {
    guard let digits, case let (product, overflow) = digits.multipliedReportingOverflow(by: UInt128(unit)),
      !overflow
    else { return isNegative ? (.min, .min) : (.max, .max) }
    let (quotient, remainder) = product.quotientAndRemainder(dividingBy: divisor)
    let below = Int64(clamping: quotient)
    let above = below == .max || remainder == 0 ? below : below + 1
    return isNegative ? (-above, -below) : (below, above)
  }
}
