// nuthatch.h 3: Fetch and wait
//
// These functions wait for the answer, as long as the request's timeout, deadline and turn in the queue allow. Other threads can go on;
// nh_cancel_all and nh_close end the wait.
//
//     nh_response_info info = {.struct_size = sizeof info};
//     if (nh_get(cache, url, NH_OPTIONS(.deadline_ms = 5000, .retries = NH_NONE), &response) == NH_OK) {
//         nh_response_get_info(response, &info);
//         printf("%d, %zu bytes\n", info.status, info.body_size);
//         nh_response_release(response);
//     }

import CNuthatch
import Glibc
import NuthatchCore

/// Gets a URL and waits for the answer. A fresh answer comes from the cache. An answer with any status is a success: check the status in
/// nh_response_info.
///
/// @param options   NULL for none. For sizes use nh_thumbnail.
/// @param response  Gets the handle; NULL on failure. Release it with nh_response_release.
/// @return NH_OK, or the reason of the failure: NH_BAD_URL, NH_BAD_HEADER, NH_TIMEOUT, NH_DNS, NH_REFUSED, NH_RESET, NH_TLS, NH_HTTP,
///         NH_TRUNCATED, NH_TOO_LARGE, NH_TOO_MANY_REDIRECTS, NH_DENIED, NH_OFFLINE, NH_CIRCUIT_OPEN, NH_CANCELLED (by nh_cancel_all),
///         NH_CLOSED, NH_FORKED, NH_INVALID, NH_OUT_OF_MEMORY, NH_IO if no descriptor is left.
@_cdecl("nh_get")
public func nhGet(
  _ cache: nh_cache_ref?, _ url: UnsafePointer<CChar>?, _ options: UnsafePointer<nh_options>?,
  _ response: UnsafeMutablePointer<nh_response_ref?>?
) -> nh_status {
  defer { deliverLog() }
  return answering { () throws(NuthatchError) in
    let result = try place(response, "response")
    let known = try use(cache, .cache, as: CacheView.self) { (view) throws(NuthatchError) -> Response? in
      guard try plainSide(options) == 0 else { return nil }
      let url = try bytes(url, "url")
      return view.instant._withUnsafeGuaranteedRef { $0.hit(url) }
    }
    if let known { return try give(ResponseView(known), .response, to: result) }
    let opened = try find(cache, .cache, as: CacheView.self)
    try give(try answer(to: try askedForAnswer(url, options), in: opened), .response, to: result)
  }
}

/// Returns a thumbnail that fits the box of options->size, or of the one in options->sizes: upright, and enlarged only with
/// options->enlarge. A fresh thumbnail comes from the cache. Else the picture is fetched, and picture and thumbnail are stored. JPEG,
/// PNG, GIF, BMP and ICO are decoded, on a thread of the library.
///
/// @param options  The size, and any other options.
/// @param image    Gets the handle; NULL on failure. Release it with nh_image_release.
/// @return Like nh_get; NH_HTTP if the answer isn't a success; like nh_response_image.
@_cdecl("nh_thumbnail")
public func nhThumbnail(
  _ cache: nh_cache_ref?, _ url: UnsafePointer<CChar>?, _ options: UnsafePointer<nh_options>?,
  _ image: UnsafeMutablePointer<nh_image_ref?>?
) -> nh_status {
  defer { deliverLog() }
  return answering { () throws(NuthatchError) in
    let result = try place(image, "image")
    let known = try use(cache, .cache, as: CacheView.self) { (view) throws(NuthatchError) -> Image? in
      guard let side = try plainSide(options) else { return nil }
      let url = try bytes(url, "url")
      return view.instant._withUnsafeGuaranteedRef { $0.hit(url, size: side) }
    }
    if let known { return try give(known, .image, to: result) }
    let opened = try find(cache, .cache, as: CacheView.self)
    let draft = try askedForPicture(url, options)
    guard let image = try end(of: draft, in: opened).images.first else {
      throw NuthatchError(.internal, "the decoder returned no picture: \(draft.request.shownURL)")
    }
    try give(image, .image, to: result)
  }
}

/// Carries out a request without sizes and waits for the answer.
///
/// @param response  Gets the handle; NULL on failure. Release it with nh_response_release.
/// @return Like nh_get, and NH_BAD_HEADER; NH_INVALID for a request with sizes.
@_cdecl("nh_perform")
public func nhPerform(
  _ cache: nh_cache_ref?, _ request: nh_request_ref?, _ response: UnsafeMutablePointer<nh_response_ref?>?
) -> nh_status {
  defer { deliverLog() }
  return answering { () throws(NuthatchError) in
    let result = try place(response, "response")
    let opened = try find(cache, .cache, as: CacheView.self)
    let draft = try find(request, .request, as: RequestDraft.self).current
    guard draft.sizeCount == 0 else {
      throw NuthatchError(.invalid, "the request has sizes, so its answer has images: call nh_perform_images")
    }
    try give(try answer(to: draft, in: opened), .response, to: result)
  }
}

/// Carries out a request with sizes and waits for the images.
///
/// @param images  Gets the handles, in the order of the sizes; all are NULL on failure. Release each with nh_image_release.
/// @param count   The number of places in `images`: the number of the request's sizes.
/// @return Like nh_thumbnail, and NH_BAD_HEADER; NH_INVALID if `count` is not the number of sizes.
@_cdecl("nh_perform_images")
public func nhPerformImages(
  _ cache: nh_cache_ref?, _ request: nh_request_ref?, _ images: UnsafeMutablePointer<nh_image_ref?>?,
  _ count: UInt
) -> nh_status {
  defer { deliverLog() }
  return answering { () throws(NuthatchError) in
    guard let images else { throw .null("images") }
    guard count <= 64 else { throw NuthatchError(.invalid, "more than 64 images") }
    for index in 0..<Int(count) { images[index] = nil }
    let opened = try find(cache, .cache, as: CacheView.self)
    let draft = try find(request, .request, as: RequestDraft.self).current
    guard draft.sizeCount != 0, count == UInt(draft.sizeCount) else {
      throw NuthatchError(
        .invalid, "there is room for \(count) images, but the request has \(draft.sizeCount) sizes")
    }
    let made = try end(of: draft, in: opened).images
    for (index, image) in made.enumerated() where index < Int(count) {
      do throws(NuthatchError) {
        try give(image, .image, to: images + index)
      } catch {
        for given in 0..<index {
          try remove(images[given], .image)
          images[given] = nil
        }
        throw error
      }
    }
  }
}

private func answer(to draft: Draft, in opened: CacheView) throws(NuthatchError) -> ResponseView {
  guard let response = try end(of: draft, in: opened).response else {
    throw NuthatchError(.internal, "an answer without a response: \(draft.request.shownURL)")
  }
  return ResponseView(response)
}

/// Carries out a request and returns its final event, if that is a success. Earlier events go to the request's callback, if it
/// has one.
private func end(of draft: Draft, in opened: CacheView) throws(NuthatchError) -> Event {
  let cache = opened.cache
  let ticket = try cache.submit(draft.complete.forOneAnswer)
  let listener = draft.hooks.callback == nil ? nil : TicketView(ticket, draft, opened.completions)
  while true {
    guard let event = try listener == nil ? ticket.final() : ticket.next() else { continue }
    guard event.isFinal else {
      if let listener { tell(listener, of: event) }
      continue
    }
    guard let error = event.error else { return event }
    // If the cache is shut down during a blocked call, the call returns "closed", not "cancelled".
    throw error.code == .cancelled && cache.isShutDown ? .closed : error
  }
}
