import Glibc
import TestServer
import Testing

/// A client that sends and reads bytes as they are.
final class RawClient {
  private var descriptor: CInt
  private var buffer: [UInt8] = []
  /// The last read ended with a TCP reset.
  private(set) var wasReset = false
  private var ended = false

  init(_ server: TestServer) throws {
    descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = server.port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let status = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else {
      let code = errno
      close()
      throw Failure.connect(code)
    }
  }

  enum Failure: Error, Equatable {
    case connect(CInt)
  }

  deinit { close() }

  func close() {
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }

  /// Sends text; `\n` goes out as CR LF unless `exactly`.
  func send(_ text: String, exactly: Bool = false) {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if byte == 10 && !exactly { bytes.append(13) }
      bytes.append(byte)
    }
    var start = 0
    while start < bytes.count {
      let count = bytes[start...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
      }
      // A reset is told once, to whichever call comes first.
      if count < 0 && errno == ECONNRESET { wasReset = true }
      guard count > 0 else { return }
      start += count
    }
  }

  func get(_ path: String, headers: String = "") {
    send("GET \(path) HTTP/1.1\nHost: test\n\(headers)\n")
  }

  /// Everything until the server closes.
  func rest() -> String {
    while fill() {}
    defer { buffer = [] }
    return String(decoding: buffer, as: UTF8.self).replacingCRLF
  }

  /// At least so many bytes, or less at the end.
  func bytes(_ count: Int) -> String {
    while buffer.count < count, fill() {}
    let taken = buffer.prefix(count)
    buffer.removeFirst(taken.count)
    return String(decoding: taken, as: UTF8.self).replacingCRLF
  }

  /// Up to and with the empty line, then as many bytes as Content-Length says.
  func answer(to method: String = "GET") -> (head: String, body: String) {
    var head = ""
    while !head.hasSuffix("\n\n") {
      let next = bytes(1)
      head += next
      if next.isEmpty && ended { return (head, "") }
    }
    let length = head.split(separator: "\n").first { $0.lowercased().hasPrefix("content-length:") }
    let count = length.flatMap { Int($0.split(separator: " ")[1]) } ?? 0
    return (head, method == "HEAD" ? "" : bytes(count))
  }

  private func fill() -> Bool {
    var space = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(descriptor, &space, space.count, 0)
    if count < 0 && errno == ECONNRESET { wasReset = true }
    ended = count <= 0
    if ended { return false }
    buffer += space[..<count]
    return true
  }
}

extension String {
  /// With LF for CR LF; Swift sees CR LF as one character.
  var replacingCRLF: String { String(decoding: utf8.filter { $0 != 13 }, as: UTF8.self) }
}
