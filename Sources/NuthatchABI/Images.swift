// nuthatch.h 11: Images

import CNuthatch
import NuthatchCore

/// Decodes the body of a response, on the calling thread, whatever its status and Content-Type say.
///
/// @param options  What the image must fit, and how. Never NULL.
/// @param image    Gets the handle; NULL on failure. Release it with nh_image_release.
/// @return NH_OK; NH_NOT_AN_IMAGE; NH_UNSUPPORTED_FORMAT (the message names the format); NH_CORRUPT and NH_TRUNCATED
///         (with the place); NH_TOO_LARGE; NH_TOO_MANY_PIXELS; NH_OUT_OF_MEMORY; NH_INVALID, also for a box whose sides
///         aren't 1 to 65535.
@_cdecl("nh_response_image")
public func nhResponseImage(
  _ response: nh_response_ref?, _ options: UnsafePointer<nh_image_options>?,
  _ image: UnsafeMutablePointer<nh_image_ref?>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let result = try place(image, "image")
    guard let options else { throw .null("options") }
    let view = try find(response, .response, as: ResponseView.self)
    try give(ImageView(try view.response.image(try imageOptions(options))), .image, to: result)
  }
}

/// Tells what an image holds. Set info->struct_size to sizeof *info before the call.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_image_get_info")
public func nhImageGetInfo(_ image: nh_image_ref?, _ info: UnsafeMutablePointer<nh_image_info>?) -> nh_status
{
  answering { () throws(NuthatchError) in
    guard let info else { throw .null("info") }
    try writeSized(try find(image, .image, as: ImageView.self).info, to: info, "info")
  }
}

/// Releases an image, its pixels, and what was made from them.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_image_release")
public func nhImageRelease(_ image: nh_image_ref?) -> nh_status {
  answering { () throws(NuthatchError) in try remove(image, .image) }
}

private func imageOptions(_ pointer: UnsafePointer<nh_image_options>) throws(NuthatchError) -> ImageOptions {
  let given = try readSized(pointer, zero: nh_image_options(), "options")
  guard given.reserved == 0 else { throw NuthatchError(.invalid, "options.reserved is not 0") }
  var options = ImageOptions(
    ThumbnailBox(
      width: Int(given.width), height: Int(given.height == 0 ? given.width : given.height),
      mode: try boxMode(given.mode, "options.mode"), enlarge: given.enlarge != 0,
      quality: try boxQuality(given.quality, "options.quality")))
  options.allowTruncated = given.allow_truncated != 0
  guard given.max_pixels >= 0 else { throw NuthatchError(.invalid, "options.max_pixels is negative") }
  if given.max_pixels > 0 { options.maxPixels = Int(given.max_pixels) }
  return options
}

/// An image with its strings in the shape that C wants, and what was encoded from it.
final class ImageView: Sendable {
  let image: Image
  private let strings: StringArena
  private let pixels = Locked<[MadePixels]>([])
  private let made = Locked<[(format: EncodedFormat, bytes: EncodedImage)]>([])

  init(_ image: Image) {
    self.image = image
    strings = StringArena([image.url, image.finalURL])
  }

  var info: nh_image_info {
    var info = nh_image_info()
    info.width = Int32(clamping: image.width)
    info.height = Int32(clamping: image.height)
    info.stride = image.stride
    // The pixels belong to the image, so the address outlives the call.
    image.withPixels { info.pixels = $0.baseAddress }
    info.original_width = Int32(clamping: image.originalWidth)
    info.original_height = Int32(clamping: image.originalHeight)
    info.is_in_cache = image.isInCache ? 1 : 0
    info.source = nh_source(UInt32(image.source.rawValue))
    info.is_partial = image.isPartial ? 1 : 0
    info.url = strings[0]
    info.final_url = strings[1]
    info.age = image.age
    info.is_stale = image.isStale ? 1 : 0
    return info
  }

  func encoded(_ format: EncodedFormat) throws(NuthatchError) -> EncodedImage {
    if let known = made.withLock({ list in list.first { $0.format == format }?.bytes }) { return known }
    let bytes = try image.encoded(as: format)
    // Two threads may make the same; both results stay, as both may be in use.
    made.withLock { $0.append((format, bytes)) }
    return bytes
  }
  func converted(_ format: PixelFormat) throws(NuthatchError) -> MadePixels {
    if let known = pixels.withLock({ list in list.first { $0.format == format } }) { return known }
    let made = try MadePixels(format, of: image)
    // Two threads may make the same; both results stay, as both may be in use.
    pixels.withLock { $0.append(made) }
    return made
  }
}
