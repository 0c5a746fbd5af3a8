@testable import NuthatchImaging

/// A device-independent bitmap that a test makes for itself, and what it must look like.
struct BitmapFixture {
  let size: ImageSize
  let bits: Int
  /// The values of the pixels, row by row, top to bottom.
  var values: [UInt32]
  var headerBytes = 40
  var compression = 0
  /// Red, green, blue, alpha.
  var masks: [UInt32] = []
  var isTopDown = false
  /// The entries of the colour table, and what the header says of them.
  var colorCount: Int
  var saidColors = 0
  /// What the file says where the pixels are; nil for the truth.
  var saidOffset: Int?
  var gap = 0
  /// An icon's mask; true is transparent.
  var mask: [Bool]

  init(_ width: Int, _ height: Int, bits: Int, seed: UInt64 = 6) {
    size = ImageSize(width: width, height: height)
    self.bits = bits
    var random = Random(seed: seed)
    let most = bits == 32 ? UInt64(UInt32.max) : 1 << UInt64(bits) - 1
    var value: UInt32 = 0
    values = (0..<width * height).map { _ in
      // Runs and single pixels.
      if random.below(3) > 0 { value = UInt32(random.next() & most) }
      return value
    }
    mask = (0..<width * height).map { _ in random.below(3) == 0 }
    colorCount = bits <= 8 ? 1 << bits : 0
  }

