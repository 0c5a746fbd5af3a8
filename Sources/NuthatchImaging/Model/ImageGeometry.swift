/// Width and height in pixels.
public struct ImageSize: Equatable, Hashable, Sendable, CustomStringConvertible {
  /// Columns.
  public var width: Int
  /// Rows.
  public var height: Int

  /// A size. Not checked.
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// Width times height, or `Int.max` if that overflows.
  public var area: Int {
    let (product, overflow) = width.multipliedReportingOverflow(by: height)
    return overflow ? Int.max : product
  }

  /// Width and height exchanged.
  public var transposed: ImageSize { ImageSize(width: height, height: width) }

  /// As "640x480".
  public var description: String { "\(width)x\(height)" }
}

/// A rectangle in pixel coordinates; its edges may lie between pixels.
public struct ImageRect: Equatable, Sendable {
  /// Left edge.
  public var x: Double
  /// Top edge.
  public var y: Double
  /// Columns, maybe not whole.
  public var width: Double
  /// Rows, maybe not whole.
  public var height: Double

  /// A rectangle from its upper left corner and its sides.
  public init(x: Double, y: Double, width: Double, height: Double) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  /// The whole area of a picture of this size.
  public init(_ size: ImageSize) {
    self.init(x: 0, y: 0, width: Double(size.width), height: Double(size.height))
  }
}
