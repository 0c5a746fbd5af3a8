/// The blocks of 8x8 coefficients that a JPEG's frame header announces, and what memory they take.
struct JPEGBlocks {
  private struct Component {
    let horizontal: Int
    let vertical: Int
  }

  private let components: [Component]
  private let widest: Int
  private let highest: Int
  /// Groups of blocks in a row, and rows of groups.
  private let columns: Int
  private let rows: Int

  /// - Parameter factors: the sampling factors of the components, 1 to 4.
  init(_ size: ImageSize, _ factors: [(horizontal: Int, vertical: Int)]) {
    components = factors.map { Component(horizontal: $0.horizontal, vertical: $0.vertical) }
    widest = components.reduce(1) { max($0, $1.horizontal) }
    highest = components.reduce(1) { max($0, $1.vertical) }
    columns = (size.width + 8 * widest - 1) / (8 * widest)
    rows = (size.height + 8 * highest - 1) / (8 * highest)
  }

  /// All coefficients, of two bytes each.
  var coefficientBytes: Int {
    components.reduce(0) { $0 + columns * $1.horizontal * rows * $1.vertical * 128 }
  }

  /// A mean of two bytes for each block, and one row of groups of whole blocks. Nil where a decode at an eighth needs more
  /// of some component than its means: `is_about_means` of jpeg_decode.c decides by the same rule.
  func meansBytes(_ color: ImageInfo.Color) -> Int? {
    guard components.indices.allSatisfy({ needsMeansOnly($0, color) }) else { return nil }
    return coefficientBytes / 64
      + components.reduce(0) { $0 + columns * $1.horizontal * $1.vertical * 128 }
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
