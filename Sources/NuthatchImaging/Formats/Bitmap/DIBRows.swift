/// The rows of a device-independent bitmap.
final class DIBRows {
  /// Where the parts of a bitmap are in the input.
  struct Places {
    let colors: Int
    let pixels: Int
    /// The mask of an icon: a set bit makes a pixel transparent.
    var mask: Int?
    /// The picture isn't cut: a mask without its last rows was written so, and hides nothing there. Some writers forget to fill
    /// its rows up.
    var hasShortMask = false
  }

  let isOpaque: Bool

  private let header: DIBHeader
  private let bytes: UnsafeRawBufferPointer
  private let pixels: Int
  private let mask: Int?
  private let hasShortMask: Bool
  private let runs: DIBRuns?
  private let colors: HeapArray<UInt32>
  private let channels: [DIBChannel]

  init(_ header: DIBHeader, _ bytes: UnsafeRawBufferPointer, _ places: Places) throws(ImageFault) {
    self.header = header
    self.bytes = bytes
    pixels = places.pixels
    hasShortMask = places.hasShortMask
    colors = try HeapArray(256)
    if header.bits <= 8 { Self.fill(colors.base, header, bytes, places) }
    runs =
      try header.compression == .none ? nil : DIBRuns(header, bytes.dropFirst(min(pixels, bytes.count)))
    // Many writers leave alpha at 0 everywhere, and mean an opaque picture.
    let hasAlpha = header.hasAlpha && Self.hasVisiblePixel(header, bytes, pixels)
    channels =
      header.bits <= 8
      ? []
      : header.masks.enumerated().map { index, mask in
        index == 3 && !hasAlpha ? DIBChannel(0) : DIBChannel(mask)
      }
    // Alpha is enough. Then the mask says the same, or nothing. Without a mask the picture is opaque, as in browsers.
    mask = hasAlpha || (hasShortMask && places.mask ?? 0 >= bytes.count) ? nil : places.mask
    isOpaque = !hasAlpha && mask == nil
  }

  /// Why a row is missing.
  var fault: ImageFault {
    let count = runs?.rows ?? rows(of: pixels, bits: header.bits)
    if let runs, count < header.size.height { return runs.fault }
    let whole = count < header.size.height ? count : mask.map { rows(of: $0, bits: 1) } ?? count
    return ImageFault(
      .truncated, "the bitmap ends after \(whole) of its \(header.size.height) rows", at: bytes.count)
  }

  private func rows(of place: Int, bits: Int) -> Int { max(0, bytes.count - place) / length(bits: bits) }

  /// Writes a row of RGBA. Returns false if the row is missing.
  func copy(row: Int, to out: UnsafeMutablePointer<UInt32>) -> Bool {
    let stored = header.isTopDown ? row : header.size.height - 1 - row
    if let runs {
      guard stored < runs.rows else { return false }
      let indices = runs.indices.base + stored * header.size.width
      for x in 0..<header.size.width { out[x] = colors.base[Int(indices[x])] }
    } else {
      guard let source = self.row(stored, of: pixels, bits: header.bits) else { return false }
      if header.bits <= 8 { copy(indices: source, to: out) } else { copy(values: source, to: out) }
    }
    guard let mask else { return true }
    guard let invisible = self.row(stored, of: mask, bits: 1) else { return hasShortMask }
    for x in 0..<header.size.width where invisible[x >> 3] << UInt8(x & 7) & 0x80 != 0 { out[x] = 0 }
    return true
  }

  private func length(bits: Int) -> Int { (header.size.width * bits + 31) / 32 * 4 }

  /// Returns a stored row of the pixels or of the mask; nil if it is missing. The last one may lack the bytes that only fill it up.
  private func row(_ row: Int, of place: Int, bits: Int) -> UnsafePointer<UInt8>? {
    let start = place + row * length(bits: bits)
    guard start + (header.size.width * bits + 7) / 8 <= bytes.count, let base = bytes.baseAddress else {
      return nil
    }
    return (base + start).assumingMemoryBound(to: UInt8.self)
  }

