import CSystem
import Glibc

/// The kernel's pressure stall information: an event when tasks waited for memory for `stall` of `window` microseconds.
package final class StallSource: PressureSource {
  /// Which tasks wait for memory.
  package enum Share: String, Sendable {
    /// At least one task.
    case some
    /// All tasks at once: no work is done meanwhile.
    case full
  }

  package let origin = PressureOrigin.kernel
  package let descriptor: (fd: Int32, events: UInt32)?
  package let interval: Int64? = nil
  private let fd: PressureDescriptor
  private let share: Share
  private let stall: UInt64
  private var total: StallTotal

  /// Returns nil if the kernel has no such file or refuses the trigger.
  package init?(_ path: String, _ share: Share, stall: Int, window: Int) {
    self.share = share
    self.stall = UInt64(max(0, stall))
    total = StallTotal(path, share)
    guard total.isReadable else { return nil }
    let opened = nhs_openat(AT_FDCWD, path, O_RDWR | O_NONBLOCK | O_CLOEXEC, 0)
    guard opened >= 0 else { return nil }
    fd = PressureDescriptor(opened)
    // The kernel expects the zero at the end.
    let trigger = Array("\(share.rawValue) \(stall) \(window)".utf8) + [0]
    guard write(opened, trigger, trigger.count) == trigger.count else { return nil }
    total.takeGrowth()
    descriptor = (opened, UInt32(EPOLLPRI.rawValue))
  }

  package func look(_ events: UInt32) -> PressureSign {
    if events & UInt32(EPOLLERR.rawValue) != 0 { return .gone }
    // The first event may be false; registering a trigger can cause it.
    guard total.takeGrowth() >= stall else { return .nothing }
    return .pressure(share == .full ? .critical : nil)
  }
}

/// A descriptor that is closed with its owner, and in forked children.
final class PressureDescriptor {
  let number: Int32

  init(_ number: Int32) {
    self.number = number
    // If the table is full, a child keeps the descriptor open, which does no harm.
    _ = nhs_close_in_child(number)
  }

  deinit {
    nhs_keep_in_child(number)
    close(number)
  }
}

/// How long tasks have waited for memory, in microseconds since boot.
struct StallTotal {
  private let path: String
  private let share: StallSource.Share
  private var last: UInt64 = 0

  init(_ path: String, _ share: StallSource.Share) {
    self.path = path
    self.share = share
  }

  var isReadable: Bool { current != nil }

  /// Returns the growth since the last call.
  @discardableResult
  mutating func takeGrowth() -> UInt64 {
    guard let now = current else { return 0 }
    defer { last = now }
    return now > last ? now - last : 0
  }

  /// The number after `total=` in the line that begins with the share.
  private var current: UInt64? {
    guard let text = SystemText.read(path) else { return nil }
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.first == Substring(share.rawValue),
        let word = words.first(where: { $0.hasPrefix("total=") })
      else { continue }
      return UInt64(word.dropFirst("total=".count))
    }
    return nil
  }
}
