import CSystem
import NuthatchBase

/// Connects a libcurl multi handle to the loop. The handle owns connections, and runs the transfers that share them.
///
/// There are two. An https request with a body, or one that must not be sent twice, uses HTTP/1.1 unless the server refuses
/// that: libcurl 7.88 loses an answer that an HTTP/2 server sends before it has read the whole body, and after a GOAWAY it
/// can't tell which requests the server has processed. In HTTP/1.1 the server says in its answer that it will close the
/// connection, so libcurl sends no further request over it. With one multi handle, an HTTP/1.1 connection to a host would keep
/// libcurl from using HTTP/2 streams to that host, and vice versa.
///
/// Used only on the loop's thread.
final class ConnectionPool {
  /// Whether servers are offered only HTTP/1.1.
  let isHTTP1: Bool
  private let multi: UnsafeMutableRawPointer
  private let loop: EventLoop
  private let finished: (Transfer, CURLcode) -> Void
  private var timer: LoopTimer?

  /// The most HTTP/2 streams on one connection. For more, libcurl opens another connection.
  private static let streamLimit = 32

  /// - Parameter kept: the number of idle connections to keep. By default libcurl keeps four for each running transfer. When
  ///   few transfers run, it would close connections that are needed again.
  init?(loop: EventLoop, isHTTP1: Bool, kept: Int, finished: @escaping (Transfer, CURLcode) -> Void) {
    guard let multi = curl_multi_init() else { return nil }
    self.multi = multi
    self.isHTTP1 = isHTTP1
    self.loop = loop
    self.finished = finished
    let context = Unmanaged.passUnretained(self).toOpaque()
    _ = nhs_multi_set_callbacks(multi, socketChanged, timerChanged, context)
    _ = nhs_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, ConnectionPool.streamLimit)
    _ = nhs_multi_set_long(multi, CURLMOPT_MAXCONNECTS, kept)
  }

  /// Frees the multi handle and closes its connections. No transfer may be running.
  func close() { curl_multi_cleanup(multi) }

  func add(_ transfer: Transfer) -> Bool { curl_multi_add_handle(multi, transfer.handle.easy) == CURLM_OK }

  func remove(_ transfer: Transfer) { curl_multi_remove_handle(multi, transfer.handle.easy) }

  /// Lets libcurl handle due timers.
  func runTimers() { act(-1, 0) }

  fileprivate func watchSocket(_ socket: Int32, _ what: Int32) {
    guard what != CURL_POLL_REMOVE else { return loop.unwatch(socket) }
    var events: UInt32 = 0
    if what & CURL_POLL_IN != 0 { events |= UInt32(EPOLLIN.rawValue) }
    if what & CURL_POLL_OUT != 0 { events |= UInt32(EPOLLOUT.rawValue) }
    loop.watchOrFail(socket, events) { [unowned self] ready in
      var mask: Int32 = 0
      if ready & UInt32(EPOLLIN.rawValue) != 0 { mask |= CURL_CSELECT_IN }
      // With CURL_CSELECT_IN, libcurl reads before it writes. Otherwise received bytes would be lost if the write failed.
      if ready & UInt32(EPOLLOUT.rawValue) != 0 { mask |= CURL_CSELECT_OUT | CURL_CSELECT_IN }
      if ready & UInt32(EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { mask |= CURL_CSELECT_ERR }
      self.act(socket, mask)
    }
  }

  fileprivate func setTimer(milliseconds: Int) {
    if let timer { loop.cancelTimer(timer) }
    timer = nil
    guard milliseconds >= 0 else { return }
    // Even 0 ms needs a timer: this is a callback of libcurl, which must not be entered again from it.
    timer = loop.at(loop.now + Int64(milliseconds) * 1_000_000) { [unowned self] in
      self.timer = nil
      self.runTimers()
    }
  }

  /// -1 means "a timeout" to libcurl.
  private func act(_ socket: Int32, _ mask: Int32) {
    var running: Int32 = 0
    curl_multi_socket_action(multi, socket, mask, &running)
    var code = CURLE_OK
    while let easy = nhs_multi_next_done(multi, &code) {
      guard let context = nhs_easy_get_context(easy) else { continue }
      finished(Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue(), code)
    }
  }
}

private func socketChanged(
  _: UnsafeMutableRawPointer?, socket: Int32, what: Int32, context: UnsafeMutableRawPointer?,
  _: UnsafeMutableRawPointer?
) -> Int32 {
  guard let context else { return 0 }
  Unmanaged<ConnectionPool>.fromOpaque(context).takeUnretainedValue().watchSocket(socket, what)
  return 0
}

private func timerChanged(
  _: UnsafeMutableRawPointer?, milliseconds: Int, context: UnsafeMutableRawPointer?
) -> Int32 {
  guard let context else { return 0 }
  Unmanaged<ConnectionPool>.fromOpaque(context).takeUnretainedValue().setTimer(milliseconds: milliseconds)
  return 0
}
