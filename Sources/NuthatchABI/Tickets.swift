// nuthatch.h 7: Submit requests, take events later
//
//     nh_event event;
//     int is_final = 0;
//     nh_submit(cache, url, NH_OPTIONS(.size = 256, .priority = 5), &ticket);
//     while (!is_final && nh_wait(ticket, -1, &event, sizeof event) == NH_OK) {
//         if (event.image_count == 1) draw(event.images[0]);  // a stale one may come first
//         is_final = event.is_final;
//         nh_event_clear(&event);
//     }
//     nh_ticket_release(ticket);

import CNuthatch
import NuthatchCore

/// Starts a request and returns at once. A fresh answer from the cache is ready when this function returns. So it may wait for the disk,
/// never for the network. Requests for one URL share one fetch. nh_queue_set limits the requests to one host, and in all; other requests
/// wait for their turn, and only their deadline runs during that wait.
///
/// @param options  NULL for none. With sizes, the answer is images.
/// @param ticket   Gets the handle; NULL on failure. Release it with nh_ticket_release. May be NULL itself, for programs that identify
///                 events by user_data; the events then have no ticket.
/// @return NH_OK; NH_BAD_URL or NH_BAD_HEADER, before the network is used; NH_CLOSED; NH_FORKED; NH_INVALID.
@_cdecl("nh_submit")
public func nhSubmit(
  _ cache: nh_cache_ref?, _ url: UnsafePointer<CChar>?, _ options: UnsafePointer<nh_options>?,
  _ ticket: UnsafeMutablePointer<nh_ticket_ref?>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    ticket?.pointee = nil
    let opened = try find(cache, .cache, as: CacheView.self)
    try submit(try asked(url, options), to: opened, ticket)
  }
}

/// Starts an nh_request, like nh_submit a URL with options.
///
/// @param ticket  As for nh_submit.
/// @return Like nh_submit.
@_cdecl("nh_submit_request")
public func nhSubmitRequest(
  _ cache: nh_cache_ref?, _ request: nh_request_ref?, _ ticket: UnsafeMutablePointer<nh_ticket_ref?>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    ticket?.pointee = nil
    let opened = try find(cache, .cache, as: CacheView.self)
    try submit(try find(request, .request, as: RequestDraft.self).current, to: opened, ticket)
  }
}

private func submit(
  _ draft: Draft, to opened: CacheView, _ ticket: UnsafeMutablePointer<nh_ticket_ref?>?
) throws(NuthatchError) {
  guard ticket != nil || draft.hooks.callback != nil || draft.request.questions.isEmpty else {
    throw NuthatchError(
      .invalid, "a request with asks needs a ticket or a callback, so that its questions can be answered")
  }
  let made = try opened.cache.submit(draft.complete)
  var handle: nh_ticket_ref?
  let view = TicketView(made, draft, opened.completions)
  if ticket != nil {
    do throws(NuthatchError) {
      try give(view, .ticket, to: &handle)
    } catch {
      made.cancel()
      throw error
    }
  }
  view.handle = handle
  if !draft.isQuiet { opened.completions.watch(view) }
  ticket?.pointee = handle
}

/// Waits for a ticket's next event and takes it, so that nh_poll and other threads don't get it.
///
/// @param timeout_ms  The longest wait in milliseconds; 0 checks without waiting; negative: no limit.
/// @param event       Gets the event; clear it with nh_event_clear. Zeroed if none came.
/// @param event_size  sizeof *event.
/// @return NH_OK with an event, also with one that reports a failure: see its code. NH_TIMEOUT if none came in time; the request goes on.
///         NH_FORKED. NH_INVALID, also if the final event was taken before, and for a ticket with a callback.
@_cdecl("nh_wait")
public func nhWait(
  _ ticket: nh_ticket_ref?, _ timeout_ms: Int64, _ event: UnsafeMutablePointer<nh_event>?, _ event_size: UInt
) -> nh_status {
  defer { deliverLog() }
  return answering { () throws(NuthatchError) in
    let places = try EventPlaces(event, count: 1, size: event_size)
    places.clear(0)
    let waited = try find(ticket, .ticket, as: TicketView.self)
    guard waited.callback == nil else {
      throw NuthatchError(.invalid, "the ticket has a callback: nh_dispatch delivers its events")
    }
    guard let next = try waited.ticket.next(within: timeout_ms < 0 ? nil : timeout_ms) else {
      throw NuthatchError(.timeout, "no event within \(timeout_ms) ms: \(waited.ticket.shownURL)")
    }
    waited.completions.settle(waited)
    places.put(cEvent(next, of: waited), at: 0)
  }
}

/// Frees everything that an event owns, and zeroes it. Clearing a zeroed event does nothing.
///
/// @return NH_OK; NH_INVALID if `event` is NULL, or if its response or one of its images is not an open handle.
@_cdecl("nh_event_clear")
public func nhEventClear(_ event: UnsafeMutablePointer<nh_event>?) -> nh_status {
  answering { () throws(NuthatchError) in
    guard let event else { throw .null("event") }
    try giveBack(event)
  }
}

/// Cancels a request. Its final event, NH_EVENT_CANCELLED, is available at once, unless it had a final event before.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_cancel")
public func nhCancel(_ ticket: nh_ticket_ref?) -> nh_status {
  answering { () throws(NuthatchError) in try find(ticket, .ticket, as: TicketView.self).ticket.cancel() }
}

