/// Counts the groups of codes in a lossless bitstream of WebP before libwebp allocates them.
///
/// Each block of pixels may have a group of its own, of up to 20 KB, and costs a hostile file only some bytes. Usual encoders
/// write at most 2,600 groups. Of the images before the groups (of transforms, and of the groups' numbers), only the lengths
/// and the literal pixels are read: copied pixels add no further number.
struct LosslessGroups {
  /// The greatest size of a group: its tables, for which libwebp reserves the longest, and what it notes about them.
  static let bytesEach = (2300 + 2704) * 4 + 600
  /// With more numbers than that, libwebp counts only those in use.
  private static let mostSparse = 1000

  private var bits: BitReader
  private var width: Int
  private let height: Int

  /// For a bitstream behind its header.
  private init(_ bytes: UnsafeRawBufferPointer, _ size: ImageSize) {
    bits = BitReader(bytes)
    (width, height) = (size.width, size.height)
  }

  /// Returns the number of groups that libwebp will allocate; 1 if the bytes before end too early or are damaged, because
  /// then it stops before.
  static func count(_ bytes: UnsafeRawBufferPointer, _ size: ImageSize) -> Int {
    var reader = LosslessGroups(bytes, size)
    return reader.count() ?? 1
  }

  /// Returns the most groups that a picture of this size can have.
  static func most(_ size: ImageSize) -> Int {
    min(1 << 16, ((size.width + 3) / 4) * ((size.height + 3) / 4))
  }

  private mutating func count() -> Int? {
    guard skipTransforms(), skipCacheSize() != nil, let isGrouped = bits.read(1) else { return nil }
    guard isGrouped == 1 else { return 1 }
    guard let precision = bits.read(3) else { return nil }
    var numbers = Numbers()
    guard readImage(reduced(width, precision + 2), reduced(height, precision + 2), { numbers.add($0) }) else {
      return nil
    }
    let all = numbers.greatest + 1
    return all > Self.mostSparse || all > width * height ? numbers.distinct : all
  }

  private struct Numbers {
    private var isSeen = [Bool](repeating: false, count: 1 << 16)
    // An empty place of the colour cache has the number 0.
    private(set) var greatest = 0
    private(set) var distinct = 1

    init() { isSeen[0] = true }

    mutating func add(_ number: Int) {
      greatest = max(greatest, number)
      if !isSeen[number] { distinct += 1 }
      isSeen[number] = true
    }
  }

  private func reduced(_ side: Int, _ bits: Int) -> Int { (side + (1 << bits) - 1) >> bits }

  private mutating func skipTransforms() -> Bool {
    var seen = 0
    while let isThere = bits.read(1) {
      guard isThere == 1 else { return true }
      guard let kind = bits.read(2), seen & 1 << kind == 0 else { return false }
      seen |= 1 << kind
      switch kind {
      case 2: continue  // green is subtracted; nothing follows
      case 3:
        guard let more = bits.read(8), readImage(more + 1, 1, { _ in }) else { return false }
        // Few colours: several pixels in one.
        width = reduced(width, more > 15 ? 0 : more > 3 ? 1 : more > 1 ? 2 : 3)
      default:
        guard let size = bits.read(3),
          readImage(reduced(width, size + 2), reduced(height, size + 2), { _ in })
        else { return false }
      }
    }
    return false
  }

  /// Returns the number of places of the colour cache.
  private mutating func skipCacheSize() -> Int? {
    guard let isThere = bits.read(1) else { return nil }
    guard isThere == 1 else { return 0 }
    guard let size = bits.read(4), (1...11).contains(size) else { return nil }
    return 1 << size
  }

  /// Reads an image of one group, and passes the red and green of each literal pixel on.
  private mutating func readImage(_ width: Int, _ height: Int, _ literal: (Int) -> Void) -> Bool {
    guard let cache = skipCacheSize(), let green = readCode(256 + 24 + cache), let red = readCode(256),
      let blue = readCode(256), let alpha = readCode(256), let distance = readCode(40)
    else { return false }
    var left = width * height
    while left > 0 {
      guard let symbol = green.next(&bits) else { return false }
      switch symbol {
      case ..<256:
        guard let high = red.next(&bits), blue.next(&bits) != nil, alpha.next(&bits) != nil else {
          return false
        }
        literal(high << 8 | symbol)
        left -= 1
      case ..<280:
        guard let length = readNumber(symbol - 256), let far = distance.next(&bits), readNumber(far) != nil,
          length <= left
        else { return false }
        left -= length
      default:
        left -= 1
      }
    }
    return true
  }

  /// Reads the rest of a length or a distance.
  private mutating func readNumber(_ symbol: Int) -> Int? {
    guard symbol >= 4 else { return symbol + 1 }
    let count = (symbol - 2) >> 1
    return bits.read(count).map { ((2 + symbol & 1) << count) + $0 + 1 }
  }

