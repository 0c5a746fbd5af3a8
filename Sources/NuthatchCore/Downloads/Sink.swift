/// Where an answer's bytes go while they come.
public enum Sink: Sendable, Equatable {
  /// A file, which has its name only once it is complete; one that was there is replaced then, and stays when there is no
  /// new one. A device or a pipe is written into.
  case file(String)
  /// A file that the whole answer is added to the end of, once it is complete.
  case appended(String)
  /// A descriptor, written as the bytes come; the library has its own copy of it from `submit` on.
  case descriptor(Int32)
  /// Events of the kind `data`, for whoever takes the ticket's events; what isn't taken holds the transfer up.
  case events
}

/// A piece of an answer's body: of `data` events.
final class Chunk: Sendable {
  let bytes: [UInt8]
  private let whenGone: @Sendable (Int) -> Void

  init(_ bytes: [UInt8], whenGone: @escaping @Sendable (Int) -> Void) {
    self.bytes = bytes
    self.whenGone = whenGone
  }

  deinit { whenGone(bytes.count) }
}
