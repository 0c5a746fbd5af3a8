/// The box that a thumbnail must fit, and how.
public struct ThumbnailBox: Equatable, Hashable, Sendable {
  /// How the picture is fitted.
  public enum Fit: Sendable {
    /// Inside the box, proportions kept. The default.
    case inside
    /// Covers the box; the excess is cut off equally on both sides.
    case cover
    /// Exactly the box's sides; proportions change.
    case stretch
  }

  /// The size of the decoded picture before the last pass.
  public enum Scaling: Sendable {
    /// At least 1.85 times the target: sharp. The default.
    case best
    /// At least the target: faster.
    case fast
  }

  /// The box's columns.
  public var width: Int
  /// The box's rows.
  public var height: Int
  /// Default: `.inside`.
  public var fit: Fit
  /// Whether a smaller picture is enlarged. Default: false.
  public var enlarge: Bool
  /// Default: `.best`.
  public var scaling: Scaling

  /// The longest accepted side; larger boxes throw `invalid`.
  public static let maxSide = 65_535

  /// A box of any proportions. `plan(for:)` checks its sides.
  public init(width: Int, height: Int, fit: Fit = .inside, enlarge: Bool = false, scaling: Scaling = .best) {
    self.width = width
    self.height = height
    self.fit = fit
    self.enlarge = enlarge
    self.scaling = scaling
  }

  /// A square box.
  public init(_ side: Int, fit: Fit = .inside, enlarge: Bool = false, scaling: Scaling = .best) {
    self.init(width: side, height: side, fit: fit, enlarge: enlarge, scaling: scaling)
  }

  /// The shown part of the picture, and its size in the thumbnail.
  public struct Plan: Equatable, Sendable {
    /// In coordinates of the given picture.
    public var crop: ImageRect
    /// No side is 0.
    public var target: ImageSize
  }

  /// Returns the plan for an upright picture of this size. Without `enlarge` no side of the target exceeds the shown part.
  public func plan(for size: ImageSize) throws(ImageFault) -> Plan {
    guard width > 0, height > 0, width <= Self.maxSide, height <= Self.maxSide else {
      throw ImageFault(.invalid, "the size is \(width)x\(height); its sides must be 1 to \(Self.maxSide)")
    }
    guard size.width > 0, size.height > 0, size.width <= Int32.max, size.height <= Int32.max else {
      throw ImageFault(.corrupt, "the picture's size is \(size), which is not allowed")
    }
    switch fit {
    case .inside:
      return Plan(crop: ImageRect(size), target: fitted(size))
    case .cover:
      return filled(size)
    case .stretch:
      let target =
        enlarge
        ? ImageSize(width: width, height: height)
        : ImageSize(width: min(width, size.width), height: min(height, size.height))
      return Plan(crop: ImageRect(size), target: target)
    }
  }

  private func fitted(_ size: ImageSize) -> ImageSize {
    if !enlarge && size.width <= width && size.height <= height { return size }
    // Compare products, because quotients would be rounded. A product is below 2^47.
    if size.width * height >= size.height * width {
      return ImageSize(width: width, height: max(1, rounded(size.height * width, size.width)))
    }
    return ImageSize(width: max(1, rounded(size.width * height, size.height)), height: height)
  }

  /// Returns the plan for `cover`. If the box would enlarge the picture, the target is the largest rectangle of the box's
  /// proportions in the picture. So the shown part doesn't depend on `enlarge`.
  private func filled(_ size: ImageSize) -> Plan {
    let w = Double(size.width)
    let h = Double(size.height)
    let scale = max(Double(width) / w, Double(height) / h)
    let shownWidth = min(w, Double(width) / scale)
    let shownHeight = min(h, Double(height) / scale)
    var crop = ImageRect(x: 0, y: 0, width: shownWidth, height: shownHeight)
    var target = ImageSize(width: width, height: height)
    if scale > 1 && !enlarge {
      target.width = min(size.width, max(1, Int(crop.width.rounded())))
      target.height = min(size.height, max(1, Int(crop.height.rounded())))
      crop.width = Double(target.width)
      crop.height = Double(target.height)
    }
    crop.x = (w - crop.width) / 2
    crop.y = (h - crop.height) / 2
    if scale > 1 && !enlarge {
      // At 1:1 copy whole pixels instead of shifting them by half a pixel.
      crop.x.round(.down)
      crop.y.round(.down)
    }
    return Plan(crop: crop, target: target)
  }

  private func rounded(_ numerator: Int, _ denominator: Int) -> Int {
    (numerator + denominator / 2) / denominator
  }
}
