/// A format that can be decoded. `PictureFormats` lists them.
protocol PictureFormat: Sendable {
  var format: ImageFormat { get }

  /// The libraries that decode it, which only a decoder process loads (`NHS_DECODER_SVG` and others); 0 if it is decoded here.
  var libraries: Int32 { get }

  /// Returns by how much the decoder can reduce this picture while it decodes, if that is enough for its thumbnails: 1, 2, 4 or 8.
  func greatestReduction(_ info: ImageInfo) -> Int

  /// Returns a parser for the bytes before the pixels.
  ///
  /// - Parameter collectsProfile: whether the decoder will need the ICC profile that the parser finds.
  func headerParser(collectsProfile: Bool) -> any HeaderParser

  /// Returns "a progressive JPEG", for messages.
  func kind(_ info: ImageInfo) -> String

  /// Adds an upper bound of the memory that the decoder holds, without the thumbnails and the rows that they are made of.
  func addMemory(_ info: ImageInfo, _ plans: [StoredPlan], earlyStop: Bool, to sum: inout MemorySum)

  func decoder(_ job: Job) throws(ImageFault) -> any PictureDecoder

  /// Counts the frames of a file whose header doesn't say their number (`ImageInfo.frameCount`). Returns how many were seen, and
  /// whether these are all: no bytes are missing or damaged.
  func frames(in bytes: UnsafeRawBufferPointer, isWhole: Bool) -> (count: Int, isAll: Bool)

  /// Returns a watch if the beginning of the file may be enough for thumbnails in these boxes.
  func earlyEnd(_ info: ImageInfo, _ boxes: [ThumbnailBox]) -> (any EarlyEndWatch)?
}

extension PictureFormat {
  var libraries: Int32 { 0 }

  func greatestReduction(_ info: ImageInfo) -> Int { 1 }

  func frames(in bytes: UnsafeRawBufferPointer, isWhole: Bool) -> (count: Int, isAll: Bool) { (0, false) }

  func earlyEnd(_ info: ImageInfo, _ boxes: [ThumbnailBox]) -> (any EarlyEndWatch)? { nil }
}

/// Decodes one picture to the thumbnails of its job, from the whole input (`borrow`) or from pieces (`begin`, `feed`, `end`).
protocol PictureDecoder: AnyObject {
  /// Passes the whole input, which must stay valid while this object is used.
  func borrow(_ bytes: UnsafeRawBufferPointer)

  /// Takes the bytes that the probe has read.
  func begin(_ bytes: consuming ByteStore) throws(ImageFault)

  func feed(_ bytes: UnsafeRawBufferPointer) throws(ImageFault)

  /// There are no more bytes.
  func end()

  /// Decodes as far as the input allows.
  func advance() throws(ImageFault) -> DecodeProgress

  /// Returns the thumbnails in stored orientation, in sRGB. Call it once, after `advance` has returned `done`.
  func finish() throws(ImageFault) -> [PixelBuffer]

  /// Complete after `finish`, as are the warnings.
  var report: DecodeReport { get }
  var warnings: [String] { get }
}

enum DecodeProgress {
  case needMore
  /// More bytes would change nothing.
  case done
}

/// The formats that can be decoded.
enum PictureFormats {
  private static let all: [any PictureFormat] = [
    JPEGFormat(), PNGFormat(), GIFFormat(), WebPFormat(), AVIFFormat(), BMPFormat(), ICOFormat(), SVGFormat(),
    HEICFormat(),
  ]

  static func of(_ format: ImageFormat) -> (any PictureFormat)? { all.first { $0.format == format } }
}
