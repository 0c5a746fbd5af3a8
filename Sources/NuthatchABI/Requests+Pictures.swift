// nuthatch.h 9: Requests: thumbnails

import CNuthatch
import NuthatchCore

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
  changing(request) { $0.request.allowDamaged = allow != 0 }
}

/// Sets the most pixels that a picture may have. 0: the cache's; negative: no limit.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_max_pixels")
public func nhRequestSetMaxPixels(_ request: nh_request_ref?, _ pixels: Int64) -> nh_status {
  changing(request) { $0.request.maxPixels = given(limit: pixels).map { Int($0) } }
}

/// Sets whether the transfer of a progressive JPEG may end when the thumbnails are done, where much of it remains: 1 for yes, 0,
/// the default, for no. The original isn't kept then.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_early_stop")
public func nhRequestSetEarlyStop(_ request: nh_request_ref?, _ early_stop: Int32) -> nh_status {
  changing(request) { $0.request.earlyStop = early_stop != 0 }
}
