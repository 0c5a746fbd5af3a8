// nuthatch.h 16: Maintenance of a cache
// Types: nh_upkeep.h
//
//     nh_statistics statistics = {.struct_size = sizeof statistics};
//     nh_remove(cache, url, NULL);
//     nh_trim(cache, 100 << 20);
//     nh_stats(cache, &statistics);
//     printf("%lld bytes on disk\n", (long long)statistics.disk_bytes);

import CNuthatch
import NuthatchCore

/// Removes all stored answers of a URL, for all credentials, partitions and cache keys: the next request asks the server. When this
/// returns, no process gets an older answer from the cache or stores an answer that was requested before. Thumbnails that another URL
/// shares stay. May wait for the disk, and up to five seconds for another process.
///
/// @param options  NULL for all answers of the URL. A site, a key, credentials, a partition and other options that select an answer limit
///                 the removal to that answer.
/// @return NH_OK, also if nothing was stored; NH_BAD_URL; NH_BAD_HEADER; NH_BUSY if another process holds the directory's lock for five
///         seconds; NH_NO_SPACE, NH_IO if it can't be done; NH_CLOSED; NH_FORKED; NH_INVALID.
@_cdecl("nh_remove")
public func nhRemove(
  _ cache: nh_cache_ref?, _ url: UnsafePointer<CChar>?, _ options: UnsafePointer<nh_options>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let opened = try find(cache, .cache, as: CacheView.self).cache
    if options == nil {
      try opened.remove(try string(url, "url"))
    } else {
      try opened.remove(try asked(url, options).complete)
    }
  }
}

/// Removes everything that is stored, for all processes. May wait for the disk.
///
/// @return NH_OK; NH_BUSY if another process holds the directory's lock for five seconds; NH_IO; NH_CLOSED; NH_FORKED; NH_INVALID.
@_cdecl("nh_clear")
public func nhClear(_ cache: nh_cache_ref?) -> nh_status {
  answering { () throws(NuthatchError) in try find(cache, .cache, as: CacheView.self).cache.clear() }
}

/// Removes the least recently used records until no more than `bytes` are left on disk. The limit doesn't change. May wait for the disk.
///
/// @return NH_OK; NH_BUSY if another process holds the directory's lock for five seconds; NH_IO; NH_CLOSED; NH_FORKED; NH_INVALID if
///         `bytes` is negative.
@_cdecl("nh_trim")
public func nhTrim(_ cache: nh_cache_ref?, _ bytes: Int64) -> nh_status {
  answering { () throws(NuthatchError) in
    let opened = try find(cache, .cache, as: CacheView.self).cache
    guard bytes >= 0 else { throw NuthatchError(.invalid, "bytes is negative") }
    try opened.trim(to: Int(bytes))
  }
}

/// Writes to disk what is only in memory (NH_SPILL_PRESSURE), so that it survives the end of this process. May wait for the disk.
///
/// @return NH_OK, also if there is nothing to write; NH_BUSY if another process holds the directory's lock for five seconds;
///         NH_NO_SPACE; NH_IO; NH_CLOSED; NH_FORKED; NH_INVALID.
@_cdecl("nh_flush")
public func nhFlush(_ cache: nh_cache_ref?) -> nh_status {
  answering { () throws(NuthatchError) in try find(cache, .cache, as: CacheView.self).cache.flush() }
}

/// Returns the contents of a cache, and counts of events. Instant. Set statistics->struct_size to sizeof *statistics before.
///
/// @return NH_OK; NH_CLOSED; NH_FORKED; NH_INVALID.
@_cdecl("nh_stats")
public func nhStats(_ cache: nh_cache_ref?, _ statistics: UnsafeMutablePointer<nh_statistics>?) -> nh_status {
  answering { () throws(NuthatchError) in
    guard let statistics else { throw .null("statistics") }
    let opened = try find(cache, .cache, as: CacheView.self).cache
    try writeSized(try nh_statistics(opened), to: statistics, "statistics")
  }
}

/// Returns the values of nh_stats as one JSON object, with a member for each of the struct's, and "warning": a problem with the location
/// of the directory, or null.
///
/// @param buffer    Gets as many bytes as fit, terminated by NUL. May be NULL if `capacity` is 0.
/// @param capacity  The bytes of the buffer.
/// @return The number of bytes of the whole text, without the NUL; the text is complete if that is less than `capacity`. On failure a
///         negative number: -NH_CLOSED, -NH_FORKED or -NH_INVALID.
@_cdecl("nh_stats_json")
public func nhStatsJSON(_ cache: nh_cache_ref?, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: UInt)
  -> Int32
{
  counting { () throws(NuthatchError) in
    let opened = try find(cache, .cache, as: CacheView.self).cache
    return try put(try statisticsJSON(opened), into: buffer, capacity)
  }
}

