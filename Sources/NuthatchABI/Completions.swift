// nuthatch.h 8: The completion queue
//
//     nh_submit(cache, url, NH_OPTIONS(.size = 256, .callback = hear, .user_data = cell), NULL);
//     while (nh_dispatch(cache, 16) >= 0) draw_frame();  // hear() is called here, on this thread

import CNuthatch
import CSystem
import NuthatchCore

/// Returns a descriptor that is readable while there is something for nh_poll or nh_dispatch: for poll, epoll, a GLib source, libuv.
/// Never read, write or close it. Each handle has one; the first call creates it, and nh_close closes it. With edge-triggered epoll, take
/// all events before you wait again.
///
/// @return The descriptor; on failure a negative number: -NH_INVALID, -NH_FORKED, -NH_CLOSED or -NH_IO.
@_cdecl("nh_fd")
public func nhFd(_ cache: nh_cache_ref?) -> Int32 {
  counting { () throws(NuthatchError) in
    Int(try find(cache, .cache, as: CacheView.self).completions.descriptor())
  }
}

/// Takes events of the handle's tickets that have no callback, in the order in which they became ready. It also takes the events without
/// a ticket that were subscribed to without a callback (nh_outbox_attach, nh_outbox_ask, nh_site_watch). Never waits.
///
/// @param events      Gets the events; clear each with nh_event_clear.
/// @param count       The number of places in `events`.
/// @param event_size  sizeof *events.
/// @return The number of events; 0 if there are none. On failure a negative number: -NH_INVALID or -NH_FORKED.
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

/// Calls on this thread the callbacks of tickets that have events, and of subscriptions (nh_outbox_attach, nh_outbox_ask, nh_site_watch,
/// nh_activity_watch). Two threads never call for one ticket at the same time. A callback may call every function of the library, even
/// close the cache or call nh_dispatch. Nested calls of nh_dispatch are limited to a depth of twenty, because stacks are limited; beyond
/// it the call returns -NH_INVALID.
///
/// @param timeout_ms  The longest wait for a first event, in milliseconds; 0 doesn't wait; negative: no limit.
/// @return The number of callbacks that were called; 0 if there was no event in time. On failure a negative number: -NH_CLOSED if the
///         cache was closed during the call, or was shut down and all events were delivered; -NH_INVALID; -NH_FORKED.
@_cdecl("nh_dispatch")
public func nhDispatch(_ cache: nh_cache_ref?, _ timeout_ms: Int64) -> Int32 {
  defer { deliverLog() }
  return counting { () throws(NuthatchError) in
    let opened = try find(cache, .cache, as: CacheView.self)
    guard nhs_go_deeper(deepestDispatch) != 0 else {
      throw NuthatchError(
        .invalid, "callbacks called nh_dispatch from within callbacks, \(deepestDispatch) levels deep")
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

/// Each level takes three kilobytes of the thread's stack, and the stack of its callback.
private let deepestDispatch: UInt32 = 20
