import NuthatchImaging

/// How a thumbnail is made from a body: two requests with one recipe get one thumbnail.
struct Recipe: Hashable, Sendable {
  /// Raised with every change that makes other pixels of the same source: older thumbnails are made anew then.
  static let decoderVersion: UInt8 = 1

  let box: ThumbnailBox
  let allowsDamage: Bool

  init(_ box: ThumbnailBox, allowsDamage: Bool) {
    self.box = box
    self.allowsDamage = allowsDamage
  }

  /// The recipe as part of a key. Stores live long: the numbers stay.
  var bytes: [UInt8] {
    let mode: UInt8 =
      switch box.mode {
      case .fit: 0
      case .fill: 1
      case .exact: 2
      }
    let flags: UInt8 =
      mode | (box.enlarge ? 4 : 0) | (box.quality == .fast ? 8 : 0) | (allowsDamage ? 16 : 0)
    let sides = [box.width, box.height].flatMap { side in
      let side = UInt32(clamping: side)
      return [
        UInt8(truncatingIfNeeded: side), UInt8(truncatingIfNeeded: side >> 8),
        UInt8(truncatingIfNeeded: side >> 16),
      ]
    }
    return [Self.decoderVersion, flags] + sides
  }
}