/// Returns whether another process has held the directory's lock for `patience_ms`, while this process waited for it. Meanwhile nothing
/// can be stored, so a program that fetches in order to store should pause. The result changes at most four times a second; each change
/// is logged, at NH_LOG_WARNING.
///
/// @param patience_ms  In milliseconds; the first call on a handle sets it for all later ones. The command uses 30,000.
/// @return 1 or 0; on failure a negative number: -NH_CLOSED, -NH_FORKED or -NH_INVALID.
@_cdecl("nh_is_held_up")
public func nhIsHeldUp(_ cache: nh_cache_ref?, _ patience_ms: Int64) -> Int32 {
  counting { () throws(NuthatchError) in
    let view = try find(cache, .cache, as: CacheView.self)
    try view.cache.checkUsable()
    guard patience_ms >= 0 else { throw NuthatchError(.invalid, "patience_ms is negative") }
    return view.isHeldUp(patience: patience_ms) ? 1 : 0
  }
}

/// Subscribes to changes of the number of requests of the handle that are under way (nh_statistics.activity) from or to 0, as
/// NH_EVENT_BUSY or NH_EVENT_IDLE, from now on until the handle is closed. Each handle has one listener, the last one set.
///
/// @param callback   Called by nh_dispatch; NULL for events that nh_poll returns.
/// @param user_data  The pointer that the events carry.
/// @return NH_OK; NH_CLOSED; NH_FORKED; NH_INVALID.
@_cdecl("nh_activity_watch")
public func nhActivityWatch(
  _ cache: nh_cache_ref?, _ callback: nh_callback?, _ user_data: UnsafeMutableRawPointer?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let opened = try find(cache, .cache, as: CacheView.self)
    try opened.cache.checkUsable()
    opened.listeners.watchActivity(Listening(callback, user_data))
    opened.listen()
    opened.cache.watchActivity()
  }
}

/// Waits until no request of the handle is under way. Events that weren't taken can still be taken.
///
/// @param timeout_ms  The longest wait in milliseconds; 0 checks without waiting; negative: no limit.
/// @return NH_OK; NH_TIMEOUT; NH_FORKED; NH_INVALID.
@_cdecl("nh_wait_idle")
public func nhWaitIdle(_ cache: nh_cache_ref?, _ timeout_ms: Int64) -> nh_status {
  answering { () throws(NuthatchError) in
    let opened = try find(cache, .cache, as: CacheView.self).cache
    guard try opened.waitUntilIdle(within: timeout_ms < 0 ? nil : timeout_ms) else {
      throw NuthatchError(.timeout, "\(opened.activity) requests are still under way after \(timeout_ms) ms")
    }
  }
}

extension nh_statistics {
  init(_ cache: Cache) throws(NuthatchError) {
    self.init()
    let store = try cache.storeStatistics()
    let requests = cache.statistics
    self.requests = Int64(requests.requests)
    hits = Int64(requests.hits)
    joined = Int64(requests.joined)
    transfers = Int64(requests.transfers)
    revalidated = Int64(requests.revalidated)
    fetched = Int64(requests.fetched)
    failed = Int64(requests.failed)
    decodes = Int64(requests.decodes)
    stopped = Int64(requests.stopped)
    filed = Int64(requests.filed)
    bytes_received = Int64(requests.bytes)
    activity = Int64(cache.activity)
    metas = Int64(store.meta)
    bodies = Int64(store.bodies)
    thumbs = Int64(store.thumbs)
    disk_bytes = Int64(store.diskBytes)
    disk_limit = Int64(store.diskLimit)
    pinned_bytes = Int64(store.pinnedBytes)
    dropped = Int64(store.droppedRecords)
    memory_items = Int64(store.memory.items)
    memory_bytes = Int64(store.memory.bytes)
    memory_limit = Int64(store.memory.limit)
    memory_hits = Int64(store.memory.hits)
    memory_misses = Int64(store.memory.misses)
    memory_evictions = Int64(store.memory.evictions)
    unwritten = Int64(store.memory.unwritten)
    lost = Int64(store.memory.lost)
    pressure_warnings = Int64(store.pressure.warnings)
    pressure_criticals = Int64(store.pressure.criticals)
    spilled = Int64(store.memory.spills)
    spilled_bytes = Int64(store.memory.spilledBytes)
    held_up = Int64(requests.heldUp)
  }
}

private func statisticsJSON(_ cache: Cache) throws(NuthatchError) -> String {
  let statistics = try nh_statistics(cache)
  let warning = try cache.storeStatistics().warning
  var json = JSONText()
  json.object { json in
    for case (let name?, let number as Int64) in Mirror(reflecting: statistics).children {
      json.put(name, number)
    }
    json.put("warning", warning)
  }
  return json.text
}
