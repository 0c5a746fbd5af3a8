extension PixelBuffer {
  /// Turns a picture that is stored in `orientation` upright. Returns the same object if it is upright already.
  public func oriented(_ orientation: Orientation) throws(ImageFault) -> PixelBuffer {
    if orientation == .upright { return self }
    let upright = try PixelBuffer(uninitialized: orientation.applied(to: size), opaque: isOpaque)
    // The target of the stored pixel (0, 0), and the steps for one column and one row.
    let (w, h) = (upright.width, upright.height)
    let (start, column, row): (Int, Int, Int) =
      switch orientation {
      case .upright: (0, 1, w)
      case .mirrored: (w - 1, -1, w)
      case .rotated180: (w * h - 1, -1, -w)
      case .flipped: (w * (h - 1), 1, -w)
      case .transposed: (0, w, 1)
      case .rotated90: (w - 1, w, -1)
      case .transversed: (w * h - 1, -w, -1)
      case .rotated270: (w * (h - 1), -w, 1)
      }
    pixels.withMemoryRebound(to: UInt32.self, capacity: width * height) { source in
      upright.pixels.withMemoryRebound(to: UInt32.self, capacity: width * height) { target in
        // If columns become rows, copy in tiles: each cache line is then loaded once.
        let tile = orientation.swapsSides ? 16 : width
        for top in Swift.stride(from: 0, to: height, by: orientation.swapsSides ? 16 : 1) {
          for left in Swift.stride(from: 0, to: width, by: tile) {
            for y in top..<min(top + (orientation.swapsSides ? 16 : 1), height) {
              var to = start + y * row + left * column
              for x in left..<min(left + tile, width) {
                target[to] = source[y * width + x]
                to += column
              }
            }
          }
        }
      }
    }
    return upright
  }
}
