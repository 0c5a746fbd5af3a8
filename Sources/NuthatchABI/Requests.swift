// nuthatch.h 11: Requests
//
//     nh_request_create(url, &request);
//     nh_request_set(request, &(nh_options){.struct_size = sizeof(nh_options), .method = "PUT", .deadline_ms = 5000});
//     nh_request_set_body(request, "seeds", 5);
//     if (nh_perform(cache, request, &response) == NH_OK) nh_response_release(response);
//     nh_request_free(request);

import CNuthatch
import NuthatchCore

/// Begins the description of a request that has more to say than nh_options: a body, a form, places where the answer goes. It is
/// a GET of `url` until the functions below say otherwise. What they are given is copied. A request may be used any number of
/// times, from any thread, and changed in between: tickets keep what it was when they were made. URL and headers are checked when
/// it is used: a URL of more than 65,536 bytes is NH_BAD_URL then, but for data: URLs.
///
/// @param request  Gets the handle; NULL on failure. Free it with nh_request_free.
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_create")
public func nhRequestCreate(_ url: UnsafePointer<CChar>?, _ request: UnsafeMutablePointer<nh_request_ref?>?)
  -> nh_status
{
  answering { () throws(NuthatchError) in
    let result = try place(request, "request")
    try give(RequestDraft(Draft(Request(try string(url, "url")))), .request, to: result)
  }
}

/// Says something more about a request: what `options` say is so from now on, and what they don't say stays as it is. What was said
/// can be said otherwise, but not taken back: for that, begin another request.
///
/// @return NH_OK; NH_INVALID, also for options that a request doesn't have. Headers and a method that can't be sent, and secrets
///         without a provider, are found out when the request is used.
@_cdecl("nh_request_set")
public func nhRequestSet(_ request: nh_request_ref?, _ options: UnsafePointer<nh_options>?) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    guard options != nil else { throw .null("options") }
    let said = try read(options, for: .request)
    // All of it, or nothing.
    var changed = draft
    try changed.take(said)
    try changed.request.options.check(.request)
    draft = changed
  }
}

/// Adds a header. It replaces those of the same name that would be sent otherwise. Added twice, both are sent, in this order.
///
/// @return NH_OK; NH_INVALID. A name or value that can't be sent, more than 1,000 headers, and more than 262,144 bytes of them,
///         are NH_BAD_HEADER when the request is used.
@_cdecl("nh_request_add_header")
public func nhRequestAddHeader(
  _ request: nh_request_ref?, _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?
) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.headers.append((try string(name, "name"), try string(value, "value")))
  }
}

/// Frees a request. Tickets that were made from it go on.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_free")
public func nhRequestFree(_ request: nh_request_ref?) -> nh_status {
  answering { () throws(NuthatchError) in try remove(request, .request) }
}
