import Glibc

/// A system call that failed while the server was starting.
public struct SystemError: Error, CustomStringConvertible {
  /// The call's name.
  public let call: String
  /// The value of `errno`.
  public let code: CInt

  init(_ call: String) {
    self.call = call
    code = errno
  }

  /// The call and the system's message.
  public var description: String { "\(call): \(String(cString: strerror(code)))" }
}

let streamType = CInt(SOCK_STREAM.rawValue)
let closeOnExec = CInt(SOCK_CLOEXEC.rawValue)

enum Family {
  case v4
  case v6
}

/// A socket bound to a loopback address; port 0 lets the kernel choose.
func boundSocket(_ family: Family, port: UInt16) throws -> CInt {
  let domain = family == .v4 ? AF_INET : AF_INET6
  let descriptor = socket(domain, streamType | closeOnExec, 0)
  guard descriptor >= 0 else { throw SystemError("socket") }
  setOption(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
  if family == .v6 { setOption(descriptor, CInt(IPPROTO_IPV6), IPV6_V6ONLY, 1) }
  let status = withLoopback(family, port: port) { bind(descriptor, $0, $1) }
  guard status == 0 else {
    let failure = SystemError("bind")
    close(descriptor)
    throw failure
  }
  return descriptor
}

func withLoopback<Result>(
  _ family: Family, port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) -> Result {
  func pass<Address>(_ address: Address) -> Result {
    withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<Address>.size))
      }
    }
  }
  switch family {
  case .v4:
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return pass(address)
  case .v6:
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = port.bigEndian
    address.sin6_addr = in6addr_loopback
    return pass(address)
  }
}

/// The port of a socket's own end, or of its peer.
func portNumber(of descriptor: CInt, peer: Bool = false) -> UInt16 {
  var address = sockaddr_in6()
  var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
  _ = withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      peer ? getpeername(descriptor, $0, &length) : getsockname(descriptor, $0, &length)
    }
  }
  return UInt16(bigEndian: address.sin6_port)
}

func setOption(_ descriptor: CInt, _ level: CInt, _ name: CInt, _ value: CInt) {
  var value = value
  setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<CInt>.size))
}

/// Makes the coming close a TCP reset.
func closeWillReset(_ descriptor: CInt) {
  var value = linger(l_onoff: 1, l_linger: 0)
  setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
}

/// The events among `wanted` (and errors) that a descriptor has now.
func events(of descriptor: CInt, wanted: Int16) -> Int16 {
  var entry = pollfd(fd: descriptor, events: wanted, revents: 0)
  return poll(&entry, 1, 0) > 0 ? entry.revents : 0
}

/// False when the peer is gone.
func sendAll(_ bytes: ArraySlice<UInt8>, to descriptor: CInt) -> Bool {
  bytes.withUnsafeBytes { buffer in
    var sent = 0
    while sent < buffer.count {
      let rest = UnsafeRawBufferPointer(rebasing: buffer[sent...])
      let count = send(descriptor, rest.baseAddress, rest.count, CInt(MSG_NOSIGNAL))
      if count > 0 {
        sent += count
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }
}

/// The number of bytes read, 0 at the end, negative on error.
func receive(_ descriptor: CInt, into buffer: inout [UInt8], flags: CInt = 0) -> Int {
  var space = [UInt8](repeating: 0, count: 64 << 10)
  while true {
    let count = recv(descriptor, &space, space.count, flags)
    if count < 0 && errno == EINTR { continue }
    if count > 0 { buffer += space[..<count] }
    return count
  }
}

/// How many bytes the peer's kernel hasn't got yet.
func unsent(_ descriptor: CInt) -> CInt {
  var waiting: CInt = 0
  return ioctl(descriptor, UInt(TIOCOUTQ), &waiting) == 0 ? waiting : 0
}

/// Waits, a second at most, until the peer's kernel has everything that was sent.
func drainOutput(_ descriptor: CInt) {
  for _ in 0..<1000 {
    guard unsent(descriptor) > 0 else { return }
    poll(nil, 0, 1)
  }
}

/// Seconds of the monotonic clock.
func now() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
