/// The weight functions of the resampler.
enum ResampleFilter {
  /// Sharp; for reducing.
  case lanczos3
  /// Less overshoot; for enlarging, where Lanczos would show ringing.
  case catmullRom

  /// The radius of the function, in pixels of the smaller picture.
  var support: Double {
    switch self {
    case .lanczos3: 3
    case .catmullRom: 2
    }
  }

  /// The weight at a distance from the centre.
  func value(at distance: Double) -> Double {
    let x = abs(distance)
    switch self {
    case .lanczos3:
      return Self.lanczos3(x)
    case .catmullRom:
      if x < 1 { return (1.5 * x - 2.5) * x * x + 1 }
      if x < 2 { return ((-0.5 * x + 2.5) * x - 4) * x + 2 }
      return 0
    }
  }

  /// sinc(x) · sinc(x / 3). By the triple-angle formula, this is 3 s² (3 - 4s²) / (πx)² with s = sin(πx/3). So one short
  /// polynomial is enough. Calling `sin` for each weight of a small thumbnail would take as long as resampling it.
  private static func lanczos3(_ x: Double) -> Double {
    if x < 1e-4 { return 1 }
    if x >= 3 { return 0 }
    var angle = x * (.pi / 3)
    if angle > .pi / 2 { angle = .pi - angle }
    let a2 = angle * angle
    // Taylor series; the first omitted term is below 1e-9.
    var sine = 1.0 / 6_227_020_800
    sine = sine * a2 - 1.0 / 39_916_800
    sine = sine * a2 + 1.0 / 362_880
    sine = sine * a2 - 1.0 / 5040
    sine = sine * a2 + 1.0 / 120
    sine = sine * a2 - 1.0 / 6
    sine = (sine * a2 + 1) * angle
    let square = sine * sine
    return 3 * square * (3 - 4 * square) / (.pi * .pi * x * x)
  }
}
