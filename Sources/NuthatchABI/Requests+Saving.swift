// nuthatch.h 7: Requests: where the answer goes

import CNuthatch
import NuthatchCore

/// Saves the answer, while it comes, to a file, which has its name only once it is complete; a file that was there is replaced
/// then. May be called for several files, and with the other nh_request_save_to functions: each gets all of the answer.
/// What is saved may be larger than the cache's max_bytes, and is limited only by what the request says of max_bytes. Without it, a
/// compressed answer (Content-Encoding) that decodes to more than 64 MiB, and to more than 1,000 times the bytes that came, is
/// NH_TOO_LARGE. The response has the body, and the cache keeps it, only up to the cache's max_bytes. Answers
/// that are no success are saved nowhere. When a transfer breaks off and can be gone on with, what is there stays in a
/// hidden file beside the first file, and the next request for it goes on there, in any process (nh_options.resume).
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
