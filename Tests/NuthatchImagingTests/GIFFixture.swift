@testable import NuthatchImaging

/// A GIF that a test makes for itself, and what its first frame must look like.
struct GIFFixture {
  var screen: ImageSize
  var place = (x: 0, y: 0)
  var size: ImageSize
  /// Row by row, top to bottom.
  var indices: [UInt8]
  var indexBits = 8
  var isInterlaced = false
  var transparent: UInt8?
  /// The number of colours in the global and in the frame's table; 0 for no table.
  var globalColors = 256
  var frameColors = 0
  /// Whether the table of strings is cleared when it is full.
  var clears = true
  var blockBytes = 255
  /// Before the frame's descriptor.
  var before: [UInt8] = []
  /// Behind the frame.
  var after: [UInt8] = [0x3B]

  /// Codes in place of those of `indices`.
  var ownCodes: [UInt8]?

  /// A frame of one colour, in few codes: its strings grow by a pixel each, to the longest that there can be.
  init(run width: Int, _ height: Int) {
    size = ImageSize(width: width, height: height)
    screen = size
    indices = []
    var writer = CodeWriter()
    writer.put(256, 9)
    writer.put(7, 9)
    var (next, pixels, codeWidth) = (258, 1, 9)
    while pixels < size.area {
      let code = min(next, 4095)
      writer.put(code, codeWidth)
      pixels += code - 256
      if next < 4096 { next += 1 }
      if next == 1 << codeWidth && codeWidth < 12 { codeWidth += 1 }
    }
    writer.put(257, codeWidth)
    ownCodes = writer.finished
  }

  /// A picture of noise and of runs.
  init(_ width: Int, _ height: Int, indexBits: Int = 8, seed: UInt64 = 5) {
    size = ImageSize(width: width, height: height)
    screen = size
    self.indexBits = indexBits
    var random = Random(seed: seed)
    let most = 1 << min(8, indexBits)
    var value: UInt8 = 0
    indices = (0..<width * height).map { place in
      // Noise above, and runs below.
      if place < width * height / 3 || random.below(20) == 0 { value = UInt8(random.below(most)) }
      return value
    }
  }

  /// Other colours in each table.
  static func color(_ index: Int, isGlobal: Bool) -> (UInt8, UInt8, UInt8) {
    let place = isGlobal ? index : 255 - index
    return (UInt8(place), UInt8(place * 7 & 255), UInt8(255 - place))
  }

  private static func table(_ count: Int, isGlobal: Bool) -> [UInt8] {
    (0..<count).flatMap { index in
      let color = color(index, isGlobal: isGlobal)
      return [color.0, color.1, color.2]
    }
  }

  private static func tableFlags(_ colors: Int) -> UInt8 {
    colors == 0 ? 0 : 0x80 | UInt8(Int.bitWidth - (colors - 1).leadingZeroBitCount - 1)
  }

  private static func pair(_ number: Int) -> [UInt8] { [UInt8(number & 255), UInt8(number >> 8)] }

  static let loop: [UInt8] = [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]

  static func comment(_ count: Int) -> [UInt8] {
    [0x21, 0xFE] + Array(repeating: [255] + [UInt8](repeating: 0x2C, count: 255), count: count).joined() + [0]
  }

  /// Everything before the codes.
  var head: [UInt8] {
    var out = Array("GIF89a".utf8) + Self.pair(screen.width) + Self.pair(screen.height)
    out += [Self.tableFlags(globalColors), 3, 0]
    out += Self.table(globalColors, isGlobal: true) + before
    if let transparent { out += [0x21, 0xF9, 4, 1, 9, 0, transparent, 0] }
    return out + descriptor
  }

  private var descriptor: [UInt8] {
    var out =
      [0x2C] + Self.pair(place.x) + Self.pair(place.y) + Self.pair(size.width) + Self.pair(size.height)
    out.append(Self.tableFlags(frameColors) | (isInterlaced ? 0x40 : 0))
    return out + Self.table(frameColors, isGlobal: false) + [UInt8(indexBits)]
  }

  /// The codes in blocks, with the empty one that ends them.
  var blocks: [UInt8] { Self.blocks(codes, blockBytes) }

  static func blocks(_ codes: [UInt8], _ most: Int = 255) -> [UInt8] {
    var out: [UInt8] = []
    for at in stride(from: 0, to: codes.count, by: most) {
      let block = codes[at..<min(codes.count, at + most)]
      out.append(UInt8(block.count))
      out += block
    }
    return out + [0]
  }

  var bytes: [UInt8] { head + blocks + after }

  /// The same frame once more, for animations.
  var furtherFrame: [UInt8] { descriptor + blocks }

  /// The rows in the order of the file.
  private var stored: [UInt8] {
    guard isInterlaced else { return indices }
    var rows: [Int] = []
    for (first, step) in [(0, 8), (4, 8), (2, 4), (1, 2)] {
      rows += Array(stride(from: first, to: size.height, by: step))
    }
    return rows.flatMap { indices[$0 * size.width..<($0 + 1) * size.width] }
  }

  var codes: [UInt8] {
    if let ownCodes { return ownCodes }
    var writer = CodeWriter()
    let clear = 1 << indexBits
    var (width, next) = (indexBits + 1, clear + 2)
    var strings: [Int: Int] = [:]
    var prefix = -1
    writer.put(clear, width)
    for index in stored.map(Int.init) {
      guard prefix >= 0 else {
        prefix = index
        continue
      }
      if let known = strings[prefix << 8 | index] {
        prefix = known
        continue
      }
      writer.put(prefix, width)
      if next < 4096 {
        strings[prefix << 8 | index] = next
        next += 1
        if next > 1 << width && width < 12 { width += 1 }
      } else if clears {
        writer.put(clear, width)
        (width, next) = (indexBits + 1, clear + 2)
        strings = [:]
      }
      prefix = index
    }
    writer.put(prefix, width)
    if next < 4096 && next + 1 > 1 << width && width < 12 { width += 1 }
    writer.put(clear + 1, width)
    return writer.finished
  }

  var canvas: ImageSize {
    ImageSize(
      width: max(screen.width, place.x + size.width), height: max(screen.height, place.y + size.height))
  }

  /// RGBA of the whole canvas.
  var expected: [UInt8] {
    var out = [UInt8](repeating: 0, count: canvas.area * 4)
    for y in 0..<size.height {
      for x in 0..<size.width {
        let index = indices[y * size.width + x]
        if index == transparent { continue }
        let isGlobal = frameColors == 0
        let count = isGlobal ? globalColors : frameColors
        var color = count == 0 ? (index, index, index) : (0, 0, 0)
        if index < count { color = Self.color(Int(index), isGlobal: isGlobal) }
        let at = ((place.y + y) * canvas.width + place.x + x) * 4
        (out[at], out[at + 1], out[at + 2], out[at + 3]) = (color.0, color.1, color.2, 255)
      }
    }
    return out
  }
}

/// Packs codes, the lowest bits first.
struct CodeWriter {
  private var bytes: [UInt8] = []
  private var bits: UInt64 = 0
  private var count = 0

  mutating func put(_ code: Int, _ width: Int) {
    bits |= UInt64(code) << UInt64(count)
    count += width
    while count >= 8 {
      bytes.append(UInt8(truncatingIfNeeded: bits))
      bits >>= 8
      count -= 8
    }
  }

  var finished: [UInt8] { count > 0 ? bytes + [UInt8(truncatingIfNeeded: bits)] : bytes }
}
