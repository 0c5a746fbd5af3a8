/// A place where an answer is saved while it arrives.
public enum Sink: Sendable, Equatable {
  /// A file. It appears under its name only when it is complete; then it replaces an older file. If the download fails, the older file
  /// stays. A device or a pipe is written to.
  case file(String)
  /// A file; the answer is added to its end when it is complete.
  case appended(String)
  /// A descriptor, written while bytes arrive; the library has its own copy of it from `submit` on.
  case descriptor(Int32)
  /// Events of the kind `data` of the ticket. If they aren't taken, the transfer waits.
  case events
}

/// A piece of an answer's body, in a `data` event.
final class Chunk: Sendable {
  let bytes: [UInt8]
  private let whenGone: @Sendable (Int) -> Void

  init(_ bytes: [UInt8], whenGone: @escaping @Sendable (Int) -> Void) {
    self.bytes = bytes
    self.whenGone = whenGone
  }

  deinit { whenGone(bytes.count) }
}
