import Glibc

/// The sockets of connections, to see what lies in them before a kept one is used again.
///
/// A server may send what nobody asked for: a body with an answer that has none (204, 304, to HEAD), more than it
/// announced, a time-out of its own (408). On a connection whose requests take turns, the next one would get that for its
/// answer, and it would be kept under the wrong URL. libcurl 7.88 looks only whether the connection is closed.
///
/// Confined to the loop's thread.
final class OpenSockets {
  /// What libcurl says of a connection, which isn't its descriptor.
  struct Ends: Hashable {
    var there: IPAddress?
    var here: IPAddress?
    var portThere: Int32
    var portHere: Int32

    /// Each request asks for it, and hardly two connections have the same port here.
    func hash(into hasher: inout Hasher) { hasher.combine(portHere) }
  }

  private var sockets: [Ends: Int32] = [:]
  private var ends: [Int32: Ends] = [:]
  /// Those over which one request goes after the other. Over the others (HTTP/2) a server may say something at any time.
  private var takingTurns: Set<Int32> = []

  /// The socket with these ends; -1 for none that is known.
  func find(_ ends: Ends) -> Int32 { sockets[ends] ?? -1 }

  /// Which of the sockets that were `opened` has these ends.
  func note(_ ends: Ends, _ opened: [Int32]) -> Int32 {
    guard let socket = opened.last(where: { Self.port(of: $0) == ends.portHere }) else { return -1 }
    sockets[ends] = socket
    self.ends[socket] = ends
    return socket
  }

  /// An answer has come over it that says so.
  func noteTurns(of socket: Int32) { if socket >= 0 { takingTurns.insert(socket) } }

  /// Whether something has come, or its end, while nobody waited for anything.
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
      // In both families it stands behind the family, the most significant byte first.
      return Int32(bytes[2]) << 8 | Int32(bytes[3])
    }
  }
}

func socketUnwanted(context: UnsafeMutableRawPointer?, socket: Int32) -> Int32 {
  guard let context else { return close(socket) }
  return Unmanaged<OpenSockets>.fromOpaque(context).takeUnretainedValue().end(socket)
}
