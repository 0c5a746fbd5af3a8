/// What a GIF's header says of its first frame.
struct GIFFrame: Sendable {
  /// The logical screen, enlarged where the frame ends outside of it, as browsers do.
  let canvas: ImageSize
  /// The frame's place on the canvas.
  let x: Int
  let y: Int
  let size: ImageSize
  let isInterlaced: Bool
  /// The colours of the frame's own table, or of the global one; red, green and blue each. Empty if there is no table.
  let colors: [UInt8]
  /// The index of invisible pixels.
  let transparent: UInt8?
  /// The bits of an index, from which the codes' first length follows.
  let indexBits: Int

  /// Whether the frame leaves no pixel of the canvas transparent.
  var isOpaque: Bool { transparent == nil && size == canvas }

  /// The RGBA of each index. Without a table an index is a level of grey, as in Pillow; beyond a table it is black.
  func fill(_ table: UnsafeMutablePointer<UInt32>) {
    for index in 0..<256 {
      var rgb = (UInt32(0), UInt32(0), UInt32(0))
      if colors.isEmpty {
        rgb = (UInt32(index), UInt32(index), UInt32(index))
      } else if 3 * index + 2 < colors.count {
        rgb = (UInt32(colors[3 * index]), UInt32(colors[3 * index + 1]), UInt32(colors[3 * index + 2]))
      }
      table[index] = UInt32(littleEndian: rgb.0 | rgb.1 << 8 | rgb.2 << 16 | 0xFF00_0000)
    }
    if let transparent { table[Int(transparent)] = 0 }
  }

  /// Returns the place of a row among the frame's rows as they are stored: every eighth, those between, every second, the rest.
  func storedRow(_ row: Int) -> Int {
    guard isInterlaced else { return row }
    let height = size.height
    if row & 7 == 0 { return row >> 3 }
    let eighths = (height + 7) >> 3
    if row & 7 == 4 { return eighths + (row >> 3) }
    let fourths = eighths + ((height + 3) >> 3)
    if row & 3 == 2 { return fourths + (row >> 2) }
    return fourths + ((height + 1) >> 2) + (row >> 1)
  }
}
