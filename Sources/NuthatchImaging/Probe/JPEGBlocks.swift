/// The components that a JPEG's frame header announces, and what memory their blocks of 8x8 coefficients take.
struct JPEGBlocks {
  private struct Component {
    var name: UInt8 = 0
    var factors: UInt8 = 0x11

    var horizontal: Int { Int(factors >> 4) }
    var vertical: Int { Int(factors & 15) }
  }

  // In place, and not in an array: this is made for each picture that comes.
  private var components: [4 of Component] = .init(repeating: Component())
  /// How many components there are.
  let count: Int
  private var widest = 1
  private var highest = 1
  /// Groups of blocks in a row, and rows of groups.
  private let columns: Int
  private let rows: Int

  /// Nil for absurd sampling factors.
  ///
  /// - Parameter bytes: of one to four components, three bytes each.
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

  /// Whether the components are called R, G and B.
  var isNamedRGB: Bool {
    count == 3 && components[0].name == 0x52 && components[1].name == 0x47 && components[2].name == 0x42
  }

  /// All coefficients, of two bytes each.
  var coefficientBytes: Int { rows * rowBytes }

  /// A mean of two bytes for each block, and one row of groups of whole blocks. Nil where a decode at an eighth needs more
  /// of some component than its means: `is_about_means` of jpeg_decode.c decides by the same rule.
  func meansBytes(_ color: ImageInfo.Color) -> Int? {
    guard (0..<count).allSatisfy({ needsMeansOnly($0, color) }) else { return nil }
    return coefficientBytes / 64 + rowBytes
  }

  /// Of one row of groups.
  private var rowBytes: Int {
    (0..<count).reduce(0) { $0 + columns * components[$1].horizontal * components[$1].vertical * 128 }
  }

  private func needsMeansOnly(_ index: Int, _ color: ImageInfo.Color) -> Bool {
    let component = components[index]
    // libjpeg gives a component that has fewer samples more pixels a block, instead of enlarging it afterwards.
    var side = 1
    while side < 8, widest % (component.horizontal * side * 2) == 0,
      highest % (component.vertical * side * 2) == 0
    {
      side *= 2
    }
    // Half of them do for the colours of YCbCr.
    return side == 1 || (side == 2 && index > 0 && color == .ycbcr)
  }
}
