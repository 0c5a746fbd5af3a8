// nuthatch.h 5: Requests

import CNuthatch
import NuthatchCore

/// Begins the description of a request: a GET of `url`, until the functions below say otherwise. What they are given
/// is copied. A request may be used any number of times, from any thread, and changed in between: tickets keep what it was
/// when they were made. URL and headers are checked when it is used.
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

/// Sets the method, such as "POST"; it is sent as it is spelled.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_method")
public func nhRequestSetMethod(_ request: nh_request_ref?, _ method: UnsafePointer<CChar>?) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.method = try string(method, "method")
  }
}

/// Adds a header. It replaces one of the same name that would be sent otherwise.
///
/// @return NH_OK; NH_INVALID. A name or value that can't be sent is NH_BAD_HEADER when the request is used.
@_cdecl("nh_request_add_header")
public func nhRequestAddHeader(
  _ request: nh_request_ref?, _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?
) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.headers.append((try string(name, "name"), try string(value, "value")))
  }
}

/// Sets the body: `size` bytes, copied. NULL and 0 for none.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_body")
public func nhRequestSetBody(_ request: nh_request_ref?, _ body: UnsafeRawPointer?, _ size: UInt) -> nh_status
{
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.body = try copied(body, size, "body")
  }
}

/// Sends a file's bytes as the body, read while they are sent: no more than a piece of it is ever in memory. Say what they
/// are with a Content-Type header.
///
/// @param path  Looked at when the request is used: one that is missing, or no regular file, is NH_IO then, and so is one
///              that has changed by the time that it is sent. NULL for none.
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_body_file")
public func nhRequestSetBodyFile(_ request: nh_request_ref?, _ path: UnsafePointer<CChar>?) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.upload = try given(path, "path").map { .file($0) }
  }
}

/// Adds a field or some bytes to a form (multipart/form-data), which is then the body.
///
/// @param name       The field's name. Quotes and line breaks are escaped as browsers do.
/// @param data       `size` bytes, copied.
/// @param file_name  What they are called as a file; NULL for a plain field.
/// @param type       Their Content-Type; NULL for none, and for application/octet-stream with a file name.
/// @return NH_OK; NH_INVALID. A type that can't be sent is NH_BAD_HEADER when the request is used.
@_cdecl("nh_request_add_form_data")
public func nhRequestAddFormData(
  _ request: nh_request_ref?, _ name: UnsafePointer<CChar>?, _ data: UnsafeRawPointer?, _ size: UInt,
  _ file_name: UnsafePointer<CChar>?, _ type: UnsafePointer<CChar>?
) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    let part = FormPart(
      try string(name, "name"), bytes: try copied(data, size, "data"),
      fileName: try given(file_name, "file_name"), type: try given(type, "type"))
    draft.request.addToForm(part)
  }
}

/// Adds a file to a form (multipart/form-data), read while it is sent, as nh_request_set_body_file does.
///
/// @param name       The field's name.
/// @param file_name  What it is called there; NULL for its own name.
/// @param type       Its Content-Type; NULL for application/octet-stream.
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_add_form_file")
public func nhRequestAddFormFile(
  _ request: nh_request_ref?, _ name: UnsafePointer<CChar>?, _ path: UnsafePointer<CChar>?,
  _ file_name: UnsafePointer<CChar>?, _ type: UnsafePointer<CChar>?
) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    let part = FormPart(
      try string(name, "name"), file: try string(path, "path"), fileName: try given(file_name, "file_name"),
      type: try given(type, "type"))
    draft.request.addToForm(part)
  }
}

/// Adds a field to the body, encoded as browsers send plain forms (application/x-www-form-urlencoded); the Content-Type says
/// so unless the request has one.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_add_field")
public func nhRequestAddField(
  _ request: nh_request_ref?, _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?
) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    let field = Upload.urlEncoded([(try string(name, "name"), try string(value, "value"))])
    draft.request.body += (draft.request.body.isEmpty ? [] : [UInt8(ascii: "&")]) + field
    draft.request.setMissing("Content-Type", "application/x-www-form-urlencoded")
  }
}

