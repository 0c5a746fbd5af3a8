// nuthatch.h 15: The outbox
// Types: nh_frozen.h
//
//     nh_event event;
//     nh_request_set(request, NH_OPTIONS(.method = "POST", .freezable = NH_YES, .outbox_handler = "posts"));
//     if (nh_perform(cache, request, &response) == NH_FROZEN) puts("It is sent later.");  // NH_OK: here is the answer
//     nh_outbox_attach(cache, "posts", NULL, NULL);  // with a callback nh_dispatch calls it, as for requests
//     while (nh_poll(cache, &event, 1, sizeof event) == 1) {
//         if (event.kind == NH_EVENT_OUTCOME && event.code == NH_OK) puts("It was sent.");
//         if (event.kind == NH_EVENT_OUTCOME) nh_outbox_drop(cache, event.outbox_id);  // else it comes again
//         nh_event_clear(&event);
//     }
//
// Results of a freezable request:
//
//     result                       for the first attempt         for a later attempt, from the outbox
//     status 2xx                   it is the answer              NH_FROZEN_DONE
//     status 408, 425, 429, 5xx    it is the answer              it is tried again
//     status 401, 403              it is the answer              NH_FROZEN_PAUSED, until nh_outbox_provide or nh_outbox_replay
//     any other status             it is the answer              NH_FROZEN_DEAD
//     no answer (*)                NH_FROZEN                     it is tried again
//     part of an answer            the error, NH_TRUNCATED       it is tried again
//
// (*) NH_TIMEOUT (also at the deadline), NH_DNS, NH_REFUSED, NH_RESET, NH_TLS, NH_CIRCUIT_OPEN. Any other error, such as NH_DENIED, ends
// the request at the first attempt.
//
// Later attempts: after about 1 s, 2 s, 4 s and so on, up to five minutes, or after Retry-After, up to a day. If the server becomes
// reachable, the next attempt follows at once. After outbox_attempts, outbox_max_age_ms or outbox_key_lifetime_ms the request is
// NH_FROZEN_DEAD. Requests of one queue (outbox_queue) arrive in their order. While one of them waits, is sent or is paused, later ones
// become NH_FROZEN without an attempt, even if the server is reachable.
//
// One of the processes that have the directory open sends the requests, from nh_open on, without another call. While no process has it
// open, nothing is sent. nh_close interrupts an attempt, which is repeated later; call nh_drain before it to let the attempt end.
//
// A frozen request has a number: outbox_id of the event or of nh_error_info. Its outcome comes as NH_EVENT_OUTCOME to handles that are
// attached to its outbox_handler (nh_outbox_attach). Without a handler, check with nh_outbox_get, or search with nh_outbox_next, for
// NH_FROZEN_DONE and NH_FROZEN_DEAD. An outcome stays, also across restarts, and counts to outbox_items, until nh_outbox_drop.

import CNuthatch
import NuthatchCore

/// Returns the first request in the outbox after a number, in the order in which they are sent; 0 returns the first of all. May wait for
/// the disk, like all functions whose names begin with nh_outbox.
///
///     nh_frozen_info info = {.struct_size = sizeof info};
///     nh_frozen *frozen;
///     while (nh_outbox_next(cache, info.id, &frozen) == NH_OK && frozen != NULL) {
///         nh_frozen_get_info(frozen, &info);
///         if (info.state == NH_FROZEN_DONE) nh_outbox_drop(cache, info.id);
///         nh_frozen_release(frozen);
///     }
///
/// @param frozen  Gets the handle, a copy of the request's current state; NULL after the last one, and on failure. Release it with
///                nh_frozen_release.
/// @return NH_OK; NH_IO; NH_CLOSED; NH_FORKED; NH_INVALID.
@_cdecl("nh_outbox_next")
public func nhOutboxNext(
  _ cache: nh_cache_ref?, _ after: UInt64, _ frozen: UnsafeMutablePointer<nh_frozen_ref?>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let result = try place(frozen, "frozen")
    guard let item = try outbox(cache).item(after: after) else { return }
    try give(FrozenView(item), .frozen, to: result)
  }
}

