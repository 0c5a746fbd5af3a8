// nuthatch.h 4: Fetch and wait

import CNuthatch
import NuthatchCore

/// Gets a URL, from the cache while that is fresh, and waits for the answer. An answer of any status is a success: look at the status in
/// nh_response_info. At most 10 redirects are followed.
///
/// @param response  Gets the handle; NULL on failure. Release it with nh_response_release.
/// @return NH_OK, or why there is no answer: NH_BAD_URL, NH_TIMEOUT, NH_DNS, NH_REFUSED, NH_RESET, NH_TLS, NH_HTTP,
///         NH_TRUNCATED, NH_TOO_LARGE, NH_TOO_MANY_REDIRECTS, NH_CLOSED, NH_FORKED, NH_INVALID, NH_OUT_OF_MEMORY, NH_IO
///         where no descriptor is left.
@_cdecl("nh_get")
public func nhGet(
  _ cache: nh_cache_ref?, _ url: UnsafePointer<CChar>?, _ response: UnsafeMutablePointer<nh_response_ref?>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let result = try place(response, "response")
    let opened = try find(cache, .cache, as: Cache.self)
    try wait(for: Request(try string(url, "url")), in: opened, result)
  }
}

/// Carries out a request and waits for the answer.
///
/// @param response  Gets the handle; NULL on failure. Release it with nh_response_release.
/// @return As nh_get, and NH_BAD_HEADER.
@_cdecl("nh_perform")
public func nhPerform(
  _ cache: nh_cache_ref?, _ request: nh_request_ref?, _ response: UnsafeMutablePointer<nh_response_ref?>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let result = try place(response, "response")
    let opened = try find(cache, .cache, as: Cache.self)
    try wait(for: try find(request, .request, as: RequestDraft.self).current, in: opened, result)
  }
}

private func wait(
  for request: Request, in cache: Cache, _ place: UnsafeMutablePointer<nh_response_ref?>
) throws(NuthatchError) {
  var request = request
  request.delivery = .fresh
  try give(ResponseView(try cache.submit(request).result()), .response, to: place)
}
