import NuthatchCore

// How values of options are written on the command line.

extension ParsedArguments {
  /// Seconds, such as `30` or `0.5`, or `none`.
  func limit(_ name: String) throws(UsageError) -> Request.Limit? {
    guard let text = value(name) else { return nil }
    if text == "none" { return Request.Limit.none }
    guard let seconds = Double(text), seconds > 0, seconds < 1e12 else {
      throw UsageError("--\(name): '\(text)' is not a positive number of seconds or 'none'")
    }
    return .milliseconds(Int64((seconds * 1000).rounded(.up)))
  }

  /// Bytes, such as `500000`, `64K`, `10M` or `1G`.
  func bytes(_ name: String) throws(UsageError) -> Int64? {
    guard let text = value(name) else { return nil }
    let units: [Character: Int64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
    let unit = text.last.flatMap { units[Character($0.uppercased())] }
    let (count, overflow) = (Int64(unit == nil ? text : String(text.dropLast())) ?? -1)
      .multipliedReportingOverflow(by: unit ?? 1)
    guard count > 0, !overflow else {
      throw UsageError("--\(name): '\(text)' is not a number of bytes, such as 500000, 64K, 10M or 1G")
    }
    return count
  }

  /// Fields given as `Name: value`.
  func headers(_ name: String) throws(UsageError) -> [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    for text in values(name) {
      guard let colon = text.firstIndex(of: ":") else {
        throw UsageError("--\(name): '\(text)' is not of the form 'Name: value'")
      }
      fields.append((String(text[..<colon]), String(text[text.index(after: colon)...].drop { $0 == " " })))
    }
    return fields
  }
}
