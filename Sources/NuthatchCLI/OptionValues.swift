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

  /// What `--size` and the options that go with it say; nil without `--size`.
  func imageOptions() throws(UsageError) -> ImageOptions? {
    guard let text = value("size") else {
      for name in ["mode", "enlarge", "quality", "allow-truncated", "max-pixels"] where has(name) {
        throw UsageError("--\(name) goes with --size")
      }
      return nil
    }
    let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    guard (1...2).contains(sides.count), sides.allSatisfy({ (1...ThumbnailBox.maxSide).contains($0) }) else {
      throw UsageError(
        "--size: '\(text)' is not a size, such as 256 or 320x240, of 1 to \(ThumbnailBox.maxSide)")
    }
    var options = ImageOptions(ThumbnailBox(width: sides[0], height: sides[sides.count - 1]))
    options.box.mode = try choice("mode", ["fit": .fit, "fill": .fill, "exact": .exact]) ?? .fit
    options.box.quality = try choice("quality", ["best": .best, "fast": .fast]) ?? .best
    options.box.enlarge = has("enlarge")
    options.allowTruncated = has("allow-truncated")
    if let pixels = try count(
      "max-pixels", units: ["K": 1000, "M": 1_000_000], "pixels, such as 500K or 20M")
    {
      options.maxPixels = Int(pixels)
    }
    return options
  }

  private func choice<Value>(_ name: String, _ values: [String: Value]) throws(UsageError) -> Value? {
    guard let text = value(name) else { return nil }
    guard let chosen = values[text] else {
      throw UsageError("--\(name): '\(text)' is none of \(values.keys.sorted().joined(separator: ", "))")
    }
    return chosen
  }
}
