import CSystem

/// What a picture may cost. Every limit is judged before memory is taken or time is spent.
public struct ImageLimits: Hashable, Sendable {
  /// Columns times rows; beyond it `too_many_pixels`. Default: 100 million.
  public var pixels = 100_000_000
  /// The longer side; beyond it `too_many_pixels`, since rows cost time however short they are. Default: a
  /// million, as libpng's.
  public var side = 1_000_000
  /// The input; beyond it `too_large`. Default: 64 MiB.
  public var bytes = 64 << 20
  /// What one decode may hold, results included; beyond it `too_many_pixels`. Default: 256 MiB.
  public var memory = 256 << 20
  /// Scans of a JPEG; beyond it `too_large`. Default: 500.
  public var scans = 500
  /// 8x8 blocks summed over a JPEG's scans, which bounds the time of one that has many: beyond it `too_large`.
  /// Default: 64 million, more than ten scans of 100 megapixels.
  public var scanBlocks = 64_000_000

  /// What the process's control group has, where `memory` is a part of that.
  package var groupMemory: Int?
  /// What Little CMS may hold for an ICC profile, in bytes.
  var profileMemory = ImageLimits.mostForProfile

  /// icc.c takes profiles that want more for unusable.
  static let mostForProfile = Int(NHS_ICC_MOST_HELD)

  /// The defaults.
  public init() {}

  /// Where `memory` comes from: the end of the message of a refusal.
  var memoryNote: String {
    groupMemory.map { ", of \(Self.mebibytes($0)) that the process's control group has" } ?? ""
  }

  /// Why a source of this size isn't decoded; nil where it may be.
  public func refusal(of size: ImageSize) -> ImageFault? {
    if size.area > pixels {
      return ImageFault(.tooManyPixels, "a picture of \(size), more than max_pixels (\(pixels))")
    }
    guard max(size.width, size.height) > side else { return nil }
    return ImageFault(.tooManyPixels, "a picture of \(size): the limit is \(side) pixels a side")
  }

  /// Whether a source of this size may be decoded.
  public func admits(_ size: ImageSize) -> Bool { refusal(of: size) == nil }

  /// A number of bytes for messages, to a tenth: "72.5 MiB".
  package static func mebibytes(_ bytes: Int) -> String {
    let tenths = (max(0, bytes) >> 10) * 10 / 1024
    return "\(tenths / 10).\(tenths % 10) MiB"
  }
}

/// How to decode.
public struct DecodeOptions: Equatable, Sendable {
  /// What the picture may cost.
  public var limits = ImageLimits()
  /// Give what decoded of a truncated or damaged picture, flagged in the report, instead of failing.
  /// Default: no.
  public var allowDamaged = false
  /// Leave out the scans of a progressive JPEG that the thumbnails don't need. Default: yes.
  public var earlyStop = true

  /// Convert the colours of an embedded ICC profile to sRGB. Default: yes; otherwise they are taken as they stand.
  public var convertColors = true

  /// The defaults.
  public init() {}
}

/// What a decode did.
public struct DecodeReport: Equatable, Sendable {
  /// Input bytes that had to be read; more of the input may have been there.
  public var bytesUsed = 0
  /// Scans of a JPEG that were read.
  public var scansUsed = 0
  /// The picture was decoded at one to that many: 1, 2, 4 or 8.
  public var denominator = 1
  /// Scans were left out that the thumbnails don't need.
  public var stoppedEarly = false
  /// Pixels are missing or wrong; only with `allowDamaged`.
  public var isPartial = false
  /// The fault that `allowDamaged` passed over.
  public var fault: ImageFault?
  /// Warnings of the codec, of which `DecodeResult.warnings` keeps the first few.
  public var warningCount = 0
}

/// Finished pictures and what is known about their source.
public struct DecodeResult: Sendable {
  /// The source.
  public var info: ImageInfo
  /// One picture a box, in the boxes' order: upright, sRGB.
  public var pictures: [PixelBuffer]
  /// What the codecs complained about without giving up.
  public var warnings: [String]
  /// What the decode did.
  public var report: DecodeReport

  /// The upright source's size.
  public var originalSize: ImageSize { info.orientedSize }
}
