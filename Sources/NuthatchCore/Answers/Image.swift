import NuthatchHTTP
import NuthatchImaging
import Synchronization

/// A box for a thumbnail, and how the picture is fitted into it.
public typealias ThumbnailBox = NuthatchImaging.ThumbnailBox

/// A picture format, recognised by content, not by name.
public typealias ImageFormat = NuthatchImaging.ImageFormat

/// What a picture's file says of itself, beside its size.
package typealias PictureFacts = NuthatchImaging.PictureFacts

/// A decoded picture: 8-bit RGBA, sRGB, straight alpha, upright. It never changes, and its pixels never move.
public final class Image: Sendable {
  /// The URL as it was passed.
  public let url: String
  let picture: Picture
  let provenance: Provenance
  /// An object that the layer above attaches to the image; created at first use.
  package let companion = AtomicLazyReference<Companion>()

  init(url: String, _ picture: Picture, _ provenance: Provenance) {
    self.url = url
    self.picture = picture
    self.provenance = provenance
  }

  /// Returns the image with its age increased.
  func aged(by seconds: Int64) -> Image {
    var provenance = provenance
    provenance.age &+= seconds
    return Image(url: url, picture, provenance)
  }

  /// The URL of the answer, after redirects, without user and password.
  public var finalURL: String { provenance.finalURL }
  /// The width in pixels.
  public var width: Int { picture.width }
  /// The height in pixels.
  public var height: Int { picture.height }
  /// Bytes from one row to the next: always four times the width.
  public var stride: Int { picture.width * 4 }
  /// The width of the source, after its orientation was applied.
  public var originalWidth: Int { picture.originalSize.width }
  /// The height of the source, after its orientation was applied.
  public var originalHeight: Int { picture.originalSize.height }
  /// Whether the image, or its source, was in the cache before the request was submitted.
  public var isInCache: Bool { provenance.isInCache }
  /// Whether the image's source is in the cache now: it was there, or was stored.
  public var isStored: Bool { provenance.isStored }
  /// Where it came from.
  public var source: Response.Source { provenance.source }
  /// Whether the image is stale: the server can't be asked, or hasn't answered yet.
  public var isStale: Bool { provenance.isStale }
  /// The age of the source in seconds, by the rules of HTTP.
  public var age: Int64 { provenance.age }
  /// Whether pixels are missing or wrong because the source is damaged; only if `allowDamaged` was set.
  public var isPartial: Bool { picture.isPartial }

  package var facts: PictureFacts { picture.facts }
  /// The format of the source; nil if it isn't known, because an earlier version of Nuthatch has stored the thumbnail.
  public var format: ImageFormat? { picture.facts.format }
  /// Whether the source has several frames. If they couldn't be counted, whether two were seen, or its header announces an
  /// animation.
  public var isAnimated: Bool { picture.facts.isAnimated }
  /// The number of frames of the source: 1 for a still picture, and for an icon. Nil if it isn't known, because not all bytes were
  /// received (with an early stop), or because an earlier version of Nuthatch has stored the thumbnail.
  public var frameCount: Int? { picture.facts.frameCount }
  /// The bits of each channel of the source, of a palette those of its colours. Nil if it isn't known, because an earlier version of
  /// Nuthatch has stored the thumbnail.
  public var depth: Int? { picture.facts.depth }

  /// Calls `use` with the pixels, row after row, which are valid as long as this image.
  public func withPixels<Result, Failure: Error>(
    _ use: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try picture.payload.withBytes(use)
  }
}

/// An object of a layer above, attached to an object of the core and released with it.
package final class Companion: Sendable {
  package let value: any AnyObject & Sendable

  package init(_ value: any AnyObject & Sendable) { self.value = value }
}

/// Options for decoding an answer's body.
public struct ImageOptions: Sendable, Equatable {
  /// The box that the result fits.
  public var box: ThumbnailBox
  /// The most pixels that a source may have. nil: for a response, the limit of its request; else 100 million.
  public var maxPixels: Int?
  /// Where the source is decoded. nil: for a response, as its request says; else in this process.
  public var decode: DecodePlace?
  /// Whether a damaged or truncated source gives a partial image, marked `isPartial`, instead of an error.
  public var allowDamaged = false

