import Glibc
import NuthatchBase
import NuthatchCore

/// Files that appear at their names only when they are complete.
enum OutputFile {
  /// Puts a complete file in the place of the one that has that name, or writes into a device or a pipe.
  ///
  /// - Parameter followsLinks: as for a draft.
  static func write(
    _ bytes: UnsafeRawBufferPointer, to path: String, followsLinks: Bool = true
  ) throws(NuthatchError) {
    let draft = try DraftFile(path, followsLinks: followsLinks)
    guard writeAll(bytes, to: draft.descriptor) else { throw NewFile.failure(path) }
    try draft.finish()
  }

  /// Whether two names are those of one plain file, which is there or would be made.
  static func areOne(_ one: String, _ other: String) -> Bool {
    var (first, second) = (stat(), stat())
    guard stat(one, &first) == 0 else { return one == other }
    return first.st_mode & S_IFMT == S_IFREG && stat(other, &second) == 0 && first.isSameFile(as: second)
  }

  /// The bytes of a plain file, if it has `size` of them; nil for what isn't one, can't be read, or is longer than a picture
  /// that is made here.
  static func content(of path: String, size: Int? = nil) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= 1 << 30,
      size == nil || status.st_size == size
    else { return nil }
    let content = WholeFile.content(of: descriptor, atMost: (1 << 30) + 1)
    return content.flatMap { $0.count <= 1 << 30 ? $0 : nil }
  }

  /// Whether a plain file of this name holds exactly these bytes.
  static func has(_ bytes: UnsafeRawBufferPointer, at path: String) -> Bool {
    content(of: path, size: bytes.count)?.elementsEqual(bytes) == true
  }

  /// Which of this process's descriptors a path such as `/dev/stdout` means; nil for all others. What a shell has opened is
  /// written into where it stands, as others who have it do: replaced, it would take with it what they write.
  static func ownDescriptor(_ path: String) -> Int32? {
    var target = path
    for _ in 0..<40 {
      for folder in ["/dev/fd/", "/proc/self/fd/", "/proc/\(getpid())/fd/"] where target.hasPrefix(folder) {
        return Int32(target.dropFirst(folder.count)).flatMap { $0 >= 0 ? $0 : nil }
      }
      guard let next = NewFile.next(after: target) else { return nil }
      target = next
    }
    return nil
  }
}

/// A file that is written piece by piece, and gets its name when it is complete. Dropped before that, it leaves nothing.
final class DraftFile {
  private let path: String
  /// Nil for a device or a pipe, which is written into.
  private let draft: NewFile?
  /// Nil for what is usual there.
  private let mode: mode_t?
  private(set) var descriptor: Int32
  private var waiting: [UInt8] = []
  /// Why something could not be written.
  private var reason: Int32 = 0

  /// - Parameters:
  ///   - followsLinks: whether what a symbolic link means is written, and not the link replaced; and devices and pipes are
  ///     written into.
  ///   - isPrivate: whether a new one is for its owner only.
  init(_ path: String, followsLinks: Bool = true, isPrivate: Bool = false) throws(NuthatchError) {
    self.path = path
    var status = stat()
    let isThere = followsLinks && stat(path, &status) == 0
    mode = isPrivate && !isThere ? 0o600 : nil
    if followsLinks, let own = OutputFile.ownDescriptor(path) {
      draft = nil
      descriptor = fcntl(own, F_DUPFD_CLOEXEC, 3)
    } else if isThere, status.st_mode & S_IFMT != S_IFREG {
      draft = nil
      descriptor = try NewFile.openDevice(path)
      // From here on a write waits until the reader takes it.
      _ = fcntl(descriptor, F_SETFL, O_WRONLY)
    } else {
      let file = try NewFile(for: path, followsLinks: followsLinks)
      (draft, descriptor) = (file, file.descriptor)
    }
    guard descriptor >= 0 else { throw NewFile.failure(path) }
  }

  deinit { if draft == nil, descriptor >= 0 { close(descriptor) } }

  func write(_ text: String) { write(Array(text.utf8)) }

  func write(_ bytes: [UInt8]) {
    waiting += bytes
    if waiting.count >= 65_536 { flush() }
  }

  /// Gives it its name, or another one.
  ///
  /// - Throws: `io` or `no_space`, also for what could not be written before.
  func finish(as name: String? = nil) throws(NuthatchError) {
    flush()
    if reason == 0 {
      if let draft { return try draft.appear(as: name, mode: mode) }
      if close(descriptor) != 0 { reason = errno }
      descriptor = -1
    }
    guard reason != 0 else { return }
    errno = reason
    throw NewFile.failure(path)
  }

  private func flush() {
    let isWritten = reason != 0 || waiting.withUnsafeBytes { NewFile.write($0, to: descriptor, at: nil) }
    if !isWritten { reason = errno }
    waiting.removeAll(keepingCapacity: true)
  }
}

/// Files that are read whole.
enum InputFile {
  /// `-` is standard input.
  static func read(_ path: String) throws(UsageError) -> [UInt8] {
    let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path) }
    defer { if path != "-" { close(descriptor) } }
    guard let content = WholeFile.content(of: descriptor, atMost: .max) else { throw failure(path) }
    return content
  }

  private static func failure(_ path: String) -> UsageError {
    UsageError("\(path) can't be read: \(String(cString: strerror(errno)))")
  }
}

extension stat {
  /// Whether both tell of one file, under whatever name.
  func isSameFile(as other: stat) -> Bool { st_dev == other.st_dev && st_ino == other.st_ino }
}
