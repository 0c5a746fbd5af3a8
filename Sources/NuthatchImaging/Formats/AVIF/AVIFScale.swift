import CSystem

/// Makes rows of one scale from decoded planes, and resamples them to the thumbnails of that scale.
final class AVIFScale {
  private static let batch = 16

  /// The scale is 1 : this number; 1, 2, 4 or 8.
  private let denominator: Int
  private let planes: AVIFPlanes
  private let crop: AVIFPicture.Crop
  private let tone: ToneMap?
  private var colors: nhs_colors
  private let size: ImageSize
  private let fanOut: RowFanOut

  /// For plans of this denominator.
  init(_ denominator: Int, _ plans: [StoredPlan], _ picture: AVIFPicture, _ planes: AVIFPlanes)
    throws(ImageFault)
  {
    self.denominator = denominator
    self.planes = planes
    crop = picture.crop
    size = ImageSize(
      width: (crop.size.width + denominator - 1) / denominator,
      height: (crop.size.height + denominator - 1) / denominator)
    fanOut = try RowFanOut(
      plans, rowSize: size, denominator: denominator,
      blur: PlaneReduction.blur(denominator), opaque: picture.alpha == nil)
    // An ICC profile says what the colours are.
    tone =
      !picture.hasProfile && planes.colors.isHDR
      ? try ToneMap(isHLG: planes.colors.isHLG, primaries: planes.colors.primaries) : nil
    colors = try Self.colors(planes, isReduced: denominator > 1, tone: tone)
    colors.is_premultiplied = picture.isPremultiplied ? 1 : 0
    colors.is_alpha_limited = planes.isAlphaLimited ? 1 : 0
    if denominator > 1, picture.alpha != nil { try planes.multiplyByAlpha(&colors) }
  }

  private static func colors(_ planes: AVIFPlanes, isReduced: Bool, tone: ToneMap?) throws(ImageFault)
    -> nhs_colors
  {
    let samples = planes.samples
    let chroma =
      samples.u == nil ? 0 : samples.halves_rows != 0 ? 1 : samples.halves_columns != 0 ? 2 : 3
    guard let matrix = AVIFMatrix.of(planes.colors, chroma: chroma, isExact: tone != nil) else {
      throw ImageFault(
        .unsupportedFormat("avif"),
        "the AVIF has colours of the matrix \(planes.colors.matrix), which aren't decoded")
    }
    let depth = Int(samples.depth)
    // At full size as libavif: samples are cut to 8 bits. Only 10 bits in 4:4:4 or with alpha stay, and libyuv cuts their chroma.
    let isAsLibavif = chroma > 0 && matrix.isOfLibyuv && !isReduced
    let isCutLater = depth == 10 && (chroma == 3 || samples.a != nil)
    var colors = matrix.sums(
      depth: depth, dropped: isAsLibavif && !isCutLater ? depth - 8 : 0, resultBits: tone == nil ? 8 : 12,
      isFullRange: planes.colors.isFullRange)
    colors.chroma_cut = isAsLibavif && isCutLater ? 2 : 0
    colors.tone = tone?.handle
    return colors
  }

  /// Returns the thumbnails in stored orientation.
  func pictures() throws(ImageFault) -> [PixelBuffer] {
    var samples = planes.samples
    if denominator > 1 { cut(&samples) }
    let rows = try RowBatch(width: Int(samples.width), rows: Self.batch)
    let spare = try HeapArray<UInt8>(nhs_samples_spare(samples.width))
    let first = denominator > 1 ? 0 : crop.y
    while fanOut.rows < size.height {
      let count = min(Self.batch, size.height - fanOut.rows)
      for index in 0..<count {
        let row = Int32(first + fanOut.rows + index)
        let target = rows.base + index * rows.stride
        if denominator > 1 {
          nhs_samples_reduced_row(&samples, &colors, Int32(denominator), row, target, spare.base)
        } else {
          nhs_samples_row(&samples, &colors, row, target, spare.base)
        }
      }
      let left = denominator > 1 ? 0 : 4 * crop.x
      try fanOut.push(rows: rows.base + left, count: count, stride: rows.stride)
    }
    return try fanOut.finish()
  }

  /// Leaves only the shown part. It begins with whole samples of chroma.
  private func cut(_ samples: inout nhs_samples) {
    let bytes = samples.depth > 8 ? 2 : 1
    let left = samples.halves_columns != 0 ? crop.x / 2 : crop.x
    let top = samples.halves_rows != 0 ? crop.y / 2 : crop.y
    samples.y = samples.y.map { $0 + crop.y * samples.y_stride + crop.x * bytes }
    samples.u = samples.u.map { $0 + top * samples.uv_stride + left * bytes }
    samples.v = samples.v.map { $0 + top * samples.uv_stride + left * bytes }
    samples.a = samples.a.map { $0 + crop.y * samples.a_stride + crop.x * (samples.a_depth > 8 ? 2 : 1) }
    samples.width = Int32(clamping: crop.size.width)
    samples.height = Int32(clamping: crop.size.height)
  }
}
