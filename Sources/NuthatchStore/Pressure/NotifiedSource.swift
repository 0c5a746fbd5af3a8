import CSystem
import Glibc

/// What `$MEMORY_PRESSURE_WATCH` names, by systemd's protocol: a FIFO or a socket, where anything to read is an event, or
/// a file of the kernel's pressure stall information. What `$MEMORY_PRESSURE_WRITE` says is written to it first.
package final class NotifiedSource: PressureSource {
  package let origin = PressureOrigin.environment
  package let descriptor: (fd: Int32, events: UInt32)?
  package let interval: Int64? = nil
  private let fd: PressureDescriptor
  /// Nil for what is read.
  private var total: StallTotal?
  /// What we wrote to a FIFO ourselves comes back to us.
  private var ownBytes = 0

  /// Nil when nothing can be had from it.
  package init?(_ path: String, writing text: String?) {
    guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0),
      let data = text.map(Base64.decoded) ?? []
    else { return nil }
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    let opened: Int32
    let isFile = status.st_mode & S_IFMT == S_IFREG
    switch status.st_mode & S_IFMT {
    case S_IFSOCK: opened = nhs_connect_unix(path)
    case S_IFREG, S_IFIFO:
      // With the writing end in our own hands, a FIFO never ends when its writers do.
      let both = nhs_openat(AT_FDCWD, path, O_RDWR | O_NONBLOCK | O_CLOEXEC, 0)
      opened = both >= 0 ? both : nhs_openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0)
    default: return nil
    }
    guard opened >= 0 else { return nil }
    fd = PressureDescriptor(opened)
    if !data.isEmpty {
      guard write(opened, data, data.count) == data.count else { return nil }
      if status.st_mode & S_IFMT == S_IFIFO { ownBytes = data.count }
    }
    if isFile {
      total = StallTotal(path, .some)
      total?.takeGrowth()
    }
    descriptor = (opened, isFile ? UInt32(EPOLLPRI.rawValue) : UInt32(EPOLLIN.rawValue))
  }

  /// Whether anything can come of it. Nothing does of a plain file, for which no event loop waits, nor of one of the kernel's
  /// that wasn't told what to listen for.
  var canTell: Bool {
    guard total != nil else { return true }
    let epoll = nhs_epoll_new()
    guard epoll >= 0 else { return true }
    defer { close(epoll) }
    guard nhs_epoll_watch(epoll, fd.number, UInt32(EPOLLPRI.rawValue), 1) == 0 else { return false }
    var events: UInt32 = 0
    var ready: Int32 = -1
    return nhs_epoll_wait(epoll, &ready, &events, 1, 0) < 1 || events & UInt32(EPOLLERR.rawValue) == 0
  }

  package func look(_ events: UInt32) -> PressureSign {
    if var total {
      if events & UInt32(EPOLLERR.rawValue) != 0 { return .gone }
      // Some events come without anybody having waited.
      let growth = total.takeGrowth()
      self.total = total
      return growth > 0 ? .pressure(nil) : .nothing
    }
    var buffer = [UInt8](repeating: 0, count: 4096)
    var count = 0
    while true {
      let got = read(fd.number, &buffer, buffer.count)
      if got > 0 {
        count += got
        // Somebody who writes without end must not keep us for ever.
        if count < 1 << 20 { continue }
      } else if got == 0 || (errno != EAGAIN && errno != EINTR) {
        return .gone
      }
      break
    }
    let own = min(ownBytes, count)
    ownBytes -= own
    return count > own ? .pressure(nil) : .nothing
  }
}

/// A descriptor that is closed with its owner, and in forked children.
final class PressureDescriptor {
  let number: Int32

  init(_ number: Int32) {
    self.number = number
    // When there are too many of those, a child has one descriptor more, which does no harm.
    _ = nhs_close_in_child(number)
  }

  deinit {
    nhs_keep_in_child(number)
    close(number)
  }
}

enum Base64 {
  /// The bytes of a text; nil when it is none. Blanks are passed over.
  static func decoded(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    var padding = 0
    for character in text.utf8 {
      let value: UInt8
      switch character {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = character - UInt8(ascii: "A")
      case UInt8(ascii: "a")...UInt8(ascii: "z"): value = character - UInt8(ascii: "a") + 26
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = character - UInt8(ascii: "0") + 52
      case UInt8(ascii: "+"): value = 62
      case UInt8(ascii: "/"): value = 63
      case UInt8(ascii: "="):
        padding += 1
        continue
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): continue
      default: return nil
      }
      guard padding == 0 else { return nil }
      bits = bits << 6 | UInt32(value)
      count += 1
      if count % 4 == 0 {
        bytes += [UInt8(truncatingIfNeeded: bits >> 16), UInt8(truncatingIfNeeded: bits >> 8)]
        bytes.append(UInt8(truncatingIfNeeded: bits))
        bits = 0
      }
    }
    switch (count % 4, padding) {
    case (0, 0): break
    case (2, 2): bytes.append(UInt8(truncatingIfNeeded: bits >> 4))
    case (3, 1): bytes += [UInt8(truncatingIfNeeded: bits >> 10), UInt8(truncatingIfNeeded: bits >> 2)]
    default: return nil
    }
    return bytes
  }
}