/// Returns the request with a number.
///
/// @param frozen  As for nh_outbox_next.
/// @return NH_OK; NH_INVALID, also if there is no such request; NH_IO; NH_CLOSED; NH_FORKED.
@_cdecl("nh_outbox_get")
public func nhOutboxGet(
  _ cache: nh_cache_ref?, _ id: UInt64, _ frozen: UnsafeMutablePointer<nh_frozen_ref?>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let result = try place(frozen, "frozen")
    guard let item = try outbox(cache).item(id) else { throw unknown(id) }
    try give(FrozenView(item), .frozen, to: result)
  }
}

/// Returns the answer to a request that has ended: done (NH_FROZEN_DONE), or put aside (NH_FROZEN_DEAD) because of this answer. It stays
/// until it is dropped, so a program that is killed before it has processed the answer finds it again.
///
/// @param response  Gets the handle: status, headers, and up to 1 MiB of the body. NULL on failure. Release it with nh_response_release.
/// @return NH_OK; NH_INVALID, also if there is no such request, it hasn't ended, or there was no answer; NH_IO; NH_CLOSED; NH_FORKED.
@_cdecl("nh_outbox_response")
public func nhOutboxResponse(
  _ cache: nh_cache_ref?, _ id: UInt64, _ response: UnsafeMutablePointer<nh_response_ref?>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let result = try place(response, "response")
    guard let outcome = try outbox(cache).outcome(id) else { throw unknown(id, "with an outcome ") }
    guard let answer = outcome.response else {
      throw NuthatchError(.invalid, "request \(id) was put aside without an answer: \(outcome.url)")
    }
    try give(ResponseView(answer), .response, to: result)
  }
}

/// Sends a request again that was put aside or that waits, as soon as it is its turn. Its times and attempts are counted from now on.
///
/// @param id  0 for all of them.
/// @return The number of requests; 0 if there is none with that number. On failure a negative number: -NH_IO, -NH_CLOSED, -NH_FORKED or
///         -NH_INVALID.
@_cdecl("nh_outbox_replay")
public func nhOutboxReplay(_ cache: nh_cache_ref?, _ id: UInt64) -> Int32 {
  counting { () throws(NuthatchError) in
    let outbox = try outbox(cache)
    return id == 0 ? try outbox.replayAll() : try outbox.replay(id) ? 1 : 0
  }
}

/// Removes a request, or its outcome; the request isn't sent after this.
///
/// @return NH_OK; NH_INVALID, also if there is none with that number; NH_CONFLICT while another process is sending it; NH_IO; NH_CLOSED;
///         NH_FORKED.
@_cdecl("nh_outbox_drop")
public func nhOutboxDrop(_ cache: nh_cache_ref?, _ id: UInt64) -> nh_status {
  answering { () throws(NuthatchError) in
    guard try outbox(cache).drop(id) else { throw unknown(id) }
  }
}

/// Subscribes this handle to the outcomes of requests with this handler, as NH_EVENT_OUTCOME: also earlier outcomes, those of other
/// processes, and those from before a restart. Each outcome comes once to an open handle, and again to the next handle, until it is
/// dropped.
///
/// @param handler    The name in nh_options.outbox_handler.
/// @param callback   Called by nh_dispatch; NULL for events that nh_poll returns.
/// @param user_data  The pointer that the events carry.
/// @return NH_OK; NH_CLOSED; NH_FORKED; NH_INVALID.
@_cdecl("nh_outbox_attach")
public func nhOutboxAttach(
  _ cache: nh_cache_ref?, _ handler: UnsafePointer<CChar>?, _ callback: nh_callback?,
  _ user_data: UnsafeMutableRawPointer?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let view = try find(cache, .cache, as: CacheView.self)
    let name = try string(handler, "handler")
    view.listeners.attach(name, Listening(callback, user_data))
    view.listen()
    try view.cache.outbox.attach(name)
  }
}

