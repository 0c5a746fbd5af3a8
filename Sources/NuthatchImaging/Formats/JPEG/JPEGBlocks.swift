/// The components in a JPEG's frame header, and the memory of their blocks of 8x8 coefficients.
struct JPEGBlocks {
  private struct Component {
    var name: UInt8 = 0
    var factors: UInt8 = 0x11

    var horizontal: Int { Int(factors >> 4) }
    var vertical: Int { Int(factors & 15) }
  }

  // Inline instead of in an array: this is created for each picture.
  private var components: [4 of Component] = .init(repeating: Component())
  /// The number of components.
  let count: Int
  private var widest = 1
  private var highest = 1
  /// The number of MCUs (groups of blocks) in a row, and the number of their rows.
  private let columns: Int
  private let rows: Int

  /// Returns nil if the sampling factors are invalid.
  ///
  /// - Parameter bytes: one to four components, three bytes each.
  init?(_ size: ImageSize, _ bytes: UnsafeRawBufferPointer) {
    count = min(bytes.count / 3, 4)
    for index in 0..<count {
      let component = Component(name: bytes[3 * index], factors: bytes[3 * index + 1])
      guard (1...4).contains(component.horizontal), (1...4).contains(component.vertical) else { return nil }
      components[index] = component
      widest = max(widest, component.horizontal)
      highest = max(highest, component.vertical)
    }
    columns = (size.width + 8 * widest - 1) / (8 * widest)
    rows = (size.height + 8 * highest - 1) / (8 * highest)
  }

  /// Whether the components are named R, G and B.
  var isNamedRGB: Bool {
    count == 3 && components[0].name == 0x52 && components[1].name == 0x47 && components[2].name == 0x42
  }

  /// libjpeg decodes a component with half of the columns and rows to larger blocks, but not one that has a quarter of the columns
  /// and all rows. At 1:8, each of its samples would stand for 32 columns.
  var greatestReduction: Int {
    (0..<count).contains {
      let (across, down) = (widest / components[$0].horizontal, highest / components[$0].vertical)
      return max(across, down) >= 4 * min(across, down)
    } ? 4 : 8
  }

  /// The bytes of all coefficients, two each.
  var coefficientBytes: Int { rows * rowBytes }

  /// Returns the bytes of all blocks' mean values and of one row of whole MCUs. Nil if decoding at 1:8 needs more than the mean
  /// values; `is_about_means` in jpeg_decode.c uses the same rule.
  func meansBytes(_ color: ImageInfo.Color) -> Int? {
    guard (0..<count).allSatisfy({ needsMeansOnly($0, color) }) else { return nil }
    return coefficientBytes / 64 + rowBytes
  }

  /// The bytes of one row of MCUs.
  private var rowBytes: Int {
    (0..<count).reduce(0) { $0 + columns * components[$1].horizontal * components[$1].vertical * 128 }
  }

  private func needsMeansOnly(_ index: Int, _ color: ImageInfo.Color) -> Bool {
    let component = components[index]
    // libjpeg decodes a component with fewer samples to larger blocks instead of enlarging it later.
    var side = 1
    while side < 8, widest % (component.horizontal * side * 2) == 0,
      highest % (component.vertical * side * 2) == 0
    {
      side *= 2
    }
    // For the colours of YCbCr, half the resolution is enough.
    return side == 1 || (side == 2 && index > 0 && color == .ycbcr)
  }
}
