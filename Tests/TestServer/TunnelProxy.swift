import CTestSockets
import Glibc

/// A proxy on loopback that understands `CONNECT` and nothing else, and says who asked for what.
public final class TunnelProxy: Sendable {
  private struct State {
    var targets: [String] = []
    var credentials: [String] = []
    var sockets: Set<CInt> = []
    var threads: [pthread_t] = []
    var isStopping = false
  }

  private let monitor = Monitor(State())
  private let listener: CInt
  /// The port it listens on.
  public let port: UInt16

  private init() throws {
    listener = try boundSocket(.v4, port: 0)
    port = portNumber(of: listener)
    guard listen(listener, 128) == 0 else { throw SystemError("listen") }
  }

  /// Starts a proxy at a port that the kernel chooses.
  public static func start() throws -> TunnelProxy {
    let proxy = try TunnelProxy()
    proxy.launch { proxy.accept() }
    return proxy
  }

  /// What clients wanted to be connected to, in order.
  public var targets: [String] { monitor.access { $0.targets } }

  /// The values of `Proxy-Authorization`, in order.
  public var credentials: [String] { monitor.access { $0.credentials } }

  /// Cuts all tunnels and joins the threads.
  public func stop() {
    monitor.access { state in
      state.isStopping = true
      state.sockets.forEach { shutdown($0, CInt(SHUT_RDWR)) }
    }
    shutdown(listener, CInt(SHUT_RDWR))
    while let thread = monitor.access({ $0.threads.popLast() }) { pthread_join(thread, nil) }
    close(listener)
  }

  private func launch(_ body: @escaping @Sendable () -> Void) {
    monitor.access { state in
      if !state.isStopping, let thread = startThread(body) { state.threads.append(thread) }
    }
  }

  private func accept() {
    while true {
      let descriptor = test_accept(listener)
      guard descriptor >= 0 else { return }
      launch { [self] in
        serve(descriptor)
        monitor.access { _ = $0.sockets.remove(descriptor) }
        close(descriptor)
      }
    }
  }

  private func serve(_ descriptor: CInt) {
    guard monitor.access({ $0.sockets.insert(descriptor).inserted && !$0.isStopping }) else { return }
    var head: [UInt8] = []
    while head.firstRange(of: Array("\r\n\r\n".utf8)) == nil {
      guard head.count < 65_536, receive(descriptor, into: &head) > 0 else { return }
    }
    let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
    let words = lines.first?.split(separator: " ") ?? []
    guard words.count == 3, words[0] == "CONNECT",
      let port = words[1].split(separator: ":").last.flatMap({ UInt16($0) })
    else {
      _ = sendAll(Array("HTTP/1.1 405 CONNECT only\r\nContent-Length: 0\r\n\r\n".utf8)[...], to: descriptor)
      return
    }
    monitor.access { state in
      state.targets.append(String(words[1]))
      state.credentials += lines.filter { $0.lowercased().hasPrefix("proxy-authorization:") }.map {
        trimmed($0.dropFirst("proxy-authorization:".count))
      }
    }
    // Whatever the name, it is on loopback.
    let origin = socket(AF_INET, streamType | closeOnExec, 0)
    defer { close(origin) }
    guard origin >= 0, withLoopback(.v4, port: port, { connect(origin, $0, $1) }) == 0 else {
      _ = sendAll(Array("HTTP/1.1 502 nobody there\r\nContent-Length: 0\r\n\r\n".utf8)[...], to: descriptor)
      return
    }
    guard sendAll(Array("HTTP/1.1 200 connected\r\n\r\n".utf8)[...], to: descriptor) else { return }
    relay(descriptor, origin)
  }

  private func relay(_ one: CInt, _ other: CInt) {
    while true {
      var entries = [one, other].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      guard poll(&entries, 2, -1) > 0 else { return }
      for (entry, target) in zip(entries, [other, one]) where entry.revents != 0 {
        var bytes: [UInt8] = []
        guard receive(entry.fd, into: &bytes) > 0, sendAll(bytes[...], to: target) else { return }
      }
    }
  }
}