/// Saves the answer, while it comes, to a file, which has its name only once it is complete; a file that was there is replaced
/// then. May be called for several files, and with the other nh_request_save_to functions: each gets all of the answer.
/// What is saved may be larger than the cache's max_bytes, and is limited only by nh_request_set_max_bytes; the response has
/// the body, and the cache keeps it, only up to the cache's. Answers
/// that are no success are saved nowhere. When a transfer breaks off and can be gone on with, what is there stays in a
/// hidden file beside the first file, and the next request for it goes on there, in any process (nh_request_set_resume).
///
/// @param append  1: the answer is added to the end of the file, all of it or nothing.
/// @return NH_OK; NH_INVALID. The request fails with NH_NO_SPACE on a full disk and with NH_IO when the file can't be written.
@_cdecl("nh_request_save_to_file")
public func nhRequestSaveToFile(
  _ request: nh_request_ref?, _ path: UnsafePointer<CChar>?, _ append: Int32
) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    let path = try string(path, "path")
    draft.request.saveTo.append(append == 0 ? .file(path) : .appended(path))
  }
}

/// Writes the answer, while it comes, to a descriptor. What that doesn't take holds the transfer up, and nothing else. It is
/// copied when the request is used: it may be closed after that.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_save_to_descriptor")
public func nhRequestSaveToDescriptor(_ request: nh_request_ref?, _ descriptor: Int32) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    guard descriptor >= 0 else { throw NuthatchError(.invalid, "descriptor is negative") }
    draft.request.saveTo.append(.descriptor(descriptor))
  }
}

/// Gives the answer in pieces, as NH_EVENT_DATA. While more than a mebibyte waits to be taken, nothing more comes.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_save_to_events")
public func nhRequestSaveToEvents(_ request: nh_request_ref?) -> nh_status {
  changing(request) { if !$0.request.saveTo.contains(.events) { $0.request.saveTo.append(.events) } }
}

/// Sets whether a file whose transfer broke off is kept, hidden, to be gone on with: 1, the default, for yes, 0 for no.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_resume")
public func nhRequestSetResume(_ request: nh_request_ref?, _ resume: Int32) -> nh_status {
  changing(request) { $0.request.resumes = resume != 0 }
}

/// Sets how user and password are shown. NH_SIGN_IN_UNSAID: Basic, with the first request.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_sign_in")
public func nhRequestSetSignIn(_ request: nh_request_ref?, _ sign_in: nh_sign_in) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    let wanted = SignIn(rawValue: Int32(truncatingIfNeeded: sign_in.rawValue))
    guard wanted != nil || sign_in == NH_SIGN_IN_UNSAID else {
      throw NuthatchError(.invalid, "sign_in is no nh_sign_in")
    }
    draft.request.signIn = wanted
  }
}

/// Signs in with a token, sent as Authorization: Bearer to the origin of the URL and to no other.
///
/// @return NH_OK; NH_INVALID. A token that can't be sent is NH_BAD_HEADER when the request is used.
@_cdecl("nh_request_set_bearer")
public func nhRequestSetBearer(_ request: nh_request_ref?, _ token: UnsafePointer<CChar>?) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.setBearer(try string(token, "token"))
  }
}

/// Sets a certificate that says who asks, from files in PEM, shown to the origin of the URL and to no other.
///
/// @param certificate  Its file; NULL for none.
/// @param key          Its key's; NULL when that is in the same file.
/// @param password     What the key is encrypted with; NULL when it isn't.
/// @return NH_OK; NH_INVALID. Files that can't be used are NH_TLS when the request is sent.
@_cdecl("nh_request_set_certificate")
public func nhRequestSetCertificate(
  _ request: nh_request_ref?, _ certificate: UnsafePointer<CChar>?, _ key: UnsafePointer<CChar>?,
  _ password: UnsafePointer<CChar>?
) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    let (key, password) = (try given(key, "key"), try given(password, "password"))
    draft.request.certificate = try given(certificate, "certificate").map {
      ClientCertificate($0, key: key, password: password)
    }
  }
}

/// Sets user and password, for the origin of the URL and no other: sent as Basic credentials unless nh_request_set_sign_in
/// says otherwise.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_user")
public func nhRequestSetUser(
  _ request: nh_request_ref?, _ user: UnsafePointer<CChar>?, _ password: UnsafePointer<CChar>?
) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.user = (try string(user, "user"), try string(password, "password"))
  }
}

