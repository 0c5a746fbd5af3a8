// nuthatch.h 5: Images
// Types: nh_pictures.h
//
//     nh_image_info info = {.struct_size = sizeof info};
//     if (nh_thumbnail(cache, url, NH_OPTIONS(.sizes = &(nh_size){320, 180}, .size_count = 1, .fit = NH_FIT_COVER), &image) == NH_OK) {
//         nh_image_get_info(image, &info);
//         show(info.pixels, info.width, info.height, info.stride);
//         nh_image_release(image);
//     }

import CNuthatch
import NuthatchCore

/// Decodes the body of a response, on the calling thread. The status and the Content-Type don't matter.
///
/// @param options  The box (size, or one of sizes), and the options of an image. Never NULL.
/// @param image    Gets the handle; NULL on failure. Release it with nh_image_release.
/// @return NH_OK; NH_NOT_AN_IMAGE; NH_UNSUPPORTED_FORMAT (the message names the format); NH_CORRUPT and NH_TRUNCATED (with the position);
///         NH_TOO_LARGE; NH_TOO_MANY_PIXELS; NH_OUT_OF_MEMORY; NH_INVALID, also for a box whose sides aren't 1 to 65535.
@_cdecl("nh_response_image")
public func nhResponseImage(
  _ response: nh_response_ref?, _ options: UnsafePointer<nh_options>?,
  _ image: UnsafeMutablePointer<nh_image_ref?>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let result = try place(image, "image")
    guard let options else { throw .null("options") }
    let view = try find(response, .response, as: ResponseView.self)
    try give(try view.response.image(try imageOptions(options)), .image, to: result)
  }
}

/// Decodes a picture of the program, on the calling thread: a JPEG, PNG, GIF, WebP, AVIF, BMP or ICO; an SVG or HEIC if its
/// library is installed (docs/ISOLATION.md). The image's URL is empty, and its source NH_SOURCE_MEMORY.
///
/// @param bytes    The file: `size` bytes, read during the call only.
/// @param options  As for nh_response_image.
/// @param image    Gets the handle; NULL on failure. Release it with nh_image_release.
/// @return Like nh_response_image.
@_cdecl("nh_image_decode")
public func nhImageDecode(
  _ bytes: UnsafeRawPointer?, _ size: UInt, _ options: UnsafePointer<nh_options>?,
  _ image: UnsafeMutablePointer<nh_image_ref?>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let result = try place(image, "image")
    guard let options else { throw .null("options") }
    guard let bytes else { throw .null("bytes") }
    let body = UnsafeRawBufferPointer(start: bytes, count: Int(clamping: size))
    try give(try Image.decode(body, try imageOptions(options)), .image, to: result)
  }
}

/// Returns the facts about an image. Set info->struct_size to sizeof *info before the call.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_image_get_info")
public func nhImageGetInfo(_ image: nh_image_ref?, _ info: UnsafeMutablePointer<nh_image_info>?) -> nh_status
{
  answering { () throws(NuthatchError) in
    guard let info else { throw .null("info") }
    try writeSized(nh_image_info(try find(image, .image, as: Image.self)), to: info, "info")
  }
}

/// Releases an image, its pixels, and the files and formats made from them.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_image_release")
public func nhImageRelease(_ image: nh_image_ref?) -> nh_status {
  answering { () throws(NuthatchError) in try remove(image, .image) }
}

private func imageOptions(_ said: UnsafePointer<nh_options>) throws(NuthatchError) -> ImageOptions {
  let wanted = try Draft(Request(""), said, for: .image).complete
  guard wanted.boxes.count == 1 else {
    throw NuthatchError(.invalid, "there are \(wanted.boxes.count) sizes; set one with size or sizes")
  }
  return ImageOptions(wanted.boxes[0], as: wanted)
}

extension nh_image_info {
  init(_ image: Image) {
    let strings = ImageCompanion.of(image).strings
    self.init()
    width = Int32(clamping: image.width)
    height = Int32(clamping: image.height)
    stride = image.stride
    // The image owns the pixels, so the address stays valid after the call.
    pixels = image.withPixels { $0.baseAddress }
    original_width = Int32(clamping: image.originalWidth)
    original_height = Int32(clamping: image.originalHeight)
    is_in_cache = image.isInCache ? 1 : 0
    source = nh_source(UInt32(image.source.rawValue))
    is_partial = image.isPartial ? 1 : 0
    url = strings[0]
    final_url = strings[1]
    age = image.age
    is_stale = image.isStale ? 1 : 0
    http_status = Int32(clamping: image.status ?? 0)
    is_stored = image.isStored ? 1 : 0
    format = strings[2]
    is_animated = image.isAnimated ? 1 : 0
    frame_count = Int32(clamping: image.frameCount ?? 0)
    depth = Int32(clamping: image.depth ?? 0)
  }
}

/// An image's strings in C form, and the pixels and files that were made from it. It is created at first use: an image of which
/// only the RGBA pixels are read (nh_image_pixels) needs none.
final class ImageCompanion: Sendable {
  let strings: StringArena
  private let pixels = Locked<[MadePixels]>([])
  private let files = Locked<[(format: EncodedFormat, bytes: EncodedImage)]>([])

  private init(_ image: Image) {
    // Without a format, the third address is NULL.
    strings = StringArena([image.url, image.finalURL] + (image.format.map { [$0.rawValue] } ?? []))
  }

  static func of(_ image: Image) -> ImageCompanion {
    if let known = image.companion.load()?.value as? ImageCompanion { return known }
    let made = ImageCompanion(image)
    // Another thread may have stored one first.
    return image.companion.storeIfNil(Companion(made)).value as? ImageCompanion ?? made
  }

  func encoded(_ image: Image, _ format: EncodedFormat) throws(NuthatchError) -> EncodedImage {
    if let known = files.withLock({ list in list.first { $0.format == format }?.bytes }) { return known }
    let bytes = try image.encoded(as: format)
    // Two threads may encode to the same format. Keep both results, because both addresses may be in use.
    files.withLock { $0.append((format, bytes)) }
    return bytes
  }

  func converted(_ image: Image, _ format: PixelFormat) throws(NuthatchError) -> MadePixels {
    if let known = pixels.withLock({ list in list.first { $0.format == format } }) { return known }
    let made = try MadePixels(format, of: image)
    // Two threads may convert to the same format. Keep both results, as above.
    pixels.withLock { $0.append(made) }
    return made
  }
}
