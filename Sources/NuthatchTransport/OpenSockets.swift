import Glibc

/// Detects unread bytes on a kept connection before it is reused.
///
/// A server may send unrequested bytes: a body with an answer that has none (204, 304, HEAD), more bytes than announced, its
/// own timeout message (408). On an HTTP/1 connection the next request would take them for its answer, and they would be stored
/// under the wrong URL. libcurl 7.88 only checks whether the connection is closed.
///
/// Used only on the loop's thread.
final class OpenSockets {
  /// The addresses and ports of a connection. libcurl reports only these, so they are the key to the descriptor.
  struct Ends: Hashable {
    var there: IPAddress?
    var here: IPAddress?
    var portThere: Int32
    var portHere: Int32

    /// Hashes only the local port: that is fast, and two connections rarely share it.
    func hash(into hasher: inout Hasher) { hasher.combine(portHere) }
  }

  private var sockets: [Ends: Int32] = [:]
  private var ends: [Int32: Ends] = [:]
  /// The HTTP/1 sockets: there, a server may send only after a request. On HTTP/2 sockets it may send at any time.
  private var takingTurns: Set<Int32> = []

  /// Returns the socket with these ends, or -1 if it isn't known.
  func find(_ ends: Ends) -> Int32 { sockets[ends] ?? -1 }

  /// Returns the latest of the sockets `opened` with this local port, and remembers it; -1 if there is none.
  func note(_ ends: Ends, _ opened: [Int32]) -> Int32 {
    guard let socket = opened.last(where: { Self.port(of: $0) == ends.portHere }) else { return -1 }
    sockets[ends] = socket
    self.ends[socket] = ends
    return socket
  }

  /// Marks a socket as HTTP/1.
  func noteTurns(of socket: Int32) { if socket >= 0 { takingTurns.insert(socket) } }

  /// Returns whether an HTTP/1 server has sent unrequested bytes or closed the connection. False for other sockets.
  func hasUnsolicited(_ socket: Int32) -> Bool {
    guard takingTurns.contains(socket) else { return false }
    var look = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    return poll(&look, 1, 0) > 0
  }

  fileprivate func end(_ socket: Int32) -> Int32 {
    takingTurns.remove(socket)
    if let ends = ends.removeValue(forKey: socket), sockets[ends] == socket { sockets[ends] = nil }
    return close(socket)
  }

  private static func port(of socket: Int32) -> Int32? {
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout.size(ofValue: address))
    return withUnsafeMutableBytes(of: &address) { bytes in
      guard let base = bytes.baseAddress,
        getsockname(socket, base.assumingMemoryBound(to: sockaddr.self), &length) == 0
      else { return nil }
      // In both families the port follows the family, most significant byte first.
      return Int32(bytes[2]) << 8 | Int32(bytes[3])
    }
  }
}

func closeSocket(context: UnsafeMutableRawPointer?, socket: Int32) -> Int32 {
  guard let context else { return close(socket) }
  return Unmanaged<OpenSockets>.fromOpaque(context).takeUnretainedValue().end(socket)
}
