import CSystem

/// The limits for a picture. Each is checked before memory or time is spent.
public struct ImageLimits: Hashable, Sendable {
  /// Columns times rows; beyond it `too_many_pixels`. Default: 100 million.
  public var pixels = 100_000_000
  /// The longer side; beyond it `too_many_pixels`, because even short rows cost time. Default: 1 million, as in libpng.
  public var side = 1_000_000
  /// The input; beyond it `too_large`. Default: 64 MiB.
  public var bytes = 64 << 20
  /// The memory of one decode, including results; beyond it `too_many_pixels`. Default: 256 MiB.
  public var memory = 256 << 20
  /// Scans of a JPEG; beyond it `too_large`. Default: 500.
  public var scans = 500
  /// The sum of 8x8 blocks over all scans of a JPEG; beyond it `too_large`. It limits the time. Default: 64 million, more than
  /// ten scans of 100 megapixels.
  public var scanBlocks = 64_000_000

  /// Whether a decoder process decodes the picture, so that its bytes meet no decoder of this process. Default: false.
  public var isIsolated = false

  /// The memory limit of the process's control group, if `memory` was derived from it.
  package var groupMemory: Int?
  /// The most bytes that Little CMS may hold for an ICC profile.
  var profileMemory = ImageLimits.mostForProfile

  /// icc.c treats profiles that need more as unusable.
  static let mostForProfile = Int(NHS_ICC_MOST_HELD)

  /// The defaults.
  public init() {}

  /// The end of a refusal's message: where the limit `memory` comes from.
  var memoryNote: String {
    groupMemory.map { ", of \(Self.mebibytes($0)) that the process's control group has" } ?? ""
  }

  /// Why a source of this size isn't decoded; nil if it may be.
  public func refusal(of size: ImageSize) -> ImageFault? {
    if size.area > pixels {
      return ImageFault(.tooManyPixels, "the picture is \(size), more than max_pixels (\(pixels))")
    }
    guard max(size.width, size.height) > side else { return nil }
    return ImageFault(.tooManyPixels, "the picture is \(size); the limit is \(side) pixels a side")
  }

  /// Whether a source of this size may be decoded.
  public func admits(_ size: ImageSize) -> Bool { refusal(of: size) == nil }

  /// Formats bytes for messages, to a tenth: "72.5 MiB".
  package static func mebibytes(_ bytes: Int) -> String {
    let tenths = (max(0, bytes) >> 10) * 10 / 1024
    return "\(tenths / 10).\(tenths % 10) MiB"
  }
}

/// Options of a decode.
public struct DecodeOptions: Equatable, Sendable {
  /// The limits for the picture.
  public var limits = ImageLimits()
  /// Deliver the decoded part of a truncated or damaged picture, marked in the report, instead of failing. Default: false.
  public var allowDamaged = false
  /// Don't read scans of a progressive JPEG that the thumbnails don't need. Default: true.
  public var earlyStop = true
  /// Whether bytes that are passed at once are the whole file. If false, its frames aren't counted. Default: true.
  public var isWhole = true
  /// Convert the colours of an embedded ICC profile to sRGB. Default: true. If false, the values are used unchanged.
  public var convertColors = true

  /// Decodes formats whose libraries aren't loaded here, and all pictures if the limits say so (`isIsolated`).
  package var isolatedDecoder: (any IsolatedDecoder)?
  /// Whether this process is the decoder process, and decodes everything itself.
  var isDecoderProcess = false

  /// The defaults.
  public init() {}

  /// Whether both give the same pictures.
  public static func == (one: DecodeOptions, other: DecodeOptions) -> Bool {
    one.limits == other.limits && one.allowDamaged == other.allowDamaged && one.earlyStop == other.earlyStop
      && one.convertColors == other.convertColors
  }
}

/// Facts about a decode.
public struct DecodeReport: Equatable, Sendable {
  /// Input bytes that were read; there may have been more.
  public var bytesUsed = 0
  /// Scans of a JPEG that were read.
  public var scansUsed = 0
  /// The picture was decoded at 1 : this number; 1, 2, 4 or 8.
  public var denominator = 1
  /// Scans were not read because the thumbnails don't need them.
  public var stoppedEarly = false
  /// Pixels are missing or wrong; only with `allowDamaged`.
  public var isPartial = false
  /// The fault that `allowDamaged` ignored.
  public var fault: ImageFault?
  /// Number of the codec's warnings. `DecodeResult.warnings` keeps the first few.
  public var warningCount = 0
}

/// Finished pictures and facts about their source.
public struct DecodeResult: Sendable {
  /// The source.
  public var info: ImageInfo
  /// One picture for each box, in the same order: upright, sRGB.
  public var pictures: [PixelBuffer]
  /// Warnings of the codecs.
  public var warnings: [String]
  /// Facts about the decode.
  public var report: DecodeReport
  /// What the source says of itself.
  public var facts: PictureFacts

  /// The size of the upright source.
  public var originalSize: ImageSize { info.orientedSize }
}
