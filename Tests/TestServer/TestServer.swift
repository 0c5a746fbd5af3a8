/// An HTTP/1.1 server on loopback for tests: it answers as it is told, down to the byte, and tells what it saw.
///
/// ```swift
/// let server = try TestServer.start()
/// server.on("/a.png", .ok(bytes, type: "image/png").withValidators(etag: "\"1\""))
/// … fetch server.url("/a.png") …
/// #expect(server.count("/a.png") == 1)
/// ```
///
/// Every connection has a thread of its own. Tests wait for events (`waitForRequests`, `Gate.waitUntilReached`,
/// `waitForDisconnect`), never for time. Paths that nothing was put on are answered as `BuiltinPaths.help` says,
/// else with 404. No `Date` field is sent unless a script has one. When a server is let go, it stops.
public final class TestServer: Sendable {
  let core: Core

  private init(core: Core) { self.core = core }

  deinit { core.stop() }

  /// Starts a server on 127.0.0.1, on `[::1]` too if asked, at a port that the kernel chooses.
  public static func start(ipv6: Bool = false) throws -> TestServer {
    TestServer(core: try Core(families: ipv6 ? [.v4, .v6] : [.v4]))
  }

  /// Ends every connection, frees the port and joins all threads. Harmless when repeated; not for handlers.
  public func stop() { core.stop() }

  /// What the control interface understands.
  public static var controlHelp: String { Control.help }

  /// The port it listens on.
  public var port: UInt16 { core.port }

  /// The URL of a path; `host` may be any spelling of loopback.
  public func url(_ path: String, host: String = "127.0.0.1") -> String { "http://\(host):\(port)\(path)" }

  /// Puts a script on a path (with or without query; a path with the request's exact query wins).
  /// A method before the path limits it to that method: `"POST /a"`.
  public func on(_ path: String, _ script: Script) { on(path, sequence: [script]) }

  /// Puts scripts on a path: the first request gets the first one, and so on; the last one stays.
  public func on(_ path: String, sequence scripts: [Script]) {
    guard !scripts.isEmpty else { return }
    core.monitor.access { $0.routes[path] = .scripts(scripts, used: 0) }
  }

  /// Puts a function on a path; it is called on the connection's thread, with the body read.
  public func on(_ path: String, _ handler: @escaping @Sendable (ReceivedRequest) -> Script) {
    core.monitor.access { $0.routes[path] = .handler(handler) }
  }

  /// Puts a function on every path that begins so and has nothing of its own; the longest prefix wins.
  public func on(prefix: String, _ handler: @escaping @Sendable (ReceivedRequest) -> Script) {
    core.monitor.access { $0.setPrefix(prefix, .handler(handler)) }
  }

  /// Answers a path with the request as JSON: method, target, headers, body.
  public func echo(_ path: String) { on(path) { Answers.echo($0) } }

  /// Serves a folder's files under a prefix such as `/pictures/`, with types, validators and ranges; the prefix
  /// itself lists the URLs of its pictures, one a line.
  public func serve(folder: String, at prefix: String = "/") {
    core.monitor.access { $0.setPrefix(prefix, .folder(Folder(path: folder, prefix: prefix))) }
  }

  /// The URLs of a folder's pictures as `serve(folder:at:)` serves them, in the order of their names.
  public func urls(ofFolder folder: String, at prefix: String = "/") -> [String] {
    Folder(path: folder, prefix: prefix).pictures().map { url(prefix + percentEncoded($0)) }
  }

  /// Takes what is on a path or prefix away.
  public func off(_ path: String) {
    core.monitor.access { state in
      state.routes[path] = nil
      state.prefixes.removeAll { $0.prefix == path }
    }
  }

  /// Forgets scripts, gates (whoever waits at one passes), log and counts. Connections stay.
  public func reset() { core.monitor.access { $0.reset() } }

  /// Forgets log and counts only.
  public func clearLog() { core.monitor.access { $0.clearLog() } }

  /// Resets the next so many connections as soon as they are accepted.
  public func resetConnections(next count: Int) { core.monitor.access { $0.refusals = count } }

  /// The host is down: open connections are reset, new ones refused. The port stays reserved.
  public func goDown() { core.goDown() }

  /// The host is back on the same port.
  public func goUp() throws { try core.listenAgain() }
}
