// nuthatch.h 2: Open and close
//
//     nh_options options = {.struct_size = sizeof options, .disk_bytes = 1 << 30, .policy = NH_POLICY_RFC9111};
//     if (nh_open("thumbs.cache", &options, &cache) != NH_OK) die(nh_error_message());
//     nh_drain(cache, 5000);  // waits up to 5 s for requests under way
//     nh_close(cache, 2000);

import CNuthatch
import CSystem
import NuthatchCore

/// Opens a cache; may wait for the disk. The same directory may be open any number of times, in this process and in others. Each handle
/// has its own requests, events and options; all handles share the stored answers.
///
/// A directory that can't be written (a read-only file system, or no permission for this user) is opened for reading. Stored answers are
/// found, answers from the network are delivered but not stored, and functions that would change the directory fail with NH_IO.
///
/// @param path     The directory; if it is missing, it is created for its owner only. NULL: $NUTHATCH_CACHE, else
///                 $XDG_CACHE_HOME/nuthatch, else ~/.cache/nuthatch.
/// @param options  NULL for the defaults.
/// @param cache    Gets the handle; NULL on failure. Close it with nh_close.
/// @return NH_OK; NH_IO if the directory can't be created or used; NH_DENIED if it belongs to another user or other users may write to
///         it; NH_CONFLICT if it is open in this process with other options of the directory; NH_NO_SPACE; NH_INVALID; NH_BAD_HEADER for
///         a header that can't be sent.
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

/// Cancels all requests under way and accepts no new ones: later calls, and calls that are blocked, return NH_CLOSED. When this function
/// returns, every ticket has its final event, which nh_poll, nh_dispatch or nh_wait can still take. For programs that need every final
/// event before they close. May be called again.
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

/// Closes a cache. Requests under way end with NH_CLOSED, at once and on every thread that waits for one. Events that weren't taken are
/// freed, and the descriptor of nh_fd is closed. Responses and images stay valid, and tickets must still be released. Other handles on
/// the directory aren't affected. The last handle writes what is in memory only (NH_SPILL_PRESSURE).
///
/// It waits for the network in one case: a stale answer was delivered and is being revalidated in the background.
///
/// @param timeout_ms  The longest wait for that, in milliseconds, such as 2000; 0 ends the revalidations, too, and never waits; negative:
///                    no limit.
/// @return NH_OK. NH_TIMEOUT if revalidations are still under way: all else is closed and written, and nh_close can be called again, to
///         wait longer or to end them. NH_BUSY if data that was in memory only couldn't be written, because another process has held the
///         directory's lock for five seconds: the data is lost, and the cache is closed nevertheless. NH_INVALID if `cache` is not an
///         open cache.
@_cdecl("nh_close")
public func nhClose(_ cache: nh_cache_ref?, _ timeout_ms: Int64) -> nh_status {
  answering { () throws(NuthatchError) in
    let view = try find(cache, .cache, as: CacheView.self)
    view.beginToClose()
    guard
      timeout_ms == 0 || view.cache.closing.waitForRevalidations(within: timeout_ms < 0 ? nil : timeout_ms)
    else {
      // Write to disk before the error is returned: then nothing is lost if the program doesn't call nh_close again.
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

/// Returns the options in force for the requests of a cache: the options that it was opened with, else those of the directory's first
/// open in this process, else the defaults. If no netrc is set, its member is NULL. Options whose default is determined later
/// (deadline_ms, user_agent, accept, proxy) are 0 or NULL if they aren't set. No limit is NH_FOREVER, even if it was set as NH_NONE; zero
/// is NH_NONE.
///
/// Don't pass these options to other calls: values of secret headers, and the password of a proxy, are ***.
///
/// @param options  Gets the options. Set options->struct_size to sizeof *options before the call. Texts are valid as long as the handle.
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

/// Waits before a close until the requests of this handle have ended, and until this process has nothing from the directory's outbox
/// under way. No other request of the outbox is started. Call nh_close afterwards.
///
/// @param timeout_ms  The longest wait in milliseconds; 0 checks without waiting; negative: no limit.
/// @return NH_OK; NH_TIMEOUT if something is still under way; NH_FORKED; NH_INVALID.
@_cdecl("nh_drain")
public func nhDrain(_ cache: nh_cache_ref?, _ timeout_ms: Int64) -> nh_status {
  answering { () throws(NuthatchError) in
    let opened = try find(cache, .cache, as: CacheView.self).cache
    guard try opened.closing.drain(within: timeout_ms < 0 ? nil : timeout_ms) else {
      throw NuthatchError(.timeout, "requests are still under way after \(timeout_ms) ms: \(opened.path)")
    }
  }
}

/// The object of a cache handle: a cache, and the events of the requests that were submitted with this handle.
final class CacheView: Sendable {
  let cache: Cache
  let completions = CompletionQueue()
  let listeners = Listeners()
  let told = ToldTexts()
  private let hold = Locked<HoldWatch?>(nil)

  init(_ cache: Cache) { self.cache = cache }

  /// Unretained, because its calls take a tenth of a microsecond. The cache keeps it alive.
  var instant: Unmanaged<InstantAnswers> { .passUnretained(cache.instant) }

  /// Starts to add notices that have a listener to the completion queue.
  func listen() {
    guard listeners.beginsToListen() else { return }
    let (listeners, completions) = (listeners, completions)
    cache.whenNews { notice in
      if let notification = listeners.notification(of: notice) { completions.add(notification) }
    }
  }

  /// Returns whether another process has held the store's lock for `patience` milliseconds. The first call sets `patience`.
  func isHeldUp(patience: Int64) -> Bool {
    hold.withLock { hold in
      var watch =
        hold
        ?? HoldWatch(patience: Request.Limit.milliseconds(patience).nanoseconds ?? .max) {
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
    // Close the queue first: the program gets no events of requests that end because of the close.
    completions.close()
    cache.closing.begin()
  }
}
