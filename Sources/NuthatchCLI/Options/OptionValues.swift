import NuthatchCore

// How values of options are written on the command line.

extension ParsedArguments {
  /// Seconds, such as `30` or `0.5`, or `none`.
  func limit(_ name: String, mayBeZero: Bool = false) throws(UsageError) -> Request.Limit? {
    guard let text = value(name) else { return nil }
    if text == "none" { return Request.Limit.none }
    guard let seconds = Double(text), seconds > 0 || seconds == 0 && mayBeZero, seconds < 1e12 else {
      let numbers = mayBeZero ? "number of seconds, 0 or more," : "positive number of seconds"
      throw UsageError("--\(name): '\(text)' is not a \(numbers) or 'none'")
    }
    return .milliseconds(Int64((seconds * 1000).rounded(.up)))
  }

  /// Bytes, such as `500000`, `64K`, `10M` or `1G`.
  func bytes(_ name: String) throws(UsageError) -> Int64? {
    try count(
      name, units: ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30], "bytes, such as 500000, 64K, 10M or 1G")
  }

  private func count(_ name: String, units: [Character: Int64], _ what: String) throws(UsageError) -> Int64? {
    guard let text = value(name) else { return nil }
    let unit = text.last.flatMap { units[Character($0.uppercased())] }
    let (count, overflow) = (Int64(unit == nil ? text : String(text.dropLast())) ?? -1)
      .multipliedReportingOverflow(by: unit ?? 1)
    guard count > 0, !overflow else { throw UsageError("--\(name): '\(text)' is not a number of \(what)") }
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

  /// What `--user NAME:PASSWORD` says.
  var user: (name: String, password: String)? {
    guard let text = value("user") else { return nil }
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
  }

  /// A whole number within bounds.
  func whole(_ name: String, _ range: ClosedRange<Int>) throws(UsageError) -> Int? {
    guard let text = value(name) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      let bounds =
        range.upperBound == .max
        ? "\(range.lowerBound) or more" : "\(range.lowerBound) to \(range.upperBound)"
      throw UsageError("--\(name): '\(text)' is not a whole number, \(bounds)")
    }
    return number
  }

  /// Pixels, such as `500K` or `20M`.
  func pixels(_ name: String) throws(UsageError) -> Int? {
    try count(name, units: ["K": 1000, "M": 1_000_000], "pixels, such as 500K or 20M").map { Int($0) }
  }

  /// What `--size` and the options that go with it say, a box for each size; none without `--size`.
  func boxes() throws(UsageError) -> [ThumbnailBox] {
    guard let text = value("size") else {
      for option in FetchOptions.pictures where has(option.name) {
        throw UsageError("--\(option.name) goes with --size")
      }
      return []
    }
    return try boxes(text)
  }

  /// The same for sizes that are given, or are a default.
  func boxes(_ text: String) throws(UsageError) -> [ThumbnailBox] {
    var boxes: [ThumbnailBox] = []
    for size in text.split(separator: ",", omittingEmptySubsequences: false) {
      let sides = size.split(omittingEmptySubsequences: false) { $0 == "x" || $0 == "×" }.map { Int($0) ?? 0 }
      guard (1...2).contains(sides.count), sides.allSatisfy({ (1...ThumbnailBox.maxSide).contains($0) })
      else {
        throw UsageError(
          "--size: '\(size)' is not a size, such as 256 or 320x240, of 1 to \(ThumbnailBox.maxSide)")
      }
      var box = ThumbnailBox(width: sides[0], height: sides[sides.count - 1])
      box.mode = try choice("mode", ["fit": .fit, "fill": .fill, "exact": .exact]) ?? .fit
      box.quality = try choice("quality", ["best": .best, "fast": .fast]) ?? .best
      box.enlarge = has("enlarge")
      if !boxes.contains(box) { boxes.append(box) }
    }
    guard boxes.count <= 64 else { throw UsageError("--size: \(boxes.count) sizes, at most 64") }
    return boxes
  }

  func choice<Value>(_ name: String, _ values: [String: Value]) throws(UsageError) -> Value? {
    guard let text = value(name) else { return nil }
    guard let chosen = values[text] else {
      throw UsageError("--\(name): '\(text)' is none of \(values.keys.sorted().joined(separator: ", "))")
    }
    return chosen
  }
}
