// nuthatch.h 11: Requests
//
//     nh_request_create(url, &request);
//     nh_request_set(request, &(nh_options){.struct_size = sizeof(nh_options), .method = "PUT", .deadline_ms = 5000});
//     nh_request_set_body(request, "seeds", 5);
//     if (nh_perform(cache, request, &response) == NH_OK) nh_response_release(response);
//     nh_request_free(request);

import CNuthatch
import NuthatchCore

/// Creates a request with more parts than nh_options can describe: a body, a form, places where the answer is saved. It is a GET of `url`
/// until the functions below change it. They copy their arguments. A request may be used any number of times, from any thread, and
/// changed in between: tickets keep the state at the time when they were made. URL and headers are checked when it is used: a URL of more
/// than 65,536 bytes is NH_BAD_URL then, except for data: URLs.
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

/// Sets options of a request: the options that are set in `options` replace earlier values, the others stay as they are. An option can be
/// changed, but not reset to "not set"; create another request for that.
///
/// @return NH_OK; NH_INVALID, also for options that a request doesn't have. Headers and a method that can't be sent, and secrets without
///         a provider, are errors when the request is used.
@_cdecl("nh_request_set")
public func nhRequestSet(_ request: nh_request_ref?, _ options: UnsafePointer<nh_options>?) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    guard options != nil else { throw .null("options") }
    let said = try read(options, for: .request)
    // All options are taken, or none.
    var changed = draft
    try changed.take(said)
    try changed.request.options.check(.request)
    draft = changed
  }
}

/// Adds a header. It replaces the headers of the same name that would be sent otherwise. Two added headers of the same name are both
/// sent, in this order.
///
/// @return NH_OK; NH_INVALID. A name or value that can't be sent, more than 1,000 headers, and more than 262,144 bytes of them, are
///         NH_BAD_HEADER when the request is used.
@_cdecl("nh_request_add_header")
public func nhRequestAddHeader(
  _ request: nh_request_ref?, _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?
) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.headers.append((try string(name, "name"), try string(value, "value")))
  }
}

/// Frees a request. Its tickets go on.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_free")
public func nhRequestFree(_ request: nh_request_ref?) -> nh_status {
  answering { () throws(NuthatchError) in try remove(request, .request) }
}