/// Cancels the requests of a handle that are under way: all, or those with a tag or of a site. Blocking calls of these requests return
/// NH_CANCELLED. Requests of another site with the same base URL aren't cancelled.
///
/// @param options  A tag or a site, and no other option. NULL for all.
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_cancel_all")
public func nhCancelAll(_ cache: nh_cache_ref?, _ options: UnsafePointer<nh_options>?) -> nh_status {
  answering { () throws(NuthatchError) in
    let opened = try find(cache, .cache, as: CacheView.self).cache
    var said = try read(options, for: .request).raw
    let tag = try text(said.tag, "tag")
    let site = try said.site.map { (site) throws(NuthatchError) in
      try find(site, .site, as: SiteView.self).site
    }
    (said.tag, said.site, said.struct_size) = (nil, nil, UInt32(MemoryLayout<nh_options>.size))
    guard withUnsafePointer(to: said, { onlySide($0) }) == 0 else {
      throw NuthatchError(.invalid, "nh_cancel_all takes a tag or a site, and no other option")
    }
    guard tag == nil || site == nil else {
      throw NuthatchError(.invalid, "nh_cancel_all takes a tag or a site, not both")
    }
    if let site { site.cancelAll() } else { opened.cancelAll(tag: tag) }
  }
}

/// Changes the priority of a request, in the queue and while it runs. After its end it does nothing.
///
/// @param priority  The value of nh_options.priority.
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_ticket_set_priority")
public func nhTicketSetPriority(_ ticket: nh_ticket_ref?, _ priority: Int64) -> nh_status {
  answering { () throws(NuthatchError) in
    try find(ticket, .ticket, as: TicketView.self).ticket.setPriority(Int(clamping: priority))
  }
}

/// Submits the request of a ticket again, for instance after a failure. The ticket doesn't change; events of the new ticket carry the
/// same callback and user_data. A freezable request keeps its Idempotency-Key, so that a server that has already processed it doesn't do
/// it twice. After the ticket's success (2xx) has been taken, the new request gets a new key.
///
/// @param cache  The cache that the request was submitted to.
/// @param again  Gets the new handle; NULL on failure. Release it with nh_ticket_release.
/// @return Like nh_submit; NH_INVALID also for a ticket whose answer was in memory when it was submitted: such a ticket keeps no request.
@_cdecl("nh_resubmit")
public func nhResubmit(
  _ cache: nh_cache_ref?, _ ticket: nh_ticket_ref?, _ again: UnsafeMutablePointer<nh_ticket_ref?>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let result = try place(again, "again")
    let opened = try find(cache, .cache, as: CacheView.self)
    let before = try find(ticket, .ticket, as: TicketView.self)
    let made = try opened.cache.resubmit(before.ticket)
    let view = TicketView(made, like: before, opened.completions)
    do throws(NuthatchError) {
      try give(view, .ticket, to: result)
    } catch {
      made.cancel()
      throw error
    }
    view.handle = result.pointee
    if !view.isQuiet { opened.completions.watch(view) }
  }
}

/// Returns the state of a request.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_ticket_state")
public func nhTicketState(_ ticket: nh_ticket_ref?, _ state: UnsafeMutablePointer<nh_ticket_status>?)
  -> nh_status
{
  answering { () throws(NuthatchError) in
    guard let state else { throw .null("state") }
    let found = try find(ticket, .ticket, as: TicketView.self).ticket
    state.pointee = nh_ticket_status(UInt32(found.state.rawValue))
  }
}

/// Releases a ticket. It doesn't cancel: the request goes on, and its events still come by nh_poll or nh_dispatch, with a ticket that is
/// no longer an open handle.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_ticket_release")
public func nhTicketRelease(_ ticket: nh_ticket_ref?) -> nh_status {
  answering { () throws(NuthatchError) in try remove(ticket, .ticket) }
}

/// A ticket with the pointers that its events carry, and the queue that gets these events.
// Mutable properties are under a lock, or written before any other thread knows the view, hence Sendable.
final class TicketView: @unchecked Sendable {
  let ticket: Ticket
  let callback: nh_callback?
  let completions: CompletionQueue
  let isQuiet: Bool
  private let userBits: UInt
  /// The last question to the program, until it is answered.
  let question = Locked<Question?>(nil)
  /// The handle that the program has; nil for none. Written before any other thread knows the view.
  var handle: nh_ticket_ref?
  /// Its state in the completion queue. Guarded by the queue's lock.
  var standing = CompletionQueue.Standing.absent

  init(_ ticket: Ticket, _ draft: Draft, _ completions: CompletionQueue) {
    self.ticket = ticket
    self.completions = completions
    callback = draft.hooks.callback
    isQuiet = draft.isQuiet
    userBits = draft.hooks.userBits
  }

  /// Creates a view for a resubmitted request.
  init(_ ticket: Ticket, like before: TicketView, _ completions: CompletionQueue) {
    self.ticket = ticket
    self.completions = completions
    callback = before.callback
    isQuiet = before.isQuiet
    userBits = before.userBits
  }

  /// The library never follows this pointer and treats it as a number.
  var userData: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: userBits) }
}
