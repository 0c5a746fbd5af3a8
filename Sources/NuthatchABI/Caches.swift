// nuthatch.h 2: Open and close
//
//     nh_options options = {.struct_size = sizeof options, .disk_bytes = 1 << 30, .policy = NH_POLICY_RFC9111};
//     if (nh_open("thumbs.cache", &options, &cache) != NH_OK) die(nh_error_message());
//     nh_drain(cache, 5000);  // what is under way may end, for five seconds
//     nh_close(cache, 2000);

import CNuthatch
import CSystem
import NuthatchCore

/// Opens a cache; may wait for the disk. The same directory may be open any number of times, in this process and in others: each
/// handle has requests, events and options of its own, and all share what is stored.
///
/// A directory on a file system that is mounted read-only, or to which this user may not write, is opened to be read: what is
/// in it is found, answers of the network are delivered and not kept, and what would change it fails with NH_IO.
///
/// @param path     The directory, made when it is missing, for its owner only. NULL: $NUTHATCH_CACHE, else
///                 $XDG_CACHE_HOME/nuthatch, else ~/.cache/nuthatch.
/// @param options  NULL for the defaults.
/// @param cache    Gets the handle; NULL on failure. Close it with nh_close.
/// @return NH_OK; NH_IO when the directory can't be made or used; NH_DENIED when it belongs to somebody else or others may
///         write to it; NH_CONFLICT when it is open in this process with other options of the directory; NH_NO_SPACE;
///         NH_INVALID; NH_BAD_HEADER for a header that can't be sent.
@_cdecl("nh_open")
public func nhOpen(
  _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<nh_options>?,
  _ cache: UnsafeMutablePointer<nh_cache_ref?>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let result = try place(cache, "cache")
    let directory = try given(path, "path")
    let opened = try Cache(path: directory, options: try Options(try read(options, for: .cache)))
    try give(CacheView(opened), .cache, to: result)
  }
}

/// Cancels all that is under way, and takes no more requests: from now on they are answered with NH_CLOSED, and so is who
/// waits in a blocking call. The final events of the tickets can still be taken, by nh_poll, nh_dispatch or nh_wait; they
/// are all there when this returns. For programs that want to hear of every end before they close. May be repeated.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_shutdown")
public func nhShutdown(_ cache: nh_cache_ref?) -> nh_status {
  answering { () throws(NuthatchError) in
    let view = try find(cache, .cache, as: CacheView.self)
    view.cache.shutdown()
    view.completions.shutDown()
  }
}

/// Closes a cache. Requests that are under way end with NH_CLOSED, at once and on every thread that waits for one; events
/// that nobody has taken are given back; the descriptor of nh_fd is closed. Responses and images stay valid, tickets stay
/// handles. Other handles on the directory go on. The last one writes what is in memory only (NH_SPILL_PRESSURE).
///
/// It waits for one thing on the network: a stale answer was given, and is being revalidated behind.
///
/// @param timeout_ms  The longest wait for that, in milliseconds, such as 2000; 0 ends the revalidations, too, and never waits;
///                    negative waits for as long as they take.
/// @return NH_OK. NH_TIMEOUT when revalidations are still under way: all else is closed and written, and the handle is good for
///         another nh_close, which may wait on or end them. NH_BUSY when what was in memory only couldn't be written because
///         another process has held the directory's lock for five seconds: it is lost then, and the cache is closed all the same.
///         NH_INVALID when `cache` is not an open cache.
@_cdecl("nh_close")
public func nhClose(_ cache: nh_cache_ref?, _ timeout_ms: Int64) -> nh_status {
  answering { () throws(NuthatchError) in
    let view = try find(cache, .cache, as: CacheView.self)
    view.beginToClose()
    guard
      timeout_ms == 0 || view.cache.closing.waitForRevalidations(within: timeout_ms < 0 ? nil : timeout_ms)
    else {
      // Nothing is lost for a program that calls no second time.
      do throws(NuthatchError) { try view.cache.closing.settle() } catch {
        try remove(cache, .cache)
        view.cache.closing.end()
        throw error
      }
      throw NuthatchError(
        .timeout, "stale answers are still being revalidated after \(timeout_ms) ms: \(view.cache.path)")
    }
    try remove(cache, .cache)
    defer { view.cache.closing.end() }
    try view.cache.closing.settle()
  }
}

