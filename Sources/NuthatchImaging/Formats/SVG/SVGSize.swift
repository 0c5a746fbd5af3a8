/// The size of a drawing in CSS pixels, 96 to an inch.
struct SVGSize: Sendable {
  let width: Double
  let height: Double

  /// As browsers assume for a drawing without a size.
  private static let usual = (width: 300.0, height: 150.0)
  /// The longer side of a drawing that has only a `viewBox`, whose units are no pixels.
  private static let mostByView = 4096.0
  private static let most = 1e6

  /// In whole pixels, at least 1.
  var pixels: ImageSize {
    ImageSize(width: max(1, Int(width.rounded())), height: max(1, Int(height.rounded())))
  }

  /// - Parameter tag: the start tag of the first element, without its brackets.
  init(tag: [UInt8]) {
    var said: [String: String] = [:]
    for (name, value) in SVGTag(tag) where ["width", "height", "viewBox", "style"].contains(name) {
      said[name] = value
    }
    let style = Self.declarations(said["style"] ?? "")
    let width = Self.pixels(style["width"] ?? said["width"])
    let height = Self.pixels(style["height"] ?? said["height"])
    let view = Self.view(said["viewBox"])
    let ratio = view.map { $0.height / $0.width }
    switch (width, height) {
    case (let width?, let height?): self.init(width, height)
    case (let width?, nil): self.init(width, ratio.map { width * $0 } ?? Self.usual.height)
    case (nil, let height?): self.init(ratio.map { height / $0 } ?? Self.usual.width, height)
    case (nil, nil):
      guard let view else {
        self.init(Self.usual.width, Self.usual.height)
        return
      }
      let scale = min(1, Self.mostByView / max(view.width, view.height))
      self.init(view.width * scale, view.height * scale)
    }
  }

  private init(_ width: Double, _ height: Double) {
    (self.width, self.height) = (min(max(width, 0.01), Self.most), min(max(height, 0.01), Self.most))
  }

  private static func declarations(_ style: String) -> [String: String] {
    var found: [String: String] = [:]
    for declaration in style.split(separator: ";") {
      let parts = declaration.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { continue }
      let value = parts[1].prefix { $0 != "!" }  // before `!important`
      found[String(parts[0].filter { !$0.isWhitespace }).lowercased()] = String(value)
    }
    return found
  }

  private static func view(_ text: String?) -> (width: Double, height: Double)? {
    let numbers = (text ?? "").split { $0.isWhitespace || $0 == "," }.map { Double($0) }
    guard numbers.count == 4, let width = numbers[2], let height = numbers[3], width.isFinite,
      height.isFinite,
      width > 0, height > 0
    else { return nil }
    return (width, height)
  }

  /// Returns a length in pixels; nil for percentages and what isn't a length above 0.
  private static func pixels(_ text: String?) -> Double? {
    var rest = (text ?? "")[...]
    rest = rest.drop { $0.isWhitespace }
    while rest.last?.isWhitespace == true { rest.removeLast() }
    let unit = String(rest.reversed().prefix { $0.isLetter || $0 == "%" }.reversed())
    // `1e3` ends in a digit, so that the letters at the end are the unit.
    guard let number = Double(rest.dropLast(unit.count)), number.isFinite, number > 0,
      let each = units[unit.lowercased()]
    else { return nil }
    return number * each
  }

  /// A font's size is 16 pixels where nothing else is said.
  private static let units: [String: Double] = [
    "": 1, "px": 1, "pt": 96.0 / 72, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 9.6 / 2.54, "q": 2.4 / 2.54,
    "em": 16,
    "rem": 16, "ex": 8, "ch": 8,
  ]
}

/// The attributes of a start tag.
struct SVGTag: Sequence, IteratorProtocol {
  private let bytes: [UInt8]
  private var at = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    skip { !Self.isSpace($0) }
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  private mutating func skip(while matches: (UInt8) -> Bool) {
    while at < bytes.count, matches(bytes[at]) { at += 1 }
  }

  mutating func next() -> (name: String, value: String)? {
    skip { Self.isSpace($0) || $0 == UInt8(ascii: "/") }
    let start = at
    skip { !Self.isSpace($0) && $0 != UInt8(ascii: "=") }
    let name = String(decoding: bytes[start..<at], as: UTF8.self)
    skip(while: Self.isSpace)
    guard !name.isEmpty, at < bytes.count, bytes[at] == UInt8(ascii: "=") else { return nil }
    at += 1
    skip(while: Self.isSpace)
    guard at < bytes.count, case let quote = bytes[at],
      quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'")
    else {
      return nil
    }
    at += 1
    let begin = at
    skip { $0 != quote }
    defer { at += 1 }
    return (name, String(decoding: bytes[begin..<Swift.min(at, bytes.count)], as: UTF8.self))
  }
}
