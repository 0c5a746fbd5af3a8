import CSystem
import Glibc

/// Tells when the default route changes. The kernel reports changes over netlink.
///
///     let watch = LinkWatch { link in queue.linkChanged(to: link.kind, now: loop.now) }
///     loop.watch(watch.descriptor, UInt32(EPOLLIN.rawValue)) { _ in watch.readMessages() }
///
/// The loop watches `descriptor` and calls `readMessages` when there is data. The messages themselves are dropped: they only
/// say that something changed, and `LinkProbe` reads the present state. Confined to one thread, like the queue.
final class LinkWatch {
  /// -1 if the kernel provides no socket, as in some containers. Then no change is noticed, and `link` stays.
  private(set) var descriptor: Int32
  private(set) var link: Link
  private let probe: LinkProbe
  private let touched: () -> Void
  private let changed: (Link) -> Void

  /// `touched` is called for every change of a link, an address or a route. After it, `changed` gets the new link if its kind or
  /// interface changed.
  init(
    _ probe: LinkProbe = LinkProbe(), touched: @escaping () -> Void = {}, changed: @escaping (Link) -> Void
  ) {
    self.probe = probe
    self.touched = touched
    self.changed = changed
    // Open the socket before the first look, so that no change is missed.
    descriptor = LinkWatch.openSocket()
    link = probe.link()
    // A forked child must not read its parent's messages.
    if descriptor >= 0 { _ = nhs_close_in_child(descriptor) }
  }

  deinit { stop() }

  /// Call it when `descriptor` is readable.
  func readMessages() {
    var message = [UInt8](repeating: 0, count: 8192)
    // Read until nothing is left. After an error, too, something may have changed: ENOBUFS means that messages were lost.
    while true {
      let count = recv(descriptor, &message, message.count, Int32(MSG_DONTWAIT))
      if count <= 0, !(count < 0 && errno == EINTR) { break }
    }
    touched()
    look()
  }

  /// Reads the present link. For callers without a descriptor, or that know of a change.
  func look() {
    let now = probe.link()
    guard now != link else { return }
    link = now
    changed(now)
  }

  /// Closes the descriptor. The loop must have stopped watching it.
  func stop() {
    guard descriptor >= 0 else { return }
    nhs_keep_in_child(descriptor)
    close(descriptor)
    descriptor = -1
  }

  /// The layout of `sockaddr_nl` of linux/netlink.h.
  private struct Address {
    var family = UInt16(AF_NETLINK)
    var padding: UInt16 = 0
    var port: UInt32 = 0
    /// RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR, RTMGRP_IPV6_ROUTE.
    var groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400
    /// Padding: `bind` gets a `sockaddr`, which is longer than `sockaddr_nl`.
    var rest: UInt32 = 0
    static let length: socklen_t = 12
  }

  private static func openSocket() -> Int32 {
    let kind = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = socket(AF_NETLINK, kind, 0)
    guard descriptor >= 0 else { return -1 }
    var address = Address()
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, Address.length)
      }
    }
    guard result == 0 else {
      close(descriptor)
      return -1
    }
    return descriptor
  }
}
