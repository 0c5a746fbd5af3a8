/// How the stored rows and columns map to the upright picture: the values 1…8 of EXIF's tag 0x0112.
public enum Orientation: UInt8, Sendable, CaseIterable {
  case upright = 1
  case mirrored = 2
  case rotated180 = 3
  case flipped = 4
  case transposed = 5
  case rotated90 = 6
  case transversed = 7
  case rotated270 = 8

  /// Whether the upright picture's width is the stored height.
  public var swapsSides: Bool { rawValue >= 5 }

  /// Returns the size of the upright picture from the stored one, or the other way round.
  public func applied(to size: ImageSize) -> ImageSize { swapsSides ? size.transposed : size }
}
