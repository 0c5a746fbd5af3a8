// nuthatch.h 8: The completion queue
//
//     nh_submit(cache, url, NH_OPTIONS(.size = 256, .callback = hear, .user_data = cell), NULL);
//     while (nh_dispatch(cache, 16) >= 0) draw_frame();  // hear() is called here, on this thread

import CNuthatch
import CSystem
import NuthatchCore

/// Gives a descriptor that is readable while there is something for nh_poll or nh_dispatch: for poll, epoll, a GLib source,
/// libuv. Never read it, write it or close it. One a handle, made at the first call, closed by nh_close. With edge-triggered
/// epoll, take all there is before waiting again.
///
/// @return The descriptor; on failure a negative number, which is -NH_INVALID, -NH_FORKED, -NH_CLOSED or -NH_IO.
@_cdecl("nh_fd")
public func nhFd(_ cache: nh_cache_ref?) -> Int32 {
  counting { () throws(NuthatchError) in
    Int(try find(cache, .cache, as: CacheView.self).completions.descriptor())
  }
}

/// Takes events of the handle's tickets that have no callback, in the order in which the tickets had something to tell; and those
/// of no ticket, which somebody listens for without a callback (nh_outbox_attach, nh_outbox_ask, nh_site_watch).
/// Never waits.
///
/// @param events      Gets the events; clear each with nh_event_clear.
/// @param count       How many there is room for.
/// @param event_size  sizeof *events.
/// @return How many events were taken; 0 when there are none. On failure a negative number, which is -NH_INVALID or
///         -NH_FORKED.
@_cdecl("nh_poll")
public func nhPoll(
  _ cache: nh_cache_ref?, _ events: UnsafeMutablePointer<nh_event>?, _ count: UInt, _ event_size: UInt
) -> Int32 {
  defer { deliverLog() }
  return counting { () throws(NuthatchError) in
    let places = try EventPlaces(events, count: count, size: event_size)
    let completions = try find(cache, .cache, as: CacheView.self).completions
    var taken = 0
    while taken < places.count, let next = try completions.poll() {
      places.put(next, at: taken)
      taken += 1
    }
    return taken
  }
}

/// Calls the callbacks of tickets that have events, and of who listens for others, on this thread. Two threads never call
/// for one ticket at the same time. A callback may do whatever it likes with the library, also close the cache, and call
/// nh_dispatch again: one within the other twenty deep, and then it is NH_INVALID, because stacks end.
///
/// @param timeout_ms  The longest wait for a first event, in milliseconds; 0 doesn't wait; negative waits for ever.
/// @return How many callbacks were called; 0 when there was no event in time. On failure a negative number, which is
///         -NH_CLOSED when the cache was closed meanwhile, or was shut down and all has been told; -NH_INVALID; -NH_FORKED.
@_cdecl("nh_dispatch")
public func nhDispatch(_ cache: nh_cache_ref?, _ timeout_ms: Int64) -> Int32 {
  defer { deliverLog() }
  return counting { () throws(NuthatchError) in
    let opened = try find(cache, .cache, as: CacheView.self)
    guard nhs_go_deeper(deepestDispatch) != 0 else {
      throw NuthatchError(
        .invalid, "callbacks have called nh_dispatch one within the other, \(deepestDispatch) deep")
    }
    defer { nhs_come_back() }
    let deadline = EventCount.deadline(timeout_ms < 0 ? nil : timeout_ms)
    return try opened.completions.dispatch(until: deadline, isIdle: { opened.cache.activity == 0 }) {
      switch $0 {
      case .event(let event, let view): tell(view, of: event)
      case .notification(let notification): tell(notification)
      }
    }
  }
}

/// A level takes three kilobytes of a thread's stack here, and what its callback takes.
private let deepestDispatch: UInt32 = 20
