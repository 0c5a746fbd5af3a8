import CSystem
import Glibc

/// Notices when the default route goes another way, by the kernel's own messages (netlink).
///
///     let watch = LinkWatch { link in queue.linkChanged(to: link.kind, now: loop.now) }
///     loop.watch(watch.descriptor, UInt32(EPOLLIN.rawValue)) { _ in watch.readable() }
///
/// The loop watches `descriptor` and calls `readable` when there is something to read. The messages
/// themselves are thrown away: they say that something changed, and `LinkProbe` says what holds now. Confined
/// to one thread, like the queue.
final class LinkWatch {
  /// -1 when the kernel gives none, as in some containers: then nothing is noticed, and `link` stays as it
  /// was.
  private(set) var descriptor: Int32
  private(set) var link: Link
  private let probe: LinkProbe
  private let touched: () -> Void
  private let changed: (Link) -> Void

  /// `changed` gets the new link, when its kind or its interface has become another; `touched` hears of every change of a link,
  /// an address or a route, before that.
  init(
    _ probe: LinkProbe = LinkProbe(), touched: @escaping () -> Void = {}, changed: @escaping (Link) -> Void
  ) {
    self.probe = probe
    self.touched = touched
    self.changed = changed
    // Before the first look, so that no change falls in between.
    descriptor = LinkWatch.openSocket()
    link = probe.link()
    // A forked child must not take its parent's messages away.
    if descriptor >= 0 { _ = nhs_close_in_child(descriptor) }
  }

  deinit { stop() }

  /// To be called when `descriptor` can be read.
  func readable() {
    var message = [UInt8](repeating: 0, count: 8192)
    // ENOBUFS means that messages were lost: all the more reason to look.
    while true {
      let count = recv(descriptor, &message, message.count, Int32(MSG_DONTWAIT))
      if count <= 0, !(count < 0 && errno == EINTR) { break }
    }
    touched()
    look()
  }

  /// Looks for itself, for a program that knows better, or that has no descriptor.
  func look() {
    let now = probe.link()
    guard now != link else { return }
    link = now
    changed(now)
  }

  /// Closes the descriptor, which the loop must have stopped watching.
  func stop() {
    guard descriptor >= 0 else { return }
    nhs_keep_in_child(descriptor)
    close(descriptor)
    descriptor = -1
  }

  /// What `sockaddr_nl` of linux/netlink.h holds.
  private struct Address {
    var family = UInt16(AF_NETLINK)
    var padding: UInt16 = 0
    var port: UInt32 = 0
    /// RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR, RTMGRP_IPV6_ROUTE.
    var groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400
    /// Makes it as large as the `sockaddr` that it is passed as.
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
