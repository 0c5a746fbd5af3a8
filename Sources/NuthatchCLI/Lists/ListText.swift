/// Converts the bytes of a list to UTF-8. The byte order mark names the encoding. Refuses binary files.
struct ListText {
  enum Fault {
    case noList(String)
    /// The text is damaged from here on.
    case broken(String)
  }

  private enum Encoding {
    /// Not known yet: too few bytes have come.
    case unknown
    case utf8
    case utf16(isBigEndian: Bool)
  }

  private var encoding = Encoding.unknown
  /// The beginning of the list until the encoding is known; after that, the first byte of an incomplete code unit.
  private var held: [UInt8] = []
  /// The first half of a surrogate pair.
  private var high: UInt16?
  /// The number of bytes that were checked for control characters, and the number of control characters among them.
  private var looked = 0
  private var controls = 0
  private(set) var fault: Fault?

  /// Adds the text of the next bytes to `content`. Ignores bytes after a fault.
  mutating func take(_ bytes: [UInt8], into content: inout [UInt8]) {
    guard fault == nil else { return }
    let before = content.count
    switch encoding {
    case .unknown:
      held += bytes
      guard !Self.mayBegin(held) else { return }
      return begin(into: &content)
    case .utf8: content += bytes
    case .utf16(let isBigEndian): decode(bytes, isBigEndian, into: &content)
    }
    look(at: &content, from: before)
  }

  /// Notes the end of the bytes.
  mutating func end(into content: inout [UInt8]) {
    guard fault == nil else { return }
    if case .unknown = encoding { begin(into: &content) }
    guard fault == nil, case .utf16 = encoding else { return }
    if !held.isEmpty {
      fault = .broken("the UTF-16 text ends in the middle of a character: it has an odd number of bytes")
    }
    if high != nil { fault = .broken(Self.loneSurrogate) }
  }

  // MARK: The beginning

  private static let marks: [(bytes: [UInt8], encoding: Encoding)] = [
    ([0xef, 0xbb, 0xbf], .utf8), ([0xff, 0xfe], .utf16(isBigEndian: false)),
    ([0xfe, 0xff], .utf16(isBigEndian: true)),
  ]

  /// Files that are given as a list by mistake, and what is needed instead.
  private static let others: [(bytes: [UInt8], name: String)] = [
    ([0x89] + Array("PNG".utf8), "a PNG picture"),
    ([0xff, 0xd8, 0xff], "a JPEG picture"),
    (Array("GIF8".utf8), "a GIF picture"),
    ([0x7f] + Array("ELF".utf8), "a program"),
    ([0x50, 0x4b, 3, 4], "a zip file; save a spreadsheet as CSV"),
    ([0xd0, 0xcf, 0x11, 0xe0], "an Office file; save a spreadsheet as CSV"),
    (Array("%PDF-".utf8), "a PDF file"),
    (Array("BZh91AY".utf8), "compressed by bzip2; gzip, zstd and xz can be read"),
    ([0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], "a 7z file; gzip, zstd and xz can be read"),
    (Array("SQLite format 3\0".utf8), "an SQLite database"),
    ([0xff, 0xfe, 0, 0], "UTF-32; UTF-8 or UTF-16 is needed"),
  ]

  /// Returns whether the bytes may be the beginning of a longer byte order mark.
  private static func mayBegin(_ head: [UInt8]) -> Bool {
    marks.contains { $0.bytes.count > head.count && $0.bytes.starts(with: head) }
  }

  private mutating func begin(into content: inout [UInt8]) {
    let bytes = held
    held = []
    if let other = Self.others.first(where: { bytes.starts(with: $0.bytes) }) {
      fault = .noList("it is \(other.name)")
      return
    }
    let mark = Self.marks.first { bytes.starts(with: $0.bytes) }
    encoding = mark?.encoding ?? .utf8
    take(Array(bytes.dropFirst(mark?.bytes.count ?? 0)), into: &content)
  }

  /// The number of bytes that are checked.
  private static let mostLooked = 4096

  /// Checks the new bytes, and removes them if they are not text.
  private mutating func look(at content: inout [UInt8], from start: Int) {
    let bytes = content[start...].prefix(Self.mostLooked - looked)
    guard !bytes.isEmpty else { return }
    looked += bytes.count
    // Text for terminals may have the characters from BEL to CR, and ESC.
    controls += bytes.count { $0 < 7 || (14..<0x20).contains($0) && $0 != 0x1b || $0 == 0x7f }
    if bytes.contains(0) {
      fault = .noList("it has NUL bytes: it is a binary file, or UTF-16 without a byte order mark")
    } else if controls * 10 > looked * 3 {
      fault = .noList("it has too many control characters: it is a binary file")
    } else {
      return
    }
    content.removeSubrange(start...)
  }

  // MARK: UTF-16

  private static let loneSurrogate = "the UTF-16 text has half of a surrogate pair"

  private mutating func decode(_ bytes: [UInt8], _ isBigEndian: Bool, into content: inout [UInt8]) {
    content.reserveCapacity(content.count + bytes.count)
    var next = bytes[...]
    if let first = held.first, let second = next.popFirst() {
      held = []
      take(unit: Self.unit(first, second, isBigEndian), into: &content)
    }
    var place = next.startIndex
    while fault == nil, place + 1 < next.endIndex {
      take(unit: Self.unit(next[place], next[place + 1], isBigEndian), into: &content)
      place += 2
    }
    if place < next.endIndex { held = [next[place]] }
  }

  private static func unit(_ first: UInt8, _ second: UInt8, _ isBigEndian: Bool) -> UInt16 {
    isBigEndian ? UInt16(first) << 8 | UInt16(second) : UInt16(second) << 8 | UInt16(first)
  }

  private mutating func take(unit: UInt16, into content: inout [UInt8]) {
    if high == nil, unit < 0x80 { return content.append(UInt8(unit)) }
    var code = UInt32(unit)
    if let first = high {
      guard UTF16.isTrailSurrogate(unit) else { return fault = .broken(Self.loneSurrogate) }
      code = 0x10000 + (UInt32(first) - 0xd800) << 10 + (code - 0xdc00)
      high = nil
    } else if UTF16.isLeadSurrogate(unit) {
      return high = unit
    }
    guard let scalar = Unicode.Scalar(code) else { return fault = .broken(Self.loneSurrogate) }
    content += UTF8.encode(scalar)?.map { $0 } ?? []
  }
}