/// Tells what holds for the requests of a cache: what it was opened with, and where that says nothing the defaults, and what the
/// directory was opened with first in this process. Where nobody says a netrc, or an option whose default is found as it is needed
/// (deadline_ms, user_agent, accept, proxy), it is 0 or NULL. No limit is NH_FOREVER, also where NH_NONE said it; zero is NH_NONE.
///
/// What is told is to be read, and not to be passed on: values of secret headers, and the password of a proxy, are ***.
///
/// @param options  Gets them. Set options->struct_size to sizeof *options before the call. Texts live as long as the handle.
/// @return NH_OK; NH_CLOSED; NH_FORKED; NH_INVALID.
@_cdecl("nh_cache_get_options")
public func nhCacheGetOptions(
  _ cache: nh_cache_ref?, _ options: UnsafeMutablePointer<nh_options>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    guard let options else { throw .null("options") }
    let view = try find(cache, .cache, as: CacheView.self)
    let told = nh_options(telling: try view.cache.optionsInForce, .cache, view.told)
    try writeSized(told, to: options, "options")
  }
}

/// Lets what is under way end before a close: the requests of this handle, and what the outbox of the directory is sending in
/// this process, which begins nothing else any more. To be followed by nh_close.
///
/// @param timeout_ms  The longest wait in milliseconds; 0 looks without waiting; negative waits for ever.
/// @return NH_OK; NH_TIMEOUT when something is still under way; NH_FORKED; NH_INVALID.
@_cdecl("nh_drain")
public func nhDrain(_ cache: nh_cache_ref?, _ timeout_ms: Int64) -> nh_status {
  answering { () throws(NuthatchError) in
    let opened = try find(cache, .cache, as: CacheView.self).cache
    guard try opened.closing.drain(within: timeout_ms < 0 ? nil : timeout_ms) else {
      throw NuthatchError(.timeout, "something is under way after \(timeout_ms) ms: \(opened.path)")
    }
  }
}

/// What a handle of a cache stands for: a cache, and the events of the requests that were made through this handle.
final class CacheView: Sendable {
  let cache: Cache
  let completions = CompletionQueue()
  let listeners = Listeners()
  let told = ToldTexts()
  private let hold = Locked<HoldWatch?>(nil)

  init(_ cache: Cache) { self.cache = cache }

  /// For calls that take a tenth of a microsecond: the cache keeps it.
  var instant: Unmanaged<InstantAnswers> { .passUnretained(cache.instant) }

  /// From now on what somebody listens for comes as events.
  func listen() {
    guard listeners.beginsToListen() else { return }
    let (listeners, completions) = (listeners, completions)
    cache.whenNews { notice in
      if let notification = listeners.notification(of: notice) { completions.add(notification) }
    }
  }

  /// Whether nothing can be stored for so many milliseconds.
  func isHeldUp(patience: Int64) -> Bool {
    hold.withLock { hold in
      var watch =
        hold
        ?? HoldWatch(patience: patience.multipliedReportingOverflow(by: 1_000_000).partialValue) {
          [weak cache] in cache?.storeIsHeld
        }
      switch watch.news(at: nhs_monotonic_ns()) {
      case .stop(let words), .goOn(let words): cache.note(words)
      case nil: break
      }
      hold = watch
      return watch.isHeld
    }
  }

  func beginToClose() {
    // Nobody is to be told any more when the tickets get their last events.
    completions.close()
    cache.closing.begin()
  }
}
