/// Reads an SVG up to the end of its first start tag, which has the size. Text in UTF-16 is narrowed to its ASCII characters.
struct SVGHeaderParser: HeaderParser {
  private enum State {
    case text
    /// `<` and a few more characters, until they tell what begins.
    case beginning
    case comment
    case instruction
    /// Its brackets contain declarations, with quotes and comments of their own.
    case doctype(isInBrackets: Bool, quote: UInt8?)
    case tag(quote: UInt8?)
  }

  private enum Width {
    case unknown, one, two(lowFirst: Bool)
  }

  /// The longest first tag, and the longest beginning before it.
  private static let mostInTag = 64 << 10
  private static let mostBefore = 1 << 20

  private var state = State.text
  private var width = Width.unknown
  /// A comment within a document type returns there.
  private var isInDoctype = false
  /// The characters of the beginning or of the tag; of others, the last few.
  private var kept: [UInt8] = []

  /// Known at the end.
  private(set) var drawing: SVGSize?

  var first: HeaderStep { .read(skip: 0, count: 2) }
  var size: ImageSize? { drawing?.pixels }
  var profile: [UInt8]? { nil }

  mutating func consume(_ bytes: UnsafeRawBufferPointer, end: Int) -> HeaderStep {
    if case .unknown = width {
      switch (bytes[0], bytes[1]) {
      case (0xFF, 0xFE): width = .two(lowFirst: true)
      case (0xFE, 0xFF): width = .two(lowFirst: false)
      default:
        width = .one
        take(bytes[0])
        take(bytes[1])
      }
    } else {
      take(character(bytes))
    }
    if let drawing {
      var info = ImageInfo(format: .svg, size: drawing.pixels, color: .rgba, depth: 8)
      info.hasAlpha = true
      return .found(info)
    }
    guard end < Self.mostBefore, kept.count < Self.mostInTag else {
      return .fault(ImageFault(.corrupt, "the SVG's first tag has no end", at: end))
    }
    if case .two = width { return .read(skip: 0, count: 2) }
    return .read(skip: 0, count: 1)
  }

  private func character(_ bytes: UnsafeRawBufferPointer) -> UInt8 {
    guard case .two(let lowFirst) = width else { return bytes[0] }
    let (low, high) = lowFirst ? (bytes[0], bytes[1]) : (bytes[1], bytes[0])
    return high == 0 ? low : UInt8(ascii: "?")
  }

  private mutating func take(_ byte: UInt8) {
    switch state {
    case .text:
      if byte == UInt8(ascii: "<") { begin() }
    case .beginning:
      kept.append(byte)
      recognise()
    case .comment:
      if ends(with: "-->", byte) { state = isInDoctype ? .doctype(isInBrackets: true, quote: nil) : .text }
    case .instruction:
      if ends(with: "?>", byte) { state = isInDoctype ? .doctype(isInBrackets: true, quote: nil) : .text }
    case .doctype(let isInBrackets, let quote):
      takeOfDoctype(byte, isInBrackets, quote)
    case .tag(let quote):
      if quote == nil, byte == UInt8(ascii: ">") {
        drawing = SVGSize(tag: kept)
        return
      }
      kept.append(byte)
      state = .tag(quote: Self.quote(quote, byte))
    }
  }

  private mutating func begin() {
    state = .beginning
    kept = []
  }

  private mutating func recognise() {
    if kept.elementsEqual("!--".utf8) {
      state = .comment
      kept = []
    } else if kept.first == UInt8(ascii: "?") {
      state = .instruction
      kept = []
    } else if kept.first == UInt8(ascii: "!") {
      guard kept.count >= 3 || kept.count == 2 && kept[1] != UInt8(ascii: "-") else { return }
      state = .doctype(isInBrackets: isInDoctype, quote: nil)
    } else {
      state = .tag(quote: nil)
    }
  }

  private mutating func takeOfDoctype(_ byte: UInt8, _ isInBrackets: Bool, _ quote: UInt8?) {
    let next = Self.quote(quote, byte)
    state = .doctype(isInBrackets: isInBrackets, quote: next)
    guard quote == nil, next == nil else { return }
    switch byte {
    case UInt8(ascii: "["):
      isInDoctype = true
      state = .doctype(isInBrackets: true, quote: nil)
    case UInt8(ascii: "]"):
      isInDoctype = false
      state = .doctype(isInBrackets: false, quote: nil)
    case UInt8(ascii: ">") where !isInBrackets: state = .text
    case UInt8(ascii: "<") where isInBrackets: begin()
    default: break
    }
  }

  private static func quote(_ quote: UInt8?, _ byte: UInt8) -> UInt8? {
    if let quote { return byte == quote ? nil : quote }
    return byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") ? byte : nil
  }

  private mutating func ends(with text: StaticString, _ byte: UInt8) -> Bool {
    kept.append(byte)
    return text.withUTF8Buffer { end in
      if kept.count > end.count { kept.removeFirst() }
      return kept.elementsEqual(end)
    }
  }
}