/// Has user and password looked up in a file (.netrc), by the host of the URL, when nothing else says who asks.
///
/// @param path  "" for $NETRC, else ~/.netrc, which need not be there; NULL for what the cache says.
/// @return NH_OK; NH_INVALID. A file that can't be read is NH_IO when the request is used.
@_cdecl("nh_request_set_netrc")
public func nhRequestSetNetrc(_ request: nh_request_ref?, _ path: UnsafePointer<CChar>?) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.netrc = try given(netrc: path, "path")
  }
}

/// Asks for a thumbnail, instead of the response; once for each of up to 64 sizes, which come from one fetch and one decode.
///
/// @param width   The box's sides, 1 to 65535.
/// @param height  0 for a square.
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_add_size")
public func nhRequestAddSize(_ request: nh_request_ref?, _ width: Int32, _ height: Int32) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    let sides = 1...Int32(ThumbnailBox.maxSide)
    guard sides.contains(width), height == 0 || sides.contains(height) else {
      throw NuthatchError(.invalid, "a box of \(width)x\(height): its sides must be 1 to \(sides.upperBound)")
    }
    guard draft.sizes.count < 64 else { throw NuthatchError(.invalid, "more than 64 sizes") }
    draft.sizes.append((Int(width), Int(height == 0 ? width : height)))
  }
}

/// Sets how pictures are made to fit their boxes. NH_MODE_FIT by default.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_mode")
public func nhRequestSetMode(_ request: nh_request_ref?, _ mode: nh_mode) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in draft.mode = try boxMode(mode, "mode") }
}

/// Sets whether smaller pictures are made larger: 1 for yes, 0, the default, for no.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_enlarge")
public func nhRequestSetEnlarge(_ request: nh_request_ref?, _ enlarge: Int32) -> nh_status {
  changing(request) { $0.enlarge = enlarge != 0 }
}

/// Sets how much of a picture is decoded before it is scaled down. NH_QUALITY_BEST by default.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_quality")
public func nhRequestSetQuality(_ request: nh_request_ref?, _ quality: nh_quality) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.quality = try boxQuality(quality, "quality")
  }
}

/// Sets whether what decodes of a damaged or truncated picture is an image, marked is_partial (1), or an error (0, the
/// default).
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_allow_truncated")
public func nhRequestSetAllowTruncated(_ request: nh_request_ref?, _ allow: Int32) -> nh_status {
  changing(request) { $0.request.allowTruncated = allow != 0 }
}

/// Sets the most pixels that a picture may have. 0: the cache's; negative: no limit.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_max_pixels")
public func nhRequestSetMaxPixels(_ request: nh_request_ref?, _ pixels: Int64) -> nh_status {
  changing(request) { $0.request.maxPixels = given(limit: pixels).map { Int($0) } }
}

/// Sets when answers from the cache are delivered. NH_DELIVERY_TWICE by default; blocking calls wait for the answer that
/// holds now, whatever is set here.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_delivery")
public func nhRequestSetDelivery(_ request: nh_request_ref?, _ delivery: nh_delivery) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    switch delivery {
    case NH_DELIVERY_TWICE: draft.request.delivery = .twice
    case NH_DELIVERY_FIRST: draft.request.delivery = .first
    case NH_DELIVERY_FRESH: draft.request.delivery = .fresh
    default: throw NuthatchError(.invalid, "delivery is no nh_delivery")
    }
  }
}

/// Sets the priority: -10 to 10, higher ones first; what is beyond counts as the nearest. 0 by default.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_priority")
public func nhRequestSetPriority(_ request: nh_request_ref?, _ priority: Int32) -> nh_status {
  changing(request) { $0.request.priority = Int(priority) }
}

/// Sets a word to cancel by (nh_cancel_all). NULL for none.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_tag")
public func nhRequestSetTag(_ request: nh_request_ref?, _ tag: UnsafePointer<CChar>?) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in draft.request.tag = try given(tag, "tag") }
}

/// Sets what is taken for fresh. NH_POLICY_UNSAID: the cache's.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_policy")
public func nhRequestSetPolicy(_ request: nh_request_ref?, _ policy: nh_policy) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.lifetimes.rules = try given(policy, "policy")
  }
}

