import CNuthatch
import NuthatchCore

/// The listener for events without a ticket.
struct Listening: Sendable {
  let callback: nh_callback?
  private let userBits: UInt

  init(_ callback: nh_callback?, _ user: UnsafeMutableRawPointer?) {
    self.callback = callback
    userBits = UInt(bitPattern: user)
  }

  /// The library never follows this pointer and treats it as a number.
  var userData: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: userBits) }
}

/// An event without a ticket.
struct Notification: Sendable {
  let notice: Notice
  let listening: Listening

  /// Events of a program that never polls don't pile up: of each site only the newest is kept, and at most two of activity, which
  /// alternate.
  func add(to notes: inout [Notification]) {
    switch notice {
    case .reachability(let site, _):
      notes.removeAll { if case .reachability(site, _) = $0.notice { true } else { false } }
    case .activity:
      if notes.count(where: \.isActivity) > 1 { notes.removeAll(where: \.isActivity) }
    case .ended, .secretWanted: break
    }
    notes.append(self)
  }

  private var isActivity: Bool { if case .activity = notice { true } else { false } }
}

/// The listeners of one handle.
final class Listeners: Sendable {
  private struct Book {
    var handlers: [String: Listening] = [:]
    /// The listener for nil gets questions for all other providers.
    var providers: [String?: Listening] = [:]
    var sites: [String: Listening] = [:]
    var activity: Listening?
    var isListening = false
  }

  private let book = Locked(Book())

  func attach(_ handler: String, _ listening: Listening?) {
    book.withLock { $0.handlers[handler] = listening }
  }

  func ask(_ provider: String?, _ listening: Listening) {
    book.withLock { $0.providers[provider] = listening }
  }

  func watch(_ site: String, _ listening: Listening) { book.withLock { $0.sites[site] = listening } }

  func watchActivity(_ listening: Listening) { book.withLock { $0.activity = listening } }

  /// Returns true at the first call only.
  func beginsToListen() -> Bool {
    book.withLock { book in
      defer { book.isListening = true }
      return !book.isListening
    }
  }

  /// Returns the notification for a notice, or nil if it has no listener.
  func notification(of notice: Notice) -> Notification? {
    let found = book.withLock { book in
      switch notice {
      case .ended(let item): item.handler.flatMap { book.handlers[$0] }
      case .secretWanted(let provider): book.providers[provider] ?? book.providers[nil]
      case .reachability(let site, _): book.sites[site]
      case .activity: book.activity
      }
    }
    return found.map { Notification(notice: notice, listening: $0) }
  }
}
