/// The indices of a bitmap that is stored as runs (RLE4, RLE8). Pixels that no run names have the index 0.
final class DIBRuns {
  /// As the rows are stored.
  let indices: HeapArray<UInt8>
  /// The rows that are complete.
  private(set) var rows = 0
  /// Why others aren't.
  private(set) var fault = ImageFault(.internal, "the bitmap's runs were not read")

  private let size: ImageSize
  private let isOfNibbles: Bool

  init(_ header: DIBHeader, _ bytes: Slice<UnsafeRawBufferPointer>) throws(ImageFault) {
    size = header.size
    isOfNibbles = header.compression == .runs4
    indices = try HeapArray(zeroed: size.area)
    expand(UnsafeRawBufferPointer(rebasing: bytes), at: bytes.startIndex)
  }

  private func expand(_ bytes: UnsafeRawBufferPointer, at start: Int) {
    var (x, y) = (0, 0)
    var place = 0
    while y < size.height {
      guard place + 2 <= bytes.count else { break }
      let (count, value) = (Int(bytes[place]), bytes[place + 1])
      place += 2
      if count > 0 {
        fill(x, y, min(count, size.width - x), value)
        x = min(size.width, x + count)
        continue
      }
      switch value {
      case 0: (x, y) = (0, y + 1)
      case 1:
        rows = size.height
        return
      case 2:
        guard place + 2 <= bytes.count else { return cut(x, y, start + bytes.count) }
        x = min(size.width, x + Int(bytes[place]))
        y += Int(bytes[place + 1])
        place += 2
      default:
        let count = Int(value)
        let used = isOfNibbles ? (count + 1) / 2 : count
        guard place + used <= bytes.count else { return cut(x, y, start + bytes.count) }
        copy(bytes, place, x, y, min(count, size.width - x))
        x = min(size.width, x + count)
        // Runs begin at multiples of two bytes.
        place += used + used % 2
      }
    }
    cut(x, y, start + bytes.count)
  }

  /// The bytes are over, or all rows are there.
  private func cut(_ x: Int, _ y: Int, _ place: Int) {
    rows = min(size.height, x == size.width ? y + 1 : y)
    fault = ImageFault(.truncated, "the bitmap ends after \(rows) of its \(size.height) rows", at: place)
  }

  private func fill(_ x: Int, _ y: Int, _ count: Int, _ value: UInt8) {
    let out = indices.base + y * size.width + x
    for index in 0..<count {
      out[index] = !isOfNibbles ? value : index % 2 == 0 ? value >> 4 : value & 15
    }
  }

  private func copy(_ bytes: UnsafeRawBufferPointer, _ place: Int, _ x: Int, _ y: Int, _ count: Int) {
    let out = indices.base + y * size.width + x
    for index in 0..<count {
      let byte = bytes[place + (isOfNibbles ? index / 2 : index)]
      out[index] = !isOfNibbles ? byte : index % 2 == 0 ? byte >> 4 : byte & 15
    }
  }
}
