import Glibc
import Testing

/// nghttp2's server with a certificate that only the test trusts: HTTP/2 over TLS, files of a folder.
final class SecureServer: Sendable {
  let folder: String
  let port: UInt16
  private let process: pid_t

  var certificate: String { "\(folder)/certificate.pem" }

  static let isThere = ["nghttpd", "openssl", "timeout"].allSatisfy { run(["which", $0]) == 0 }

  /// Serves `files` under their names.
  init(_ files: [String: [UInt8]], options: [String] = []) throws {
    var template = Array("/tmp/nuthatch-secure-XXXXXX".utf8CString)
    folder = String(cString: try #require(mkdtemp(&template)))
    let certificate = "\(folder)/certificate.pem"
    let key = "\(folder)/key.pem"
    let made = run([
      "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
      "-days", "2", "-subj", "/CN=nut", "-addext",
      "subjectAltName=IP:127.0.0.1,IP:::1,DNS:localhost,DNS:secure.fake.test", "-keyout", key, "-out",
      certificate,
    ])
    try #require(made == 0)
    for (name, bytes) in files {
      let file = try #require(fopen("\(folder)/\(name)", "w"))
      fwrite(bytes, 1, bytes.count, file)
      fclose(file)
    }
    // Its port can't be asked for, so that one is taken that was free a moment ago.
    for _ in 0..<20 {
      let port = try freePort()
      let command =
        ["timeout", "300", "nghttpd", "-a", "127.0.0.1", "-d", folder] + options
        + [String(port), key, certificate]
      guard let process = spawn(command) else { continue }
      // Another test's server may have taken the port meanwhile, and answers there.
      if answers(port, process), has(certificate, port) {
        self.port = port
        self.process = process
        return
      }
      _ = end(process)
    }
    throw Failure()
  }

  struct Failure: Error {}

  deinit {
    stop()
    _ = run(["rm", "-r", folder])
  }

  /// Kills the server, also in the middle of an answer.
  func stop() { _ = end(process) }

  func url(_ path: String, host: String = "127.0.0.1") -> String { "https://\(host):\(port)\(path)" }
}

private func freePort() throws -> UInt16 {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  defer { close(descriptor) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let status = withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
      bind(descriptor, pointer, length) == 0 ? getsockname(descriptor, pointer, &length) : -1
    }
  }
  try #require(status == 0)
  return UInt16(bigEndian: address.sin_port)
}

/// Waits until something listens there; false when the process ends before.
private func answers(_ port: UInt16, _ process: pid_t) -> Bool {
  for _ in 0..<1000 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if status == 0 { return true }
    var result: Int32 = 0
    if waitpid(process, &result, WNOHANG) != 0 { return false }
    usleep(10_000)
  }
  return false
}

/// Whether the server there has this certificate.
private func has(_ certificate: String, _ port: UInt16) -> Bool {
  run([
    "timeout", "60", "openssl", "s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", certificate,
    "-verify_return_error",
  ]) == 0
}

private func spawn(_ words: [String]) -> pid_t? {
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  for descriptor in Int32(0)...2 {
    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
  }
  // Threads of the tests may have signals blocked, and a child inherits that: it could not be ended.
  var attributes = posix_spawnattr_t()
  posix_spawnattr_init(&attributes)
  defer { posix_spawnattr_destroy(&attributes) }
  var none = sigset_t()
  sigemptyset(&none)
  posix_spawnattr_setsigmask(&attributes, &none)
  posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
  var arguments = words.map { strdup($0) } + [nil]
  defer { arguments.forEach { free($0) } }
  var process: pid_t = 0
  return posix_spawnp(&process, words[0], &actions, &attributes, &arguments, environ) == 0 ? process : nil
}

private func end(_ process: pid_t) -> Int32 {
  kill(process, SIGTERM)
  var result: Int32 = 0
  return waitpid(process, &result, 0)
}

/// The exit status, -1 when the program can't be run.
@discardableResult
private func run(_ words: [String]) -> Int32 {
  guard let process = spawn(words) else { return -1 }
  var result: Int32 = 0
  guard waitpid(process, &result, 0) == process else { return -1 }
  return result & 0x7f == 0 ? result >> 8 & 0xff : -1
}