  private func copy(indices source: UnsafePointer<UInt8>, to out: UnsafeMutablePointer<UInt32>) {
    let bits = header.bits
    if bits == 8 {
      for x in 0..<header.size.width { out[x] = colors.base[Int(source[x])] }
      return
    }
    let perByte = 8 / bits
    let lowest = 1 << bits - 1
    for x in 0..<header.size.width {
      let shift = 8 - bits * (x % perByte + 1)
      out[x] = colors.base[Int(source[x / perByte]) >> shift & lowest]
    }
  }

  private func copy(values source: UnsafePointer<UInt8>, to out: UnsafeMutablePointer<UInt32>) {
    let step = header.bits / 8
    var place = source
    for x in 0..<header.size.width {
      let value = Self.value(place, step)
      var pixel = channels[0].level(value)
      pixel |= channels[1].level(value) << 8
      pixel |= channels[2].level(value) << 16
      pixel |= (channels[3].isAbsent ? 255 : channels[3].level(value)) << 24
      out[x] = UInt32(littleEndian: pixel)
      place += step
    }
  }

  private static func value(_ place: UnsafePointer<UInt8>, _ count: Int) -> UInt32 {
    var value = UInt32(place[0]) | UInt32(place[1]) << 8
    if count > 2 { value |= UInt32(place[2]) << 16 }
    if count > 3 { value |= UInt32(place[3]) << 24 }
    return value
  }

  /// Fills the colours of all indices. Those beyond the table are black.
  private static func fill(
    _ colors: UnsafeMutablePointer<UInt32>, _ header: DIBHeader, _ bytes: UnsafeRawBufferPointer,
    _ places: Places
  ) {
    let room = max(0, min(bytes.count, places.pixels) - places.colors) / header.colorBytes
    let count = min(256, header.colorCount, room)
    for index in 0..<256 {
      var color: UInt32 = 0
      if index < count {
        let at = places.colors + index * header.colorBytes
        color = UInt32(bytes[at + 2]) | UInt32(bytes[at + 1]) << 8 | UInt32(bytes[at]) << 16
      }
      colors[index] = UInt32(littleEndian: color | 0xFF00_0000)
    }
  }

  /// Whether a pixel that is there has another alpha than 0.
  private static func hasVisiblePixel(
    _ header: DIBHeader, _ bytes: UnsafeRawBufferPointer, _ pixels: Int
  ) -> Bool {
    guard let base = bytes.baseAddress, pixels < bytes.count else { return false }
    let step = header.bits / 8
    for row in 0..<header.size.height {
      let start = pixels + row * header.rowBytes
      let count = min(header.size.width, (bytes.count - start) / step)
      guard count > 0 else { return false }
      var place = (base + start).assumingMemoryBound(to: UInt8.self)
      for _ in 0..<count {
        if value(place, step) & header.masks[3] != 0 { return true }
        place += step
      }
    }
    return false
  }
}

/// A channel of a pixel's value, by its mask.
struct DIBChannel {
  private let mask: UInt32
  private let shift: UInt32
  /// The levels of the mask's highest eight bits.
  private let levels: [UInt8]

  var isAbsent: Bool { mask == 0 }

  init(_ mask: UInt32) {
    let low = mask == 0 ? 0 : mask.trailingZeroBitCount
    let width = mask == 0 ? 0 : 32 - mask.leadingZeroBitCount - low
    let kept = min(8, width)
    self.mask = mask
    shift = UInt32(low + width - kept)
    let most = (1 << kept) - 1
    levels = (0...255).map { UInt8(most == 0 ? 0 : (min($0, most) * 255 + most / 2) / most) }
  }

  func level(_ value: UInt32) -> UInt32 {
    levels.withUnsafeBufferPointer { UInt32($0[Int((value & mask) >> shift & 255)]) }
  }
}
