@testable import NuthatchImaging

/// The same filters in floating point, written for clarity: what the fixed-point resampler must come to.
///
/// Premultiplied throughout; nothing is rounded or clamped before the end.
enum ResampleReference {
  /// Straight RGBA of the target, not rounded.
  static func resample(
    _ pixels: [UInt8], _ source: ImageSize, to target: ImageSize, crop: ImageRect, opaque: Bool
  ) -> [Double] {
    var planes = [[Double]](repeating: [], count: 4)
    for i in 0..<source.area {
      let alpha = opaque ? 1 : Double(pixels[i * 4 + 3]) / 255
      for c in 0..<3 { planes[c].append(Double(pixels[i * 4 + c]) * alpha) }
      planes[3].append(alpha * 255)
    }
    var result = [Double](repeating: 0, count: target.area * 4)
    let small = planes.map { plane in
      let narrow = along(plane, source, transposed: false, crop.x, crop.width, target.width)
      let middle = ImageSize(width: target.width, height: source.height)
      return along(narrow, middle, transposed: true, crop.y, crop.height, target.height)
    }
    for i in 0..<target.area {
      let alpha = small[3][i]
      result[i * 4 + 3] = min(255, max(0, alpha))
      for c in 0..<3 where alpha >= 0.5 {
        result[i * 4 + c] = min(255, max(0, small[c][i] * 255 / alpha))
      }
    }
    return result
  }

  /// One axis of one plane.
  private static func along(
    _ plane: [Double], _ size: ImageSize, transposed: Bool, _ start: Double, _ length: Double, _ target: Int
  ) -> [Double] {
    let lines = transposed ? size.width : size.height
    let count = transposed ? size.height : size.width
    let step = transposed ? size.width : 1
    var result = [Double](repeating: 0, count: lines * target)
    for line in 0..<lines {
      let begin = transposed ? line : line * size.width
      let values = (0..<count).map { plane[begin + $0 * step] }
      let done = resampled(values, start, length, target)
      for i in 0..<target { result[transposed ? i * lines + line : line * target + i] = done[i] }
    }
    return result
  }

  private static func resampled(_ values: [Double], _ start: Double, _ length: Double, _ target: Int)
    -> [Double]
  {
    if length / Double(target) < AreaPlan.threshold { return filtered(values, start, length, target) }
    let number = target * AreaPlan.gap
    let cells = (0..<number).map { i in
      mean(
        values, from: start + length * Double(i) / Double(number),
        to: start + length * Double(i + 1) / Double(number))
    }
    return filtered(cells, 0, Double(number), target)
  }

  private static func mean(_ values: [Double], from: Double, to: Double) -> Double {
    var sum = 0.0
    for i in max(0, Int(from))..<min(values.count, Int(to.rounded(.up))) {
      sum += values[i] * max(0, min(to, Double(i + 1)) - max(from, Double(i)))
    }
    return sum / (to - from)
  }

  private static func filtered(_ values: [Double], _ start: Double, _ length: Double, _ target: Int)
    -> [Double]
  {
    let scale = length / Double(target)
    if scale == 1 && start == start.rounded() { return Array(values[Int(start)..<Int(start) + target]) }
    let filter: ResampleFilter = scale > 1 ? .lanczos3 : .catmullRom
    let stretch = max(1, scale)
    let inside = Int(start)..<min(values.count, Int((start + length).rounded(.up)))
    return (0..<target).map { i in
      let center = start + (Double(i) + 0.5) * scale
      var sum = 0.0
      var weights = 0.0
      let reach = Int((filter.support * stretch).rounded(.up)) + 1
      for pixel in inside.clamped(to: Int(center) - reach..<Int(center) + reach + 1) {
        let weight = filter.value(at: (Double(pixel) + 0.5 - center) / stretch)
        sum += weight * values[pixel]
        weights += weight
      }
      return sum / weights
    }
  }
}