  private mutating func readCode(_ symbols: Int) -> PrefixCode? {
    guard let isSimple = bits.read(1) else { return nil }
    var lengths = [UInt8](repeating: 0, count: max(256, symbols))
    if isSimple == 1 {
      guard let isPair = bits.read(1), let isLong = bits.read(1), let one = bits.read(isLong == 1 ? 8 : 1)
      else {
        return nil
      }
      lengths[one] = 1
      if isPair == 1 {
        guard let other = bits.read(8) else { return nil }
        lengths[other] = 1
      }
      return PrefixCode(lengths)
    }
    return readLengths(symbols, &lengths) ? PrefixCode(lengths) : nil
  }

  private static let order = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]

  private mutating func readLengths(_ symbols: Int, _ lengths: inout [UInt8]) -> Bool {
    guard let count = bits.read(4), count + 4 <= Self.order.count else { return false }
    var own = [UInt8](repeating: 0, count: Self.order.count)
    for place in Self.order.prefix(count + 4) {
      guard let length = bits.read(3) else { return false }
      own[place] = UInt8(length)
    }
    guard let code = PrefixCode(own), let isLimited = bits.read(1) else { return false }
    var most = symbols
    if isLimited == 1 {
      guard let size = bits.read(3), let number = bits.read(2 + 2 * size), number + 2 <= symbols else {
        return false
      }
      most = number + 2
    }
    var symbol = 0
    var previous: UInt8 = 8
    while symbol < symbols, most > 0 {
      most -= 1
      guard let length = code.next(&bits) else { return false }
      if length < 16 {
        lengths[symbol] = UInt8(length)
        if length > 0 { previous = UInt8(length) }
        symbol += 1
        continue
      }
      let (extra, least) = [(2, 3), (3, 3), (7, 11)][length - 16]
      guard let more = bits.read(extra), symbol + least + more <= symbols else { return false }
      for _ in 0..<least + more {
        lengths[symbol] = length == 16 ? previous : 0
        symbol += 1
      }
    }
    return true
  }
}

/// Bits from the lowest of each byte on.
private struct BitReader {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0
  private var window: UInt64 = 0
  private var count = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// Returns the next bits, at most 32; nil if there are fewer.
  mutating func read(_ wanted: Int) -> Int? {
    if count < wanted { fill() }
    guard count >= wanted else { return nil }
    let value = Int(window & (1 << UInt64(wanted) - 1))
    window >>= UInt64(wanted)
    count -= wanted
    return value
  }

  /// The next `wanted` bits, at most 32, with zeros behind the end.
  mutating func peek(_ wanted: Int) -> Int {
    if count < wanted { fill() }
    return Int(window & (1 << UInt64(wanted) - 1))
  }

  private mutating func fill() {
    while count <= 56, position < bytes.count {
      window |= UInt64(bytes[position]) << UInt64(count)
      position += 1
      count += 8
    }
  }
}

/// A complete canonical prefix code of up to 15 bits.
private struct PrefixCode {
  /// For each length, the number of its symbols.
  private var counts = [Int](repeating: 0, count: 16)
  /// The symbols in the order of their codes.
  private var symbols: [UInt16] = []
  /// For each value of the next `short` bits, the symbol whose code they begin with, and the length of that code in the lowest
  /// four bits. 0: the code is longer.
  private var table: [UInt16] = []
  private static let short = 8

  /// Returns nil if the lengths make no complete code.
  init?(_ lengths: [UInt8]) {
    for length in lengths where length > 0 { counts[Int(length)] += 1 }
    var starts = [Int](repeating: 0, count: 17)
    var left = 1
    for length in 1..<16 {
      left = 2 * left - counts[length]
      guard left >= 0 else { return nil }
      starts[length + 1] = starts[length] + counts[length]
    }
    guard starts[16] == 1 || left == 0 else { return nil }
    symbols = [UInt16](repeating: 0, count: starts[16])
    for (symbol, length) in lengths.enumerated() where length > 0 {
      symbols[starts[Int(length)]] = UInt16(symbol)
      starts[Int(length)] += 1
    }
    if symbols.count > 1 { fillTable() }
  }

  private mutating func fillTable() {
    table = [UInt16](repeating: 0, count: 1 << Self.short)
    var (code, place) = (0, 0)
    for length in 1...Self.short {
      for symbol in symbols[place..<place + counts[length]] {
        // The first bit of a code is its highest, and the lowest in the file.
        var turned = 0
        for bit in 0..<length where code >> bit & 1 == 1 { turned |= 1 << (length - 1 - bit) }
        for index in stride(from: turned, to: table.count, by: 1 << length) {
          table[index] = symbol << 4 | UInt16(length)
        }
        code += 1
      }
      place += counts[length]
      code <<= 1
    }
  }

  /// Returns the next symbol; nil if there are too few bits. A code of one symbol takes no bits.
  func next(_ bits: inout BitReader) -> Int? {
    guard symbols.count > 1 else { return Int(symbols[0]) }
    let entry = table[bits.peek(Self.short)]
    guard entry == 0 else { return bits.read(Int(entry & 15)).map { _ in Int(entry >> 4) } }
    var (code, first, place) = (0, 0, 0)
    for length in 1..<16 {
      guard let bit = bits.read(1) else { return nil }
      code |= bit
      let count = counts[length]
      if code - count < first { return Int(symbols[place + code - first]) }
      place += count
      first = (first + count) << 1
      code <<= 1
    }
    return nil
  }
}
