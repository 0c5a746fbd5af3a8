// nuthatch.h 16: Images

import CNuthatch
import NuthatchCore

/// Gives a thumbnail if it can be shown at once: it is in memory, or lies on disk as pixels (NH_THUMB_STORE_RAW), and is fresh. Never
/// asks the network, never waits, and takes a tenth of a microsecond where the same was shown before. For programs that draw:
/// what isn't there they ask for with nh_submit.
///
/// @param size    As for nh_thumbnail.
/// @param decode  1 to unpack one that lies on disk as a file, too, which takes some tenths of a millisecond; 0 not to.
/// @param image   Gets the handle; NULL on failure, and when there is nothing to show. Release it with nh_image_release.
/// @return NH_OK, also when there is nothing; NH_BAD_URL; NH_DENIED and NH_IO where nh_thumbnail would fail before it looks
///         for a picture; NH_CLOSED; NH_FORKED; NH_INVALID.
@_cdecl("nh_peek")
public func nhPeek(
  _ cache: nh_cache_ref?, _ url: UnsafePointer<CChar>?, _ size: Int32, _ decode: Int32,
  _ image: UnsafeMutablePointer<nh_image_ref?>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let result = try place(image, "image")
    let found = try use(cache, .cache, as: CacheView.self) { (view) throws(NuthatchError) in
      try view.cache.instant.picture(try bytes(url, "url"), ThumbnailBox(Int(size)), decode: decode != 0)
    }
    if let found { try give(found, .image, to: result) }
  }
}

/// The same as nh_peek with `decode` 0, in the shape that bindings call fastest.
///
/// @return The handle, to be released with nh_image_release; NULL when there is nothing to show, and on failure: nh_peek tells
///         the two apart.
@_cdecl("nh_peek_image")
public func nhPeekImage(
  _ cache: nh_cache_ref?, _ url: UnsafePointer<CChar>?, _ size: Int32
) -> nh_image_ref? {
  var image: nh_image_ref?
  return nhPeek(cache, url, size, 0, &image) == NH_OK ? image : nil
}

/// The thumbnail, if nh_thumbnail would give it at once: as nh_peek_image, but counted by nh_stats as a request that was a hit, and
/// told of in the log as one. For programs, and bindings, that look whether there is something before they make a request.
///
/// @return As nh_peek_image; nothing is counted when it is NULL.
@_cdecl("nh_thumbnail_now")
public func nhThumbnailNow(
  _ cache: nh_cache_ref?, _ url: UnsafePointer<CChar>?, _ size: Int32
) -> nh_image_ref? {
  defer { deliverLog() }
  var image: nh_image_ref?
  let status = answering { () throws(NuthatchError) in
    let found = try use(cache, .cache, as: CacheView.self) { (view) throws(NuthatchError) in
      try view.cache.instant.pictureNow(try bytes(url, "url"), ThumbnailBox(Int(size)))
    }
    if let found { try give(found, .image, to: &image) }
  }
  return status == NH_OK ? image : nil
}

/// As nh_peek for what a request asks for, with its credentials, key, options and one size.
///
/// @param decode  As for nh_peek.
/// @param image   Gets the handle; NULL on failure, and when there is nothing to show. Release it with nh_image_release.
/// @return As nh_peek, and NH_BAD_HEADER; NH_INVALID also when the request hasn't exactly one size.
@_cdecl("nh_peek_request")
public func nhPeekRequest(
  _ cache: nh_cache_ref?, _ request: nh_request_ref?, _ decode: Int32,
  _ image: UnsafeMutablePointer<nh_image_ref?>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let result = try place(image, "image")
    let opened = try find(cache, .cache, as: CacheView.self).cache
    let wanted = try find(request, .request, as: RequestDraft.self).current.complete
    if let found = try opened.peek(wanted, decode: decode != 0) { try give(found, .image, to: result) }
  }
}

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
    try give(try view.response.image(try imageOptions(options)), .image, to: result)
  }
}

/// Decodes a JPEG or PNG that the program has from elsewhere, on the calling thread. Its URL is empty then, and its source
/// NH_SOURCE_MEMORY.
///
/// @param bytes    The file: `size` bytes, read during the call only.
/// @param options  What the image must fit, and how. Never NULL.
/// @param image    Gets the handle; NULL on failure. Release it with nh_image_release.
/// @return As nh_response_image.
@_cdecl("nh_image_decode")
public func nhImageDecode(
  _ bytes: UnsafeRawPointer?, _ size: UInt, _ options: UnsafePointer<nh_image_options>?,
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

/// Tells what an image holds. Set info->struct_size to sizeof *info before the call.
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

/// Releases an image, its pixels, and what was made from them.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_image_release")
public func nhImageRelease(_ image: nh_image_ref?) -> nh_status {
  answering { () throws(NuthatchError) in try remove(image, .image) }
}

private func imageOptions(_ pointer: UnsafePointer<nh_image_options>) throws(NuthatchError) -> ImageOptions {
  let said = try readSized(pointer, zero: nh_image_options(), "options")
  guard said.reserved == 0 else { throw NuthatchError(.invalid, "options.reserved is not 0") }
  var options = ImageOptions(
    ThumbnailBox(
      width: Int(said.width), height: Int(said.height == 0 ? said.width : said.height),
      mode: try given(said.fit, "options.fit") ?? .fit, enlarge: said.enlarge != 0,
      quality: try given(said.scaling, "options.scaling") ?? .best))
  options.allowTruncated = said.allow_truncated != 0
  options.maxPixels = try number(said.max_pixels, "options.max_pixels", none: .max, greatest: .max).map {
    Int($0)
  }
  return options
}

extension nh_image_info {
  init(_ image: Image) {
    let strings = ImageCompanion.of(image).strings
    self.init()
    width = Int32(clamping: image.width)
    height = Int32(clamping: image.height)
    stride = image.stride
    // The pixels belong to the image, so the address outlives the call.
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
  }
}

/// An image's strings in the shape that C wants, and what was made from its pixels. Made when somebody asks for any of it, so
/// that an image that is only shown needs no memory but its handle's.
final class ImageCompanion: Sendable {
  let strings: StringArena
  private let pixels = Locked<[MadePixels]>([])
  private let files = Locked<[(format: EncodedFormat, bytes: EncodedImage)]>([])

  private init(_ image: Image) { strings = StringArena([image.url, image.finalURL]) }

  static func of(_ image: Image) -> ImageCompanion {
    if let known = image.companion.load()?.value as? ImageCompanion { return known }
    let made = ImageCompanion(image)
    // Another thread may have been faster.
    return image.companion.storeIfNil(Companion(made)).value as? ImageCompanion ?? made
  }

  func encoded(_ image: Image, _ format: EncodedFormat) throws(NuthatchError) -> EncodedImage {
    if let known = files.withLock({ list in list.first { $0.format == format }?.bytes }) { return known }
    let bytes = try image.encoded(as: format)
    // Two threads may make the same; both results stay, as both may be in use.
    files.withLock { $0.append((format, bytes)) }
    return bytes
  }

  func converted(_ image: Image, _ format: PixelFormat) throws(NuthatchError) -> MadePixels {
    if let known = pixels.withLock({ list in list.first { $0.format == format } }) { return known }
    let made = try MadePixels(format, of: image)
    // As above.
    pixels.withLock { $0.append(made) }
    return made
  }
}
