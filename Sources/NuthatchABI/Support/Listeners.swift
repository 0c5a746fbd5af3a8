import CNuthatch
import NuthatchCore

/// Whom events without a ticket go to.
struct Listening: Sendable {
  let callback: nh_callback?
  private let userBits: UInt

  init(_ callback: nh_callback?, _ user: UnsafeMutableRawPointer?) {
    self.callback = callback
    userBits = UInt(bitPattern: user)
  }

  /// Never followed here: a number as far as the library is concerned.
  var userData: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: userBits) }
}

/// Something to tell that belongs to no ticket.
struct Notification: Sendable {
  let notice: Notice
  let listening: Listening

  /// Of a site only the newest counts, so that who never asks doesn't pile them up.
  func add(to notes: inout [Notification]) {
    if case .reachability(let site, _) = notice {
      notes.removeAll { if case .reachability(site, _) = $0.notice { true } else { false } }
    }
    notes.append(self)
  }
}

/// Who listens for what, of one handle.
final class Listeners: Sendable {
  private struct Book {
    var handlers: [String: Listening] = [:]
    /// The one for nil gets what nobody else does.
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

  /// True for the first who asks.
  func beginsToListen() -> Bool {
    book.withLock { book in
      defer { book.isListening = true }
      return !book.isListening
    }
  }

  /// Nil when nobody wants to hear of it.
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
