/// A place where an answer is saved while it arrives.
public enum Sink: Sendable, Equatable {
  /// A file. It appears under its name only when it is complete; then it replaces an older file. If the download fails, the
  /// older file stays. Bytes for a device or a pipe are written while they arrive.
  case file(String)
  /// A file; the answer is added to its end when it is complete.
  case appended(String)
  /// A descriptor, written while bytes arrive; the library has its own copy of it from `submit` on.
  case descriptor(Int32)
  /// Events of the kind `data`. If the program doesn't take them, the transfer waits.
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