  /// The defaults, for a box.
  public init(_ box: ThumbnailBox) { self.box = box }

  /// The options of a request.
  package init(_ box: ThumbnailBox, as request: Request) {
    self.box = box
    maxPixels = request.maxPixels
    decode = request.options.decode
    allowDamaged = request.allowDamaged
  }
}

extension ImageLimits {
  /// The limits that options set.
  init(_ options: Options) {
    self.init()
    pixels = options.maxPixels ?? Options.Standard.maxPixels
    isIsolated = options.decode == .isolated
  }
}

extension DecodeOptions {
  /// For a picture from outside.
  init(_ limits: ImageLimits) {
    self.init()
    self.limits = limits
    isolatedDecoder = DecoderProcess.own
  }
}

extension Response {
  /// Decodes the body.
  ///
  /// - Throws: `not_an_image`, `unsupported_format`, `corrupt`, `truncated`, `too_large`, `too_many_pixels`,
  ///   `out_of_memory`; `invalid` for a box without a size.
  public func image(_ options: ImageOptions) throws(NuthatchError) -> Image {
    let picture = try withBody { (body) throws(NuthatchError) in
      try Picture.make(from: body, options, limits, url: finalURL)
    }
    let provenance = Provenance(
      finalURL: finalURL, source: source, isInCache: isInCache, isStored: isStored, isStale: isStale,
      age: age,
      redirects: redirects, status: status, bodyBytes: Int64(bodySize))
    return Image(url: url, picture, provenance)
  }
}

extension Image {
  /// Decodes bytes of the program.
  ///
  /// - Parameter url: the URL of the image, also for errors. Nothing is fetched.
  /// - Throws: like `Response.image`.
  public static func decode(
    _ bytes: UnsafeRawBufferPointer, _ options: ImageOptions, url: String = ""
  ) throws(NuthatchError) -> Image {
    let picture = try Picture.make(from: bytes, options, ImageLimits(Options()), url: url)
    let provenance = Provenance(
      finalURL: url, source: .memory, isInCache: false, isStored: false, isStale: false, age: 0, redirects: 0)
    return Image(url: url, picture, provenance)
  }
}

extension Picture {
  fileprivate static func make(
    from body: UnsafeRawBufferPointer, _ options: ImageOptions, _ limits: ImageLimits, url: String
  ) throws(NuthatchError) -> Picture {
    var decoding = DecodeOptions(limits)
    if let said = options.maxPixels { decoding.limits.pixels = said }
    if let said = options.decode { decoding.limits.isIsolated = said == .isolated }
    // The body is already within the caller's own `max_bytes`.
    decoding.limits.bytes = max(decoding.limits.bytes, body.count)
    decoding.allowDamaged = options.allowDamaged
    MemoryBudget.own.limitHere(&decoding.limits, for: body, options.box)
    do throws(ImageFault) {
      guard let picture = try make(from: body, [options.box], decoding).first else {
        throw ImageFault(.internal, "the decoder returned no picture")
      }
      return picture
    } catch {
      throw NuthatchError(error, url: url)
    }
  }
}

extension Picture {
  /// Returns one picture for each box, from one decode.
  static func make(
    from body: UnsafeRawBufferPointer, known: ImageInfo? = nil, _ boxes: [ThumbnailBox],
    _ options: DecodeOptions
  ) throws(ImageFault) -> [Picture] {
    let result = try Thumbnailer.thumbnails(of: body, known: known, boxes: boxes, options: options)
    return result.pictures.map {
      Picture(
        $0, originalSize: result.originalSize, facts: result.facts, isPartial: result.report.isPartial)
    }
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
      case .decoderFailed: .decoderFailed
      }
    let place = fault.offset.map { ", at byte \($0)" } ?? ""
    // Bytes of the program may have no URL.
    self.init(code, "\(fault.message)\(place)" + (url.isEmpty ? "" : ": \(WebURL.redacted(url))"))
    if case .decoderFailed(let seconds) = fault.kind { retryAfter = seconds }
  }
}
