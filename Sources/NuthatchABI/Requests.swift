// nuthatch.h 5: Requests

import CNuthatch
import NuthatchCore

/// Begins the description of a request: a GET of `url`, until the functions below say otherwise. What they are given
/// is copied. A request may be used any number of times, from any thread, and changed in between: tickets keep what it was
/// when they were made. URL and headers are checked when it is used: a URL of more than 65,536 bytes is NH_BAD_URL then, but for
/// data: URLs.
///
/// @param request  Gets the handle; NULL on failure. Release it with nh_request_release.
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_new")
public func nhRequestNew(_ url: UnsafePointer<CChar>?, _ request: UnsafeMutablePointer<nh_request_ref?>?)
  -> nh_status
{
  answering { () throws(NuthatchError) in
    let result = try place(request, "request")
    try give(RequestDraft(Draft(Request(try string(url, "url")))), .request, to: result)
  }
}

/// Sets the method, such as "POST". One that HTTP knows is put into capitals: GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS, TRACE
/// and CONNECT. Any other is sent as it is spelled.
///
/// @return NH_OK; NH_INVALID. A method that can't be sent, or has more than 64 bytes, is NH_BAD_HEADER when the request is used.
@_cdecl("nh_request_set_method")
public func nhRequestSetMethod(_ request: nh_request_ref?, _ method: UnsafePointer<CChar>?) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.method = try string(method, "method")
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

/// Sets the priority: -10 to 10, higher ones first. 0 by default.
///
/// @return NH_OK; NH_INVALID. Another number is NH_INVALID when the request is used.
@_cdecl("nh_request_set_priority")
public func nhRequestSetPriority(_ request: nh_request_ref?, _ priority: Int32) -> nh_status {
  changing(request) { $0.request.priority = Int(priority) }
}

/// Sets when answers from the cache are delivered. NH_DELIVERY_TWICE by default; blocking calls, which give one answer, take it
/// for NH_DELIVERY_FRESH.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_delivery")
public func nhRequestSetDelivery(_ request: nh_request_ref?, _ delivery: nh_delivery) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.delivery = try chosen(
      delivery, "delivery",
      among: [NH_DELIVERY_TWICE: .twice, NH_DELIVERY_FIRST: .first, NH_DELIVERY_FRESH: .fresh])
  }
}

/// Sets a word to cancel by (nh_cancel_all). NULL for none.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_tag")
public func nhRequestSetTag(_ request: nh_request_ref?, _ tag: UnsafePointer<CChar>?) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in draft.request.tag = try given(tag, "tag") }
}

/// Sets whether NH_EVENT_PROGRESS is delivered, of what is sent and of what comes: 1 for yes, 0, the default, for no.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_progress")
public func nhRequestSetProgress(_ request: nh_request_ref?, _ progress: Int32) -> nh_status {
  changing(request) { $0.request.progressEvents = progress != 0 }
}

/// Sets what the program wants to be asked. Questions come as NH_EVENT_QUESTION and are answered with nh_answer; in a blocking
/// call the request's callback gets them, on the caller's thread, and without one they count as unanswered. One that nobody
/// answers within 30 seconds, or before the deadline, counts as unanswered too.
///
/// @param questions  The sum of nh_question's bits; NH_ASK_NOTHING by default.
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_asks")
public func nhRequestSetAsks(_ request: nh_request_ref?, _ questions: UInt32) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.asks = try given(questions: questions)
  }
}

/// Sets a pointer that the events of the request's tickets carry. The library never follows it.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_user_data")
public func nhRequestSetUserData(_ request: nh_request_ref?, _ user_data: UnsafeMutableRawPointer?)
  -> nh_status
{
  changing(request) { $0.userBits = UInt(bitPattern: user_data) }
}

/// Sets a function for nh_dispatch to call with each event of the request's tickets. Tickets with a callback are delivered
/// by nh_dispatch only, those without by nh_poll only. Blocking calls call it for progress and questions. NULL for none.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_callback")
public func nhRequestSetCallback(_ request: nh_request_ref?, _ callback: nh_callback?) -> nh_status {
  changing(request) { $0.callback = callback }
}

/// Keeps the events of the request's tickets out of the completion queue (1): nh_poll never gives them and no callback is
/// called; nh_wait still takes them. For requests that somebody waits for with nh_wait, and for those whose end nobody
/// wants to hear of: the answer is in the cache then, and holds no memory. 0 by default.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_quiet")
public func nhRequestSetQuiet(_ request: nh_request_ref?, _ quiet: Int32) -> nh_status {
  changing(request) { $0.isQuiet = quiet != 0 }
}

/// Releases a request. Tickets that were made from it go on.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_release")
public func nhRequestRelease(_ request: nh_request_ref?) -> nh_status {
  answering { () throws(NuthatchError) in try remove(request, .request) }
}
