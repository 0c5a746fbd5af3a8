// nuthatch.h 5: Submit and wait later

import CNuthatch
import Glibc
import NuthatchCore

/// Starts a request and returns at once. What is in the cache, and fresh, is there when this returns. Requests for one
/// URL share one fetch. Six at a time go to one host, as many together as the way to the network carries; the others
/// wait their turn, and only their deadline runs meanwhile.
///
/// @param ticket  Gets the handle; NULL on failure. Release it with nh_ticket_release.
/// @return NH_OK; NH_BAD_URL or NH_BAD_HEADER, before any network is touched; NH_CLOSED; NH_FORKED; NH_INVALID.
@_cdecl("nh_submit")
public func nhSubmit(
  _ cache: nh_cache_ref?, _ request: nh_request_ref?, _ ticket: UnsafeMutablePointer<nh_ticket_ref?>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let result = try place(ticket, "ticket")
    let opened = try find(cache, .cache, as: Cache.self)
    let draft = try find(request, .request, as: RequestDraft.self)
    let view = TicketView(try opened.submit(draft.current), userData: draft.userData)
    try give(view, .ticket, to: result)
  }
}

/// Waits for a ticket's next event. Several threads may wait; each event goes to one of them.
///
/// @param timeout_ms  The longest wait in milliseconds; 0 looks without waiting; negative waits for ever.
/// @param event       Gets the event; clear it with nh_event_clear. Zeroed when none came.
/// @param event_size  sizeof *event.
/// @return NH_OK with an event, also with one that tells of a failure: see its code. NH_TIMEOUT when none came in
///         time; the request goes on. NH_FORKED. NH_INVALID, also when the final event was taken before.
@_cdecl("nh_wait")
public func nhWait(
  _ ticket: nh_ticket_ref?, _ timeout_ms: Int64, _ event: UnsafeMutablePointer<nh_event>?, _ event_size: UInt
) -> nh_status {
  answering { () throws(NuthatchError) in
    guard let event else { throw .null("event") }
    let known = MemoryLayout<nh_event>.size
    guard let size = Int(exactly: event_size), size >= known, size <= 65_536 else {
      throw NuthatchError(.invalid, "event_size is \(event_size), not \(known)")
    }
    event.pointee = nh_event()
    // A newer program has room for more than there is to tell.
    memset(UnsafeMutableRawPointer(event) + known, 0, size - known)
    let waited = try find(ticket, .ticket, as: TicketView.self)
    guard let next = try waited.ticket.next(within: timeout_ms < 0 ? nil : timeout_ms) else {
      throw NuthatchError(.timeout, "no event within \(timeout_ms) ms: \(waited.ticket.shownURL)")
    }
    event.pointee = try cEvent(next)
    event.pointee.ticket = ticket
    event.pointee.user_data = waited.userData
  }
}

/// Gives back what an event owns, and zeroes it. Clearing a zeroed event does nothing.
///
/// @return NH_OK; NH_INVALID when `event` is NULL or its response is no open response.
@_cdecl("nh_event_clear")
public func nhEventClear(_ event: UnsafeMutablePointer<nh_event>?) -> nh_status {
  answering { () throws(NuthatchError) in
    guard let event else { throw .null("event") }
    let old = event.pointee
    event.pointee = nh_event()
    free(old.message)
    if let response = old.response { try remove(response, .response) }
  }
}

/// Cancels a request. Its final event is NH_EVENT_CANCELLED, there at once, unless it had one before.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_cancel")
public func nhCancel(_ ticket: nh_ticket_ref?) -> nh_status {
  answering { () throws(NuthatchError) in try find(ticket, .ticket, as: TicketView.self).ticket.cancel() }
}

/// Tells where a request stands.
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

/// Releases a ticket. Never cancels: the request goes on, and nobody hears of its end.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_ticket_release")
public func nhTicketRelease(_ ticket: nh_ticket_ref?) -> nh_status {
  answering { () throws(NuthatchError) in try remove(ticket, .ticket) }
}

private func cEvent(_ event: Event) throws(NuthatchError) -> nh_event {
  var told = nh_event()
  told.kind = nh_event_kind(UInt32(event.kind.rawValue))
  told.is_final = event.isFinal ? 1 : 0
  told.is_in_cache = event.isInCache ? 1 : 0
  told.source = nh_source(UInt32(event.source?.rawValue ?? 0))
  told.bytes_done = event.bytesDone
  told.bytes_total = event.bytesTotal ?? -1
  if let response = event.response {
    told.http_status = Int32(clamping: response.status)
    told.bytes_done = Int64(response.bodySize)
    told.bytes_total = told.bytes_done
    try give(ResponseView(response), .response, to: &told.response)
  }
  if let error = event.error {
    told.code = nh_status(UInt32(error.code.rawValue))
    told.message = strdup(error.message)
  }
  return told
}

/// A ticket with what its program wants to find in its events.
final class TicketView: Sendable {
  let ticket: Ticket
  private let userBits: UInt

  init(_ ticket: Ticket, userData: UnsafeMutableRawPointer?) {
    self.ticket = ticket
    userBits = UInt(bitPattern: userData)
  }

  /// Never followed here: a number as far as the library is concerned.
  var userData: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: userBits) }
}
