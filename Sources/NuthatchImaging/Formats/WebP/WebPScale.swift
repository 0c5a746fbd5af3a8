import CSystem

/// Makes rows of one scale from what libwebp has decoded, and resamples them to the thumbnails of that scale.
final class WebPScale {
  private static let batch = 16

  /// The scale is 1 : this number; 1, 2, 4 or 8.
  let denominator: Int
  /// The indices of this scale's thumbnails among all thumbnails.
  let places: [Int]
  private let frame: WebPFrame
  private let size: ImageSize
  private let rows: RowBatch
  private let spare: HeapArray<UInt8>
  private let fanOut: RowFanOut

  init(_ denominator: Int, _ plans: [StoredPlan], _ frame: WebPFrame) throws(ImageFault) {
    self.denominator = denominator
    self.frame = frame
    places = plans.indices.filter { plans[$0].denominator == denominator }
    size = ImageSize(
      width: (frame.canvas.width + denominator - 1) / denominator,
      height: (frame.canvas.height + denominator - 1) / denominator)
    fanOut = try RowFanOut(
      places.map { plans[$0] }, rowSize: size, denominator: denominator,
      blur: PlaneReduction.blur(denominator), opaque: frame.isOpaque)
    rows = try RowBatch(width: size.width, rows: Self.batch)
    spare = try HeapArray(frame.bitstream.isLossless ? 1 : nhs_yuv_spare(Int32(frame.bitstream.size.width)))
  }

  var hasRows: Bool { fanOut.rows > 0 }

  /// Takes the rows that are new in the picture. If it is complete, all the canvas's.
  func take(_ picture: nhs_webp_picture, isComplete: Bool) throws(ImageFault) {
    let ready = isComplete ? size.height : readyRows(picture)
    while fanOut.rows < ready {
      if let rgba = picture.rgba, frame.coversCanvas {
        let next = rgba + fanOut.rows * picture.stride
        return try fanOut.push(rows: next, count: ready - fanOut.rows, stride: picture.stride)
      }
      let count = min(Self.batch, ready - fanOut.rows)
      for row in 0..<count {
        write(row: fanOut.rows + row, of: picture, to: rows.base + row * rows.stride)
      }
      try fanOut.push(rows: rows.base, count: count, stride: rows.stride)
    }
  }

  /// Returns the number of rows of this scale whose pixels won't change.
  private func readyRows(_ picture: nhs_webp_picture) -> Int {
    let decoded = Int(picture.rows)
    guard decoded > 0 else { return 0 }
    if picture.rgba != nil { return frame.y + decoded }
    // A reduced row has a part of the next cell. At full size, colours are enlarged from two rows, of which one may be the next.
    return denominator > 1 ? max(0, decoded / denominator - 1) : frame.y + max(0, decoded / 2 * 2 - 1)
  }

  /// Writes a row of the canvas: outside of the frame it is transparent.
  private func write(row: Int, of picture: nhs_webp_picture, to pixels: UnsafeMutablePointer<UInt8>) {
    var planes = picture.planes
    if denominator > 1 {
      nhs_yuv_reduced_row(&planes, Int32(denominator), Int32(row), pixels, spare.base)
      return
    }
    let inner = row - frame.y
    let width = frame.bitstream.size.width
    if !frame.coversCanvas { pixels.update(repeating: 0, count: 4 * size.width) }
    guard inner >= 0, inner < frame.bitstream.size.height else { return }
    let start = pixels + 4 * frame.x
    if let rgba = picture.rgba {
      start.update(from: rgba + inner * picture.stride, count: 4 * width)
      guard !frame.hasAlpha else { return }
      for x in 0..<width { start[4 * x + 3] = 255 }
    } else {
      nhs_yuv_row(&planes, Int32(inner), start, spare.base)
    }
  }

  /// Returns the thumbnails in stored orientation.
  func finish() throws(ImageFault) -> [PixelBuffer] { try fanOut.finish() }
}
