import CSystem

/// The source pixels and their weights for each target pixel along one axis.
///
/// All windows have the same number of taps; unneeded taps have weight 0. The Q14 weights of a window add up to exactly 1, so
/// that a constant picture stays constant and edges don't get darker. No window reaches beyond the shown part of the picture.
struct AxisPlan {
  /// The first source pixel that is read. Windows are counted from it.
  let origin: Int
  /// The number of source pixels that are read.
  let count: Int
  /// The pixels in each window.
  let taps: Int
  /// For each target pixel, its first source pixel and the index of its weights.
  private(set) var windows: [nhs_window] = []
  /// `taps` weights for each distinct phase.
  private(set) var weights: [Int16] = []
  /// Whether every target pixel is one source pixel.
  let isIdentity: Bool

  /// The weight 1.
  static let one = 1 << 14

  /// A plan for `length` source pixels from `start` on, of `limit` in all, to `target` pixels. `blur` is the variance of the weights of
  /// which each source pixel is an average already. The plan gives fine details the contrast back that this took.
  init(start: Double, length: Double, limit: Int, target: Int, blur: Double = 0) {
    let low = Self.snapped(start)
    let high = Self.snapped(start + length)
    origin = max(0, min(limit - 1, Int(low.rounded(.down))))
    count = max(1, min(limit, Int(high.rounded(.up))) - origin)
    let scale = (high - low) / Double(target)
    let offset = low - Double(origin)
    isIdentity = offset == 0 && count == target && scale == 1
    if isIdentity {
      taps = 1
      weights = [Int16(Self.one)]
      windows.reserveCapacity(target)
      for i in 0..<target { windows.append(nhs_window(start: Int32(i), weights: 0)) }
      return
    }
    let filter: ResampleFilter = scale > 1 ? .lanczos3 : .catmullRom
    let stretch = max(1, scale)
    let support = filter.support * stretch
    taps = min(count, Int((2 * support).rounded(.up)))

    // The weights repeat if whole pixels map to whole pixels. From 640 to 128 pixels, all windows have the same weights.
    let whole = offset == 0 && scale * Double(target) == Double(count)
    let common = whole ? Self.greatestCommonDivisor(count, target) : 1
    let period = target / common
    let step = count / common
    var patterns = [nhs_window](
      repeating: nhs_window(start: 0, weights: -1), count: period < target ? period : 0)
    var patternIndex = [Int](repeating: 0, count: patterns.count)

    windows.reserveCapacity(target)
    var exact = [Double](repeating: 0, count: taps)
    for i in 0..<target {
      let slot = patterns.isEmpty ? 0 : i % period
      if !patterns.isEmpty && patterns[slot].weights >= 0 {
        let left = Int(patterns[slot].start) + (i - patternIndex[slot]) / period * step
        if left + taps <= count {
          windows.append(nhs_window(start: Int32(left), weights: patterns[slot].weights))
          continue
        }
      }
      let center = offset + (Double(i) + 0.5) * scale
      let left = Self.floor(center - support + 0.5)
      let right = Self.floor(center + support + 0.5)
      let first = max(0, min(left, count - taps))
      let used = max(0, left)..<max(max(0, left) + 1, min(count, right))
      let window = nhs_window(start: Int32(first), weights: Int32(weights.count))
      for t in 0..<taps {
        let pixel = first + t
        exact[t] = used.contains(pixel) ? filter.value(at: (Double(pixel) + 0.5 - center) / stretch) : 0
      }
      if blur > 0 && scale > 1 {
        Self.sharpen(&exact, blur / 2, isFirst: first == 0, isLast: first + taps == count)
      }
      appendQuantized(exact)
      windows.append(window)
      if !patterns.isEmpty && left >= 0 && left + taps <= count {
        patterns[slot] = window
        patternIndex[slot] = i
      }
    }
  }

  /// Makes the weights those of pixels from which a part of both neighbours has been taken. Of a wave of frequency f, averages of
  /// variance v leave about 1 - v (2πf)² / 2; taking the part a gives a (2πf)². Pixels at an edge of the shown part have themselves
  /// as neighbours.
  private static func sharpen(_ weights: inout [Double], _ part: Double, isFirst: Bool, isLast: Bool) {
    var before = isFirst ? weights[0] : 0
    for t in weights.indices {
      let weight = weights[t]
      let after = t + 1 < weights.count ? weights[t + 1] : isLast ? weight : 0
      weights[t] = weight + part * (2 * weight - before - after)
      before = weight
    }
  }

  /// Rounds weights to Q14. The remainder is added to the largest weight, where it matters least.
  private mutating func appendQuantized(_ exact: [Double]) {
    var sum = 0.0
    for weight in exact { sum += weight }
    let factor = Double(Self.one) / sum
    var rest = Self.one
    var largest = weights.count
    for weight in exact {
      let scaled = weight * factor
      // `rounded` would call the C library.
      let rounded = Int(scaled < 0 ? scaled - 0.5 : scaled + 0.5)
      rest -= rounded
      weights.append(Int16(clamping: rounded))
      if weights[weights.count - 1] > weights[largest] { largest = weights.count - 1 }
    }
    weights[largest] = Int16(clamping: Int(weights[largest]) + rest)
  }

  private static func floor(_ value: Double) -> Int {
    let whole = Int(value)
    return Double(whole) > value ? whole - 1 : whole
  }

  /// Rounds an edge that is within 1e-6 of a whole number, to remove rounding errors.
  static func snapped(_ edge: Double) -> Double {
    let whole = edge.rounded()
    return abs(edge - whole) < 1e-6 ? whole : edge
  }

  private static func greatestCommonDivisor(_ a: Int, _ b: Int) -> Int {
    var (a, b) = (a, b)
    while b != 0 { (a, b) = (b, a % b) }
    return a
  }
}

extension AxisPlan {
  /// The taps, rounded up to the multiple of four that the horizontal kernels need.
  var tapsInFours: Int { taps.roundedUp(to: 4) }

  /// The most pixels that the windows of two neighbours span.
  var pairTaps: Int {
    var widest = 0
    var last = windows.first?.start ?? 0
    for window in windows {
      widest = max(widest, Int(window.start - last))
      last = window.start
    }
    return taps + widest
  }

  /// Returns windows and weights in the layout of the horizontal kernels (explained in nhs_resample.h).
  func horizontalTable() -> (windows: [nhs_window], table: [Int16]) {
    let padded = tapsInFours
    let patterns = weights.count / taps
    var table = [Int16](repeating: 0, count: patterns * padded * 4)
    for pattern in 0..<patterns {
      for t in 0..<taps {
        let at = pattern * padded * 4 + (t >> 2) * 16 + ((t >> 1) & 1) * 8 + (t & 1)
        let weight = weights[pattern * taps + t]
        for copy in 0..<4 { table[at + copy * 2] = weight }
      }
    }
    let moved = windows.map { window in
      nhs_window(start: window.start, weights: window.weights / Int32(taps) * Int32(padded * 4))
    }
    return (moved, table)
  }
}