  static func little(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private static func color(_ index: Int) -> [UInt8] {
    [UInt8(index * 5 & 255), UInt8(255 - index & 255), UInt8(index * 3 & 255)]
  }

  private var hasMasks: Bool { compression == 3 || compression == 6 }

  private func header(height: Int) -> [UInt8] {
    if headerBytes == 12 {
      return Self.little(12, 4) + Self.little(size.width, 2) + Self.little(height, 2) + [1, 0]
        + Self.little(bits, 2)
    }
    var out = Self.little(headerBytes, 4) + Self.little(size.width, 4)
    out += Self.little(isTopDown ? -height : height, 4) + [1, 0] + Self.little(bits, 2)
    if headerBytes == 16 { return out }
    out += Self.little(compression, 4) + [UInt8](repeating: 0, count: 12) + Self.little(saidColors, 4)
    out += [0, 0, 0, 0]
    if hasMasks { out += masks.flatMap { Self.little(Int($0), 4) } }
    return out + [UInt8](repeating: 0, count: max(0, headerBytes - out.count))
  }

  /// Blue, green and red; and a byte without a meaning, except in the oldest headers.
  private var colors: [UInt8] {
    (0..<colorCount).flatMap { Self.color($0).reversed() + (headerBytes == 12 ? [] : [77]) }
  }

  /// The rows as they are stored, from `rows` of values with that many bits.
  private func packed(_ values: [UInt32], bits: Int) -> [UInt8] {
    var out: [UInt8] = []
    for y in isTopDown ? Array(0..<size.height) : (0..<size.height).reversed() {
      let row = values[y * size.width..<(y + 1) * size.width]
      var line: [UInt8] = []
      if bits >= 8 {
        for value in row { line += Self.little(Int(value), bits / 8) }
      } else {
        for at in stride(from: 0, to: size.width, by: 8 / bits) {
          var byte: UInt8 = 0
          for step in 0..<8 / bits {
            let place = row.startIndex + at + step
            byte = byte << UInt8(bits) | (at + step < size.width ? UInt8(row[place]) : 0)
          }
          line.append(byte)
        }
      }
      out += line + [UInt8](repeating: 0xEE, count: (4 - line.count % 4) % 4)
    }
    return out
  }

  /// Runs, single pixels, and skipped ones where the value is 0.
  private var runs: [UInt8] {
    var out: [UInt8] = []
    for y in isTopDown ? Array(0..<size.height) : (0..<size.height).reversed() {
      let row = Array(values[y * size.width..<(y + 1) * size.width]).map { UInt8($0) }
      var x = 0
      while x < row.count {
        let same = row[x...].prefix(200).prefix { $0 == row[x] }.count
        if row[x] == 0 && same > 1 {
          out += [0, 2, UInt8(same), 0]
          x += same
        } else if same > 2 || row.count - x < 3 {
          out += [UInt8(same), bits == 8 ? row[x] : row[x] << 4 | row[x]]
          x += same
        } else {
          let some = Array(row[x..<min(row.count, x + 3 + x % 4)])
          var bytes = some
          if bits == 4 {
            bytes = stride(from: 0, to: some.count, by: 2).map {
              some[$0] << 4 | ($0 + 1 < some.count ? some[$0 + 1] : 0)
            }
          }
          out += [0, UInt8(some.count)] + bytes + (bytes.count % 2 == 0 ? [] : [0])
          x += some.count
        }
      }
      out += [0, 0]
    }
    return out + [0, 1]
  }

  var pixels: [UInt8] { compression == 1 || compression == 2 ? runs : packed(values, bits: bits) }

  var bmp: [UInt8] {
    let head = header(height: size.height) + colors
    let offset = saidOffset ?? 14 + head.count + gap
    return Array("BM".utf8) + Self.little(0, 4) + Self.little(0, 4) + Self.little(offset, 4) + head
      + [UInt8](repeating: 0xCC, count: gap) + pixels
  }

  /// As it is in icons: twice as high, with the mask behind the pixels.
  var dib: [UInt8] {
    header(height: 2 * size.height) + colors + pixels + packed(mask.map { $0 ? 1 : 0 }, bits: 1)
  }

  var icon: [UInt8] { ICOFixture([.init(size.width, size.height, bits: bits, dib)]).bytes }

  /// RGBA of a pixel, by the default masks of its bits.
  private func pixel(_ value: UInt32, alpha: Bool) -> [UInt8] {
    if bits <= 8 { return value < colorCount ? Self.color(Int(value)) + [255] : [0, 0, 0, 255] }
    let all: [UInt32] =
      hasMasks
      ? masks + [0] : bits == 16 ? [0x7C00, 0x3E0, 0x1F, 0] : [0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000]
    return (0..<4).map { channel in
      let mask = all[channel]
      if mask == 0 || (channel == 3 && !alpha) { return channel == 3 ? 255 : 0 }
      let shift = UInt32(mask.trailingZeroBitCount)
      let most = Double(mask >> shift)
      return UInt8((Double((value & mask) >> shift) / most * 255).rounded())
    }
  }

  /// - Parameters:
  ///   - alpha: whether the values' alpha counts.
  ///   - masked: whether the icon's mask counts.
  func expected(alpha: Bool = false, masked: Bool = false) -> [UInt8] {
    values.indices.flatMap { masked && mask[$0] ? [0, 0, 0, 0] : pixel(values[$0], alpha: alpha) }
  }
}

/// An icon of several pictures.
struct ICOFixture {
  struct Entry {
    var width: Int
    var height: Int
    /// What the directory says of bits and colours.
    var bits: Int
    var colors = 0
    var picture: [UInt8]
    var saidOffset: Int?

    init(_ width: Int, _ height: Int, bits: Int, _ picture: [UInt8]) {
      (self.width, self.height, self.bits, self.picture) = (width, height, bits, picture)
    }
  }

  var entries: [Entry]
  var isCursor = false

  init(_ entries: [Entry]) { self.entries = entries }

  var bytes: [UInt8] {
    var out: [UInt8] = [0, 0, isCursor ? 2 : 1, 0] + BitmapFixture.little(entries.count, 2)
    var offset = 6 + 16 * entries.count
    for entry in entries {
      out += [UInt8(truncatingIfNeeded: entry.width), UInt8(truncatingIfNeeded: entry.height)]
      out += [UInt8(entry.colors), 0, 1, 0] + BitmapFixture.little(entry.bits, 2)
      out +=
        BitmapFixture.little(entry.picture.count, 4) + BitmapFixture.little(entry.saidOffset ?? offset, 4)
      offset += entry.picture.count
    }
    return out + entries.flatMap(\.picture)
  }
}
