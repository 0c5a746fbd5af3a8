/// What the container says of the picture that is decoded, with the places of its bytes in the file.
struct AVIFPicture: Equatable, Sendable {
  /// The bitstream of one picture: an item of the kind `av01`, or a sample of a track.
  struct Coding: Equatable, Sendable {
    /// The ranges of the file that make the bitstream, in this order.
    var extents: [Range<Int>]
    var size: ImageSize
    var config: Config
    var operatingPoint = 0
    /// The wanted spatial layer; nil for the highest.
    var layer: Int?

    var end: Int { extents.reduce(0) { max($0, $1.upperBound) } }
    var count: Int { extents.reduce(0) { $0 + $1.count } }
  }

  /// The colours or the alpha of the picture: one coding, or a grid of equal tiles.
  struct Layer: Equatable, Sendable {
    var codings: [Coding]
    /// Where the grid is described. Nil for one coding.
    var grid: [Range<Int>]?
    /// The size that it has together.
    var size: ImageSize
    /// The numbers of ISO/IEC 23091-2, if the container has them.
    var colors: AVIFColors?

    var end: Int {
      (grid ?? []).reduce(codings.reduce(0) { max($0, $1.end) }) { max($0, $1.upperBound) }
    }
  }

  /// What `av1C` says of the samples.
  struct Config: Equatable, Sendable {
    var depth: Int
    /// 0 for grey; 1, 2 and 3 for 4:2:0, 4:2:2 and 4:4:4.
    var chroma: Int
  }

  var color: Layer
  var alpha: Layer?
  /// The colours were multiplied by alpha.
  var isPremultiplied = false
  /// The part that is shown, in pixels of the stored picture.
  var crop: Crop
  var orientation = Orientation.upright
  /// The place of the ICC profile, in the box that the parser has collected.
  var hasProfile = false
  var hasEXIF = false
  /// The pictures of a sequence; 1 for a still picture.
  var frameCount = 1

  struct Crop: Equatable, Sendable {
    var x = 0
    var y = 0
    var size: ImageSize
  }

  /// The offset behind the last byte that is decoded.
  var end: Int { max(color.end, alpha?.end ?? 0) }

  /// Bits of a sample.
  var depth: Int { color.codings.first?.config.depth ?? 8 }

  var isGrey: Bool { color.codings.first?.config.chroma == 0 }
}

/// How samples become colours: numbers of ISO/IEC 23091-2, and the range of the samples.
struct AVIFColors: Equatable, Sendable {
  var primaries = 2
  var transfer = 2
  var matrix = 2
  var isFullRange = false

  var isPQ: Bool { transfer == 16 }
  var isHLG: Bool { transfer == 18 }
  var isHDR: Bool { isPQ || isHLG }
}
