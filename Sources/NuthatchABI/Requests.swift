// nuthatch.h 3: Requests

import CNuthatch
import NuthatchCore

/// Begins the description of a request: a GET of `url`, until the functions below say otherwise. What they are given
/// is copied. A request may be used any number of times, from any thread; URL and headers are checked when it is used.
///
/// @param request  Gets the handle; NULL on failure. Release it with nh_request_release.
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_new")
public func nhRequestNew(_ url: UnsafePointer<CChar>?, _ request: UnsafeMutablePointer<nh_request_ref?>?)
  -> nh_status
{
  answering { () throws(NuthatchError) in
    let result = try place(request, "request")
    try give(RequestDraft(Request(try string(url, "url"))), .request, to: result)
  }
}

/// Sets the method, such as "POST"; it is sent as it is spelled.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_method")
public func nhRequestSetMethod(_ request: nh_request_ref?, _ method: UnsafePointer<CChar>?) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in draft.method = try string(method, "method") }
}

/// Adds a header. User-Agent and Accept replace what would be sent otherwise.
///
/// @return NH_OK; NH_INVALID. A name or value that can't be sent is NH_BAD_HEADER when the request is used.
@_cdecl("nh_request_add_header")
public func nhRequestAddHeader(
  _ request: nh_request_ref?, _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?
) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.headers.append((try string(name, "name"), try string(value, "value")))
  }
}

/// Sets the body: `size` bytes, copied. NULL and 0 for none.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_body")
public func nhRequestSetBody(_ request: nh_request_ref?, _ body: UnsafeRawPointer?, _ size: UInt) -> nh_status
{
  changing(request) { (draft) throws(NuthatchError) in
    guard body != nil || size == 0 else { throw .null("body") }
    guard let count = Int(exactly: size) else {
      throw NuthatchError(.invalid, "size is larger than any object")
    }
    draft.body = Array(UnsafeRawBufferPointer(start: body, count: count))
  }
}

/// Sets user and password, sent as Basic credentials to the origin of the URL and to no other.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_user")
public func nhRequestSetUser(
  _ request: nh_request_ref?, _ user: UnsafePointer<CChar>?, _ password: UnsafePointer<CChar>?
) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.user = (try string(user, "user"), try string(password, "password"))
  }
}

/// Sets the longest silence in milliseconds. 0: the cache's; negative: none.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_timeout")
public func nhRequestSetTimeout(_ request: nh_request_ref?, _ milliseconds: Int64) -> nh_status {
  changing(request) { $0.timeout = milliseconds == 0 ? nil : limit(milliseconds, default: .none) }
}

/// Sets the longest time for all of it, redirects included, in milliseconds. 0: the cache's; negative: none.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_deadline")
public func nhRequestSetDeadline(_ request: nh_request_ref?, _ milliseconds: Int64) -> nh_status {
  changing(request) { $0.deadline = milliseconds == 0 ? nil : limit(milliseconds, default: .none) }
}

/// Sets the largest body, in bytes. 0: the cache's.
///
/// @return NH_OK; NH_INVALID when `bytes` is negative.
@_cdecl("nh_request_set_max_bytes")
public func nhRequestSetMaxBytes(_ request: nh_request_ref?, _ bytes: Int64) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    guard bytes >= 0 else { throw NuthatchError(.invalid, "bytes is negative") }
    draft.maxBytes = bytes == 0 ? nil : bytes
  }
}

/// Sets a pointer that the events of the request's tickets carry. The library never follows it.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_user_data")
public func nhRequestSetUserData(_ request: nh_request_ref?, _ user_data: UnsafeMutableRawPointer?)
  -> nh_status
{
  answering { () throws(NuthatchError) in
    try find(request, .request, as: RequestDraft.self).userData = user_data
  }
}

/// Releases a request. Tickets that were made from it go on.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_release")
public func nhRequestRelease(_ request: nh_request_ref?) -> nh_status {
  answering { () throws(NuthatchError) in try remove(request, .request) }
}

/// A request under construction, which several threads may touch.
final class RequestDraft: Sendable {
  private let request: Locked<Request>
  private let userBits = Locked<UInt>(0)

  init(_ request: Request) { self.request = Locked(request) }

  var current: Request { request.withLock { $0 } }

  /// What the events of its tickets carry; a number as far as the library is concerned.
  var userData: UnsafeMutableRawPointer? {
    get { UnsafeMutableRawPointer(bitPattern: userBits.withLock { $0 }) }
    set { userBits.withLock { $0 = UInt(bitPattern: newValue) } }
  }

  func change(_ body: (inout Request) throws(NuthatchError) -> Void) throws(NuthatchError) {
    try request.withLock { (request) throws(NuthatchError) in try body(&request) }
  }
}

private func changing(_ handle: OpaquePointer?, _ body: (inout Request) throws(NuthatchError) -> Void)
  -> nh_status
{
  answering { () throws(NuthatchError) in
    try find(handle, .request, as: RequestDraft.self).change(body)
  }
}
