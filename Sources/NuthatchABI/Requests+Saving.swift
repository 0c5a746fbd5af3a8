// nuthatch.h 13: Requests: save the answer
// Types: nh_saving.h
//
//     nh_request_save_to(request, NH_SINK(.kind = NH_SINK_FILE, .path = "nuts.tar"));
//     nh_request_set(request, NH_OPTIONS(.progress_events = NH_YES));
//     nh_submit_request(cache, request, &ticket);

import CNuthatch
import NuthatchCore

/// Saves the answer while it arrives. May be called for several places: each gets the whole answer. A saved answer may be larger than the
/// cache's max_bytes; only the request's own max_bytes limits it. Without that, a compressed answer (Content-Encoding) that decodes to
/// more than 64 MiB, and to more than 1,000 times the received bytes, is NH_TOO_LARGE. The response has the body, and the cache stores
/// it, only up to the cache's max_bytes. Answers that aren't a success aren't saved.
///
/// @return NH_OK; NH_INVALID. The request fails with NH_NO_SPACE on a full disk and with NH_IO if the file can't be written.
@_cdecl("nh_request_save_to")
public func nhRequestSaveTo(_ request: nh_request_ref?, _ sink: UnsafePointer<nh_sink>?) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    guard let sink else { throw .null("sink") }
    let said = try readSized(sink, zero: nh_sink(), "sink")
    guard said.reserved == 0 else { throw NuthatchError(.invalid, "sink.reserved is not 0") }
    let place = try Sink(said)
    if place != .events || !draft.request.saveTo.contains(.events) { draft.request.saveTo.append(place) }
  }
}

extension Sink {
  fileprivate init(_ said: nh_sink) throws(NuthatchError) {
    let isFile = said.kind == NH_SINK_FILE || said.kind == NH_SINK_APPEND
    guard isFile || said.path == nil, said.kind == NH_SINK_DESCRIPTOR || said.descriptor == 0 else {
      throw NuthatchError(.invalid, "sink.path or sink.descriptor is set, but doesn't belong to sink.kind")
    }
    switch said.kind {
    case NH_SINK_FILE: self = .file(try string(said.path, "sink.path"))
    case NH_SINK_APPEND: self = .appended(try string(said.path, "sink.path"))
    case NH_SINK_DESCRIPTOR:
      guard said.descriptor >= 0 else { throw NuthatchError(.invalid, "sink.descriptor is negative") }
      self = .descriptor(said.descriptor)
    case NH_SINK_EVENTS: self = .events
    default: throw .unknownValue("sink.kind", said.kind.rawValue, of: "nh_sink_kind")
    }
  }
}