/// Sets the numbers of the policy, which nh_options explain. 0: the cache's; negative: none.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_lifetimes")
public func nhRequestSetLifetimes(
  _ request: nh_request_ref?, _ validator_ttl: Int64, _ image_ttl: Int64, _ no_cache_ttl: Int64,
  _ heuristic: Double
) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.lifetimes.heuristic = try given(share: heuristic, "heuristic")
    draft.lifetimes.validatorTTL = given(amount: validator_ttl)
    draft.lifetimes.imageTTL = given(amount: image_ttl)
    draft.lifetimes.noCacheTTL = given(amount: no_cache_ttl)
  }
}

/// Sets which addresses may be connected to. NH_GUARD_UNSAID: the cache's.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_guard")
public func nhRequestSetGuard(_ request: nh_request_ref?, _ guard: nh_guard) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.guard = try given(`guard`, "guard")
  }
}

/// Sets what the answer is kept under instead of the URL: for URLs that carry a signature or a date. NULL: the URL.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_key")
public func nhRequestSetKey(_ request: nh_request_ref?, _ key: UnsafePointer<CChar>?) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in draft.request.key = try given(key, "key") }
}

/// Sets whether the query is left out of what the answer is kept under: 1 for yes, 0, the default, for no.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_ignore_query")
public func nhRequestSetIgnoreQuery(_ request: nh_request_ref?, _ ignore: Int32) -> nh_status {
  changing(request) { $0.request.ignoreQuery = ignore != 0 }
}

/// Sets a name for whose answers these are, in place of the credentials sent: for tokens that change. NULL: the cache's.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_partition")
public func nhRequestSetPartition(_ request: nh_request_ref?, _ partition: UnsafePointer<CChar>?) -> nh_status
{
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.partition = try given(partition, "partition")
  }
}

/// Sets the longest silence in milliseconds. 0: the cache's; negative: none.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_timeout")
public func nhRequestSetTimeout(_ request: nh_request_ref?, _ milliseconds: Int64) -> nh_status {
  changing(request) { $0.request.timeout = given(milliseconds: milliseconds) }
}

/// Sets the longest time for all of it, redirects and further attempts included, in milliseconds. 0: the cache's; negative:
/// none.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_deadline")
public func nhRequestSetDeadline(_ request: nh_request_ref?, _ milliseconds: Int64) -> nh_status {
  changing(request) { $0.request.deadline = given(milliseconds: milliseconds) }
}

/// Sets how often a failed attempt is followed by another. 0: the cache's; negative: never.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_retries")
public func nhRequestSetRetries(_ request: nh_request_ref?, _ retries: Int32) -> nh_status {
  changing(request) { $0.request.retries = given(amount: Int64(retries)).map { Int($0) } }
}

/// Sets the largest body, in bytes. 0: the cache's; negative: no limit.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_max_bytes")
public func nhRequestSetMaxBytes(_ request: nh_request_ref?, _ bytes: Int64) -> nh_status {
  changing(request) { $0.request.maxBytes = given(limit: bytes) }
}

/// Sets whether NH_EVENT_PROGRESS is delivered, of what is sent and of what comes: 1 for yes, 0, the default, for no.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_progress")
public func nhRequestSetProgress(_ request: nh_request_ref?, _ progress: Int32) -> nh_status {
  changing(request) { $0.request.reportsProgress = progress != 0 }
}

/// Sets whether the transfer of a progressive JPEG may end when the thumbnails are done, where much of it remains: 1 for yes, 0,
/// the default, for no. The original isn't kept then.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_early_stop")
public func nhRequestSetEarlyStop(_ request: nh_request_ref?, _ early_stop: Int32) -> nh_status {
  changing(request) { $0.request.earlyStop = early_stop != 0 }
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

private func copied(_ bytes: UnsafeRawPointer?, _ size: UInt, _ name: String) throws(NuthatchError)
  -> [UInt8]
{
  guard bytes != nil || size == 0 else { throw .null(name) }
  guard let count = Int(exactly: size) else {
    throw NuthatchError(.invalid, "size is larger than any object")
  }
  return Array(UnsafeRawBufferPointer(start: bytes, count: count))
}

private func changing(_ handle: OpaquePointer?, _ body: (inout Draft) throws(NuthatchError) -> Void)
  -> nh_status
{
  answering { () throws(NuthatchError) in
    try find(handle, .request, as: RequestDraft.self).change(body)
  }
}