/// Ends the subscription of nh_outbox_attach: outcomes of this handler no longer come to this handle.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_outbox_detach")
public func nhOutboxDetach(_ cache: nh_cache_ref?, _ handler: UnsafePointer<CChar>?) -> nh_status {
  answering { () throws(NuthatchError) in
    let view = try find(cache, .cache, as: CacheView.self)
    let name = try string(handler, "handler")
    view.cache.outbox.detach(name)
    view.listeners.attach(name, nil)
  }
}

/// Subscribes this handle to questions for secrets (NH_ASK_SECRET); the message of the event is the provider's name. A question comes if
/// a request can't be sent because its secret isn't known, or because the server has refused it (401, 403). Answer it with
/// nh_outbox_provide, from any thread; until then the request and the later ones of its queue wait.
///
/// @param provider   NULL for all providers without their own listener.
/// @param callback   Called by nh_dispatch; NULL for events that nh_poll returns.
/// @param user_data  The pointer that the events carry.
/// @return NH_OK; NH_CLOSED; NH_FORKED; NH_INVALID.
@_cdecl("nh_outbox_ask")
public func nhOutboxAsk(
  _ cache: nh_cache_ref?, _ provider: UnsafePointer<CChar>?, _ callback: nh_callback?,
  _ user_data: UnsafeMutableRawPointer?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let view = try find(cache, .cache, as: CacheView.self)
    let name = try given(provider, "provider")
    let listening = Listening(callback, user_data)
    try view.cache.outbox.ask(for: name) {
      view.listeners.ask(name, listening)
      view.listen()
    }
  }
}

/// Sets the secret of a provider, for all handles on the directory in this process. It is kept in memory only. Queues that wait for it
/// continue.
///
/// @param secret  NULL removes the secret.
/// @return NH_OK; NH_CLOSED; NH_FORKED; NH_INVALID.
@_cdecl("nh_outbox_provide")
public func nhOutboxProvide(
  _ cache: nh_cache_ref?, _ provider: UnsafePointer<CChar>?, _ secret: UnsafePointer<CChar>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    try outbox(cache).provide(try string(provider, "provider"), try given(secret, "secret"))
  }
}

/// Returns the facts about a request in the outbox, as they were when the handle was made. Set info->struct_size to sizeof *info before
/// the call.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_frozen_get_info")
public func nhFrozenGetInfo(
  _ frozen: nh_frozen_ref?, _ info: UnsafeMutablePointer<nh_frozen_info>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    guard let info else { throw .null("info") }
    try writeSized(try find(frozen, .frozen, as: FrozenView.self).info, to: info, "info")
  }
}

/// Returns one of the last attempts that didn't end the request, in their order from 0. Set attempt->struct_size to sizeof *attempt
/// before the call.
///
/// @return NH_OK; NH_INVALID, also if `index` is not below history_count.
@_cdecl("nh_frozen_attempt_at")
public func nhFrozenAttemptAt(
  _ frozen: nh_frozen_ref?, _ index: Int32, _ attempt: UnsafeMutablePointer<nh_frozen_attempt>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    guard let attempt else { throw .null("attempt") }
    let view = try find(frozen, .frozen, as: FrozenView.self)
    guard let told = view.attempt(Int(index)) else {
      throw NuthatchError(
        .invalid, "there is no attempt \(index); the request has \(view.item.history.count), from 0")
    }
    try writeSized(told, to: attempt, "attempt")
  }
}

/// Releases a handle. The request stays in the outbox.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_frozen_release")
public func nhFrozenRelease(_ frozen: nh_frozen_ref?) -> nh_status {
  answering { () throws(NuthatchError) in try remove(frozen, .frozen) }
}

private func outbox(_ cache: OpaquePointer?) throws(NuthatchError) -> Outbox {
  try find(cache, .cache, as: CacheView.self).cache.outbox
}

private func unknown(_ id: UInt64, _ state: String = "") -> NuthatchError {
  NuthatchError(.invalid, "there is no request \(id) \(state)in the outbox")
}
