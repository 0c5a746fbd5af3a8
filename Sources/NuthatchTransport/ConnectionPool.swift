import CSystem
import NuthatchBase

/// A libcurl multi handle on the loop: connections, and the transfers that share them.
///
/// There are two. What has a body, or may not be sent twice, goes over HTTP/1.1: libcurl 7.88 loses answers that an HTTP/2
/// server gives before it has read the whole body, and can't tell which requests a server hasn't looked at when it goes
/// away (GOAWAY). HTTP/1.1 says with an answer that it is the connection's last. Side by side in one multi handle, the one kind of
/// connection to a host would keep libcurl from sharing the other among requests.
///
/// Confined to the loop's thread.
final class ConnectionPool {
  /// Whether nothing else is offered to servers.
  let isHTTP1: Bool
  private let multi: UnsafeMutableRawPointer
  private let loop: EventLoop
  private let finished: (Transfer, CURLcode) -> Void
  private var timer: LoopTimer?

  /// As many HTTP/2 streams share a connection; more open another one.
  private static let streamLimit = 32

  /// - Parameter kept: as many connections are kept for the next transfer; by itself libcurl keeps four for each transfer
  ///   under way, and when few are, it closes those to other hosts.
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

  /// When nothing is under way any more.
  func close() { curl_multi_cleanup(multi) }

  func add(_ transfer: Transfer) -> Bool { curl_multi_add_handle(multi, transfer.handle.easy) == CURLM_OK }

  func remove(_ transfer: Transfer) { curl_multi_remove_handle(multi, transfer.handle.easy) }

  /// Has libcurl see to what is due.
  func goOn() { act(-1, 0) }

  fileprivate func watchSocket(_ socket: Int32, _ what: Int32) {
    guard what != CURL_POLL_REMOVE else { return loop.unwatch(socket) }
    var events: UInt32 = 0
    if what & CURL_POLL_IN != 0 { events |= UInt32(EPOLLIN.rawValue) }
    if what & CURL_POLL_OUT != 0 { events |= UInt32(EPOLLOUT.rawValue) }
    loop.watchOrFail(socket, events) { [unowned self] ready in
      var mask: Int32 = 0
      if ready & UInt32(EPOLLIN.rawValue) != 0 { mask |= CURL_CSELECT_IN }
      // It reads before it writes, then: what has come meanwhile would be lost when the writing fails.
      if ready & UInt32(EPOLLOUT.rawValue) != 0 { mask |= CURL_CSELECT_OUT | CURL_CSELECT_IN }
      if ready & UInt32(EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { mask |= CURL_CSELECT_ERR }
      self.act(socket, mask)
    }
  }

  fileprivate func setTimer(milliseconds: Int) {
    if let timer { loop.cancelTimer(timer) }
    timer = nil
    guard milliseconds >= 0 else { return }
    // Never at once: libcurl must not be entered again from its own callback.
    timer = loop.at(loop.now + Int64(milliseconds) * 1_000_000) { [unowned self] in
      self.timer = nil
      self.goOn()
    }
  }

  /// -1 is libcurl's word for "a time-out".
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
