// nuthatch.h 10: Answers without waiting
//
// These functions return fresh results that are available at once, or nothing. nh_peek is for pictures, nh_peek_response for bodies;
// nh_thumbnail_now and nh_get_now do the same, and count as requests. They return stale results under NH_POLICY_OFFLINE only. nh_submit
// delivers a stale result first, and then asks the server (NH_DELIVERY_TWICE, the default).
//
//     // .decode also finds a compressed thumbnail; after a restart, all but small ones are compressed.
//     if ((image = nh_peek(cache, url, NH_OPTIONS(.size = 128, .decode = NH_YES))) != NULL) {
//         draw(image);
//         nh_image_release(image);
//     } else {
//         nh_submit(cache, url, NH_OPTIONS(.size = 128, .quiet = NH_YES), NULL);  // for a later frame
//     }

import CNuthatch
import NuthatchCore

/// Returns a thumbnail if it can be shown at once: it is fresh, and in memory or stored on disk as pixels (NH_THUMB_STORE_RAW). Never
/// uses the network, never waits, and takes a tenth of a microsecond for a thumbnail that was shown before. For programs that draw; they
/// request missing thumbnails with nh_submit.
///
/// @param options  The size, and any other options. With `decode`, a thumbnail that is stored as a file is decoded, too.
/// @return The handle; release it with nh_image_release. NULL if there is nothing to show, and on failure. Then nh_error_get_info returns
///         NH_OK, or the error: NH_BAD_URL; NH_BAD_HEADER; NH_DENIED and NH_IO if nh_thumbnail would fail before it looks for a picture;
///         NH_CLOSED; NH_FORKED; NH_INVALID.
@_cdecl("nh_peek")
public func nhPeek(
  _ cache: nh_cache_ref?, _ url: UnsafePointer<CChar>?, _ options: UnsafePointer<nh_options>?
) -> nh_image_ref? {
  handing { () throws(NuthatchError) in try sight(cache, url, options, asHit: false) }
}

/// Like nh_peek, but nh_stats and the log count the result as a request and a hit: for programs, and bindings, that check the cache
/// before they submit a request.
///
/// @return Like nh_peek; NULL counts nothing.
@_cdecl("nh_thumbnail_now")
public func nhThumbnailNow(
  _ cache: nh_cache_ref?, _ url: UnsafePointer<CChar>?, _ options: UnsafePointer<nh_options>?
) -> nh_image_ref? {
  defer { deliverLog() }
  return handing { () throws(NuthatchError) in try sight(cache, url, options, asHit: true) }
}

private func sight(
  _ cache: nh_cache_ref?, _ url: UnsafePointer<CChar>?, _ options: UnsafePointer<nh_options>?, asHit: Bool
) throws(NuthatchError) -> nh_image_ref? {
  let found = try use(cache, .cache, as: CacheView.self) { (view) throws(NuthatchError) -> Image? in
    try view.instant.use { (instant) throws(NuthatchError) in
      if let side = onlySide(options), side != 0 {
        return try instant.picture(try bytes(url, "url"), side, asHit: asHit)
      }
      return try picture(url, options, instant, asHit: asHit)
    }
  }
  var image: nh_image_ref?
  if let found { try give(found, .image, to: &image) }
  return image
}

/// Returns a thumbnail for options that must be read. Not inlined, so that the frequent `sight` needs little stack.
@inline(never)
private func picture(
  _ url: UnsafePointer<CChar>?, _ options: UnsafePointer<nh_options>?, _ instant: InstantAnswers, asHit: Bool
) throws(NuthatchError) -> Image? {
  if let side = try plainSide(options),
    let image = try instant.known(try bytes(url, "url"), side, asHit: asHit)
  {
    return image
  }
  let draft = try askedForPicture(url, options)
  return try instant.answer(to: draft.complete, decode: draft.decodes, asHit: asHit)?.images.first
}

/// Returns the answer to a GET if it is fresh and in the cache. Never uses the network, and never waits. For programs that can't wait,
/// and for programs that request missing answers with nh_submit.
///
/// @param options   NULL for none.
/// @param response  Gets the handle; NULL on failure, and if there is no answer. Release it with nh_response_release.
/// @return NH_OK, also if there is no answer; NH_BAD_URL; NH_BAD_HEADER; NH_DENIED and NH_IO if nh_get would fail before it looks for an
///         answer; NH_CLOSED; NH_FORKED; NH_INVALID.
@_cdecl("nh_peek_response")
public func nhPeekResponse(
  _ cache: nh_cache_ref?, _ url: UnsafePointer<CChar>?, _ options: UnsafePointer<nh_options>?,
  _ response: UnsafeMutablePointer<nh_response_ref?>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let result = try place(response, "response")
    if let found = try peeked(cache, url, options) { try give(ResponseView(found), .response, to: result) }
  }
}

/// Like nh_peek_response, but nh_stats and the log count the answer as a request and a hit. It also returns the body.
///
/// @param found  Gets the answer; all members are NULL and 0 if there is none, and on failure.
/// @return Like nh_peek_response.
@_cdecl("nh_get_now")
public func nhGetNow(
  _ cache: nh_cache_ref?, _ url: UnsafePointer<CChar>?, _ options: UnsafePointer<nh_options>?,
  _ found: UnsafeMutablePointer<nh_found>?
) -> nh_status {
  defer { deliverLog() }
  return answering { () throws(NuthatchError) in
    guard let found else { throw .null("found") }
    found.initialize(to: nh_found())
    guard let answer = try peeked(cache, url, options, asHit: true) else { return }
    let view = ResponseView(answer)
    let (body, count) = view.body
    var response: nh_response_ref?
    try give(view, .response, to: &response)
    found.initialize(to: nh_found(response: response, body: body, body_size: count))
  }
}

private func peeked(
  _ cache: nh_cache_ref?, _ url: UnsafePointer<CChar>?, _ options: UnsafePointer<nh_options>?,
  asHit: Bool = false
) throws(NuthatchError) -> Response? {
  try use(cache, .cache, as: CacheView.self) { (view) throws(NuthatchError) in
    let instant = view.cache.instant
    if onlySide(options) == 0 { return try instant.response(try bytes(url, "url"), asHit: asHit) }
    if try plainSide(options) == 0, let answer = try instant.known(try bytes(url, "url"), asHit: asHit) {
      return answer
    }
    return try instant.answer(to: try askedForAnswer(url, options).complete.forOneAnswer, asHit: asHit)?
      .response
  }
}
