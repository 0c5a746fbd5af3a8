import CSystem

/// How three samples become red, green and blue. Samples are measured in their range: luma from 0 to 1, chroma from -0.5 to 0.5.
struct AVIFMatrix {
  /// For red, green and blue: the factors of Y, U and V.
  var factors: [[Double]]
  /// U and V have no sign: they are colours.
  var isIdentity = false
  var isOfLibyuv = false

  private static let grey = AVIFMatrix(factors: [[1, 0, 0], [1, 0, 0], [1, 0, 0]])

  /// - Parameter isExact: don't use libyuv's numbers.
  /// - Returns: nil if the matrix isn't known, or doesn't fit the planes.
  static func of(_ colors: AVIFColors, chroma: Int, isExact: Bool) -> AVIFMatrix? {
    if chroma == 0 { return grey }
    switch colors.matrix {
    case 0:
      return chroma == 3 ? AVIFMatrix(factors: [[0, 0, 1], [1, 0, 0], [0, 1, 0]], isIdentity: true) : nil
    case 8: return AVIFMatrix(factors: [[1, -1, 1], [1, 1, 0], [1, -1, -1]])
    default: break
    }
    guard let (red, blue) = shares(colors) else { return nil }
    if !isExact, let matrix = libyuv(red, isFullRange: colors.isFullRange) { return matrix }
    let green = 1 - red - blue
    return AVIFMatrix(factors: [
      [1, 0, 2 * (1 - red)],
      [1, -2 * (1 - blue) * blue / green, -2 * (1 - red) * red / green],
      [1, 2 * (1 - blue), 0],
    ])
  }

  /// The shares of red and blue in luma.
  private static func shares(_ colors: AVIFColors) -> (red: Double, blue: Double)? {
    switch colors.matrix {
    case 1: (0.2126, 0.0722)
    // Without a number, BT.601.
    case 2, 5, 6: (0.299, 0.114)
    case 4: (0.30, 0.11)
    case 7: (0.212, 0.087)
    case 9: (0.2627, 0.0593)
    // From the primaries. Those that have no number here count as BT.709, and BT.470 B/G has BT.601's numbers, as in libavif.
    case 12:
      switch colors.primaries {
      case 4: (0.29897, 0.11461)
      case 5, 6: (0.299, 0.114)
      case 7: (0.21238, 0.08656)
      case 8: (0.25359, 0.06808)
      case 9: (0.2627, 0.0593)
      case 10: (0, 0)
      case 11: (0.20949, 0.06891)
      case 12: (0.22897, 0.07929)
      case 22: (0.23175, 0.096)
      default: (0.2126, 0.0722)
      }
    default: nil
    }
  }

  /// libyuv's numbers. libavif uses them, so a picture looks as in programs that use libavif. They are multiples of 1/64, and in
  /// limited range, blue has at most 2 of U, which is too little.
  private static func libyuv(_ red: Double, isFullRange: Bool) -> AVIFMatrix? {
    let (y, blue, greenU, greenV, redV): (Double, Double, Double, Double, Double)
    switch (red, isFullRange) {
    case (0.299, false): (y, blue, greenU, greenV, redV) = (18997, 128, 25, 52, 102)
    case (0.299, true): (y, blue, greenU, greenV, redV) = (16320, 113, 22, 46, 90)
    case (0.2126, false): (y, blue, greenU, greenV, redV) = (18997, 128, 14, 34, 115)
    case (0.2126, true): (y, blue, greenU, greenV, redV) = (16320, 119, 12, 30, 101)
    case (0.2627, false): (y, blue, greenU, greenV, redV) = (19003, 128, 12, 42, 107)
    case (0.2627, true): (y, blue, greenU, greenV, redV) = (16320, 120, 11, 37, 94)
    default: return nil
    }
    let luma = y * 257 / 65536 / 64 * (isFullRange ? 1 : 219.0 / 255)
    let chroma = 1 / 64.0 * (isFullRange ? 1 : 224.0 / 255)
    return AVIFMatrix(
      factors: [
        [luma, 0, redV * chroma], [luma, -greenU * chroma, -greenV * chroma], [luma, blue * chroma, 0],
      ], isOfLibyuv: true)
  }

  /// Returns the sums that C makes of samples.
  ///
  /// - Parameter dropped: the lowest bits of each sample that don't count.
  /// - Parameter resultBits: 8, or 12 for HDR.
  func sums(depth: Int, dropped: Int = 0, resultBits: Int, isFullRange: Bool) -> nhs_colors {
    let bits = depth - dropped
    let most = Double(1 << bits - 1)
    let step = Double(1 << (bits - 8))
    let resultMost = Double(1 << resultBits - 1)
    // Where luma and chroma are 0, and how many levels are 1.
    let luma = isFullRange ? (zero: 0, span: most) : (zero: 16 * step, span: 219 * step)
    let chroma =
      isIdentity ? luma : (zero: 128 * step, span: isFullRange ? most : 224 * step)
    // 13 bits behind the point: the largest factor of eight bits is 2.2, and must fit into 16 bits.
    let shift = 13 + bits - resultBits
    var made = nhs_colors()
    made.shift = Int32(shift)
    made.dropped = Int32(dropped)
    made.most = Int32(resultMost)
    made.zeros = (Int32(luma.zero), Int32(chroma.zero))
    var whole: [Int] = []
    var offsets: [Int] = []
    for row in factors {
      var offset = 1 << (shift - 1)
      for (value, plane) in zip(row, [luma, chroma, chroma]) {
        let factor = Int((value * resultMost / plane.span * Double(1 << shift)).rounded())
        whole.append(factor)
        offset -= factor * Int(plane.zero)
      }
      offsets.append(offset)
    }
    withUnsafeMutableBytes(of: &made.factors) { memory in
      for (index, factor) in whole.enumerated() {
        memory.storeBytes(of: Int16(clamping: factor), toByteOffset: 2 * index, as: Int16.self)
      }
    }
    withUnsafeMutableBytes(of: &made.offsets) { memory in
      for (index, offset) in offsets.enumerated() {
        memory.storeBytes(of: Int32(clamping: offset), toByteOffset: 4 * index, as: Int32.self)
      }
    }
    return made
  }
}

/// What is made of HDR.
final class ToneMap {
  let handle: OpaquePointer

  init(isHLG: Bool, primaries: Int) throws(ImageFault) {
    guard let handle = nhs_tone_new(isHLG ? 1 : 0, Int32(primaries)) else {
      throw ImageFault(.outOfMemory, "there is no memory for a table of colours")
    }
    self.handle = handle
  }

  deinit { nhs_tone_free(handle) }
}
