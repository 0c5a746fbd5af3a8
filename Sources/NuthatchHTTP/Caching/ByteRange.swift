/// The byte range in a request's `Range` field. Any other value, such as several ranges, is ignored, as RFC 9110, 14.2 allows.
package enum ByteRange: Sendable, Equatable {
  /// Both offsets are included. `through` nil: to the end.
  case from(Int64, through: Int64?)
  /// This many bytes at the end.
  case suffix(Int64)

  package init?(_ fields: HeaderFields) {
    let lines = fields.values("Range")
    guard lines.count == 1, let line = lines.first, line.lowercased().hasPrefix("bytes=") else { return nil }
    let text = String(line.dropFirst(6)).trimmed
    let ends = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    guard ends.count == 2 else { return nil }
    if ends[0].isEmpty {
      guard let count = Self.number(ends[1]) else { return nil }
      self = .suffix(count)
      return
    }
    guard let first = Self.number(ends[0]) else { return nil }
    if ends[1].isEmpty {
      self = .from(first, through: nil)
    } else {
      guard let last = Self.number(ends[1]), first <= last else { return nil }
      self = .from(first, through: last)
    }
  }

  /// Returns the range in a body of this length; nil if the body has none of these bytes.
  package func resolved(in length: Int64) -> Range<Int64>? {
    guard length >= 0 else { return nil }
    switch self {
    case .from(let first, let last):
      guard first < length else { return nil }
      return first..<min(last.map { $0 == .max ? .max : $0 + 1 } ?? length, length)
    case .suffix(let count):
      guard count > 0, length > 0 else { return nil }
      return max(0, length - count)..<length
    }
  }

  /// A number that overflows counts as the largest one.
  private static func number(_ digits: String) -> Int64? {
    guard !digits.isEmpty, digits.utf8.allSatisfy(\.isDigit) else { return nil }
    return Int64(digits) ?? .max
  }
}
