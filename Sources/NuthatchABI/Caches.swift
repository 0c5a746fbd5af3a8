// nuthatch.h 2: Caches

import CNuthatch
import NuthatchCore

/// Opens a cache.
///
/// @param path     The directory, made when it is missing, for its owner only. NULL: $NUTHATCH_CACHE, else
///                 $XDG_CACHE_HOME/nuthatch, else ~/.cache/nuthatch.
/// @param options  NULL for the defaults.
/// @param cache    Gets the handle; NULL on failure. Close it with nh_close.
/// @return NH_OK; NH_IO when the directory can't be made or used; NH_NO_SPACE; NH_INVALID; NH_BAD_HEADER for a
///         user_agent that can't be sent.
@_cdecl("nh_open")
public func nhOpen(
  _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<nh_options>?,
  _ cache: UnsafeMutablePointer<nh_cache_ref?>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let result = try place(cache, "cache")
    let directory = if path != nil { Optional(try string(path, "path")) } else { String?.none }
    try give(try Cache(path: directory, options: try cacheOptions(options)), .cache, to: result)
  }
}

/// Closes a cache. Requests that are under way end with NH_CLOSED, at once and on every thread that waits for one;
/// responses stay valid. Waits for the network only where a stale answer was given that is being revalidated behind: two
/// seconds at most.
///
/// @return NH_OK; NH_INVALID when `cache` is not an open cache.
@_cdecl("nh_close")
public func nhClose(_ cache: nh_cache_ref?) -> nh_status {
  answering { () throws(NuthatchError) in
    let opened = try find(cache, .cache, as: Cache.self)
    try remove(cache, .cache)
    opened.close()
  }
}

private func cacheOptions(_ pointer: UnsafePointer<nh_options>?) throws(NuthatchError) -> Cache.Options {
  var options = Cache.Options()
  guard let pointer else { return options }
  let given = try readSized(pointer, zero: nh_options(), "options")
  guard given.reserved == 0 else { throw NuthatchError(.invalid, "options.reserved is not 0") }
  options.timeout = limit(given.timeout_ms, default: options.timeout)
  if given.deadline_ms != 0 { options.deadline = limit(given.deadline_ms, default: .none) }
  if given.max_bytes != 0 { options.maxBytes = given.max_bytes }
  if given.user_agent != nil { options.userAgent = try string(given.user_agent, "options.user_agent") }
  return options
}
