import NuthatchImaging

/// A box that a thumbnail must fit, and how.
public typealias ThumbnailBox = NuthatchImaging.ThumbnailBox

/// A decoded picture: 8-bit RGBA, sRGB, straight alpha, upright. Immutable; its pixels stay where they are.
public final class Image: Sendable {
  /// The URL as it was passed.
  public let url: String
  /// The upright source's columns.
  public let originalWidth: Int
  /// The upright source's rows.
  public let originalHeight: Int
  /// Whether the source was in the cache before the request was submitted.
  public let isInCache: Bool
  /// Where the source came from.
  public let source: Response.Source
  /// Whether pixels are missing or wrong, because the source is damaged; only where that was allowed.
  public let isPartial: Bool
  let pixels: PixelBuffer

  init(_ result: DecodeResult, _ pixels: PixelBuffer, of response: Response) {
    url = response.url
    originalWidth = result.originalSize.width
    originalHeight = result.originalSize.height
    isInCache = response.isInCache
    source = response.source
    isPartial = result.report.isPartial
    self.pixels = pixels
  }

  /// Columns.
  public var width: Int { pixels.width }
  /// Rows.
  public var height: Int { pixels.height }
  /// Bytes from one row to the next: always four times the width.
  public var stride: Int { pixels.stride }

  /// Calls `use` with the pixels, row after row, which are valid as long as this image.
  public func withPixels<Result, Failure: Error>(
    _ use: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try pixels.withUnsafeBytes(use)
  }
}

/// How a picture is made from an answer's body.
public struct ImageOptions: Sendable, Equatable {
  /// What the result must fit.
  public var box: ThumbnailBox
  /// The most pixels that a source may have; 100 million.
  public var maxPixels = ImageLimits().pixels
  /// Whether what decodes of a damaged or truncated source is an image, marked `isPartial`, instead of an error.
  public var allowTruncated = false

  /// The defaults, for a box.
  public init(_ box: ThumbnailBox) { self.box = box }
}

extension Response {
  /// Decodes the body.
  ///
  /// - Throws: `not_an_image`, `unsupported_format`, `corrupt`, `truncated`, `too_large`, `too_many_pixels`,
  ///   `out_of_memory`; `invalid` for a box without a size.
  public func image(_ options: ImageOptions) throws(NuthatchError) -> Image {
    var decoding = DecodeOptions()
    decoding.limits.pixels = options.maxPixels
    // The body is within the caller's own `max_bytes` already.
    decoding.limits.bytes = max(decoding.limits.bytes, bodySize)
    decoding.allowDamaged = options.allowTruncated
    do throws(ImageFault) {
      let result = try withBody { (body) throws(ImageFault) in
        try Thumbnailer.thumbnails(of: body, boxes: [options.box], options: decoding)
      }
      guard let pixels = result.pictures.first else { throw ImageFault(.internal, "no picture came out") }
      return Image(result, pixels, of: self)
    } catch {
      throw NuthatchError(error, url: finalURL)
    }
  }
}

extension Cache {
  /// What pictures are asked for with: what is decoded first.
  public static let pictureAccept = "image/jpeg,image/png;q=0.9,*/*;q=0.1"

  /// Fetches a picture and decodes it to fit a box, on this thread.
  ///
  /// - Throws: As `get`; `http` when the answer isn't a success; as `Response.image`.
  public func thumbnail(_ url: String, size: Int) throws(NuthatchError) -> Image {
    try thumbnail(Request(url), ImageOptions(ThumbnailBox(size)))
  }

  /// Fetches a picture as `request` says and decodes it as `options` say, on this thread.
  public func thumbnail(_ request: Request, _ options: ImageOptions) throws(NuthatchError) -> Image {
    var request = request
    if !request.headers.contains(where: { $0.name.lowercased() == "accept" }) {
      request.headers.append(("Accept", Cache.pictureAccept))
    }
    let response = try submit(request).result()
    guard response.isSuccess else {
      throw NuthatchError(.http, "HTTP \(response.status) instead of a picture: \(response.finalURL)")
    }
    return try response.image(options)
  }
}

extension NuthatchError {
  init(_ fault: ImageFault, url: String) {
    let code: ErrorCode =
      switch fault.kind {
      case .notAnImage: .notAnImage
      case .unsupportedFormat: .unsupportedFormat
      case .corrupt: .corrupt
      case .truncated: .truncated
      case .tooLarge: .tooLarge
      case .tooManyPixels: .tooManyPixels
      case .outOfMemory: .outOfMemory
      case .invalid: .invalid
      case .internal: .internal
      }
    let place = fault.offset.map { ", at byte \($0)" } ?? ""
    self.init(code, "\(fault.message)\(place): \(url)")
  }
}
