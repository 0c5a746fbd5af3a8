import Glibc
import NuthatchBase
import NuthatchCore

/// Files that appear at their names only when they are complete.
enum OutputFile {
  /// Replaces the file of that name with a complete one, or writes into a device or a pipe.
  ///
  /// - Parameter followsLinks: see `DraftFile`.
  static func write(
    _ bytes: UnsafeRawBufferPointer, to path: String, followsLinks: Bool = true
  ) throws(NuthatchError) {
    let draft = try DraftFile(path, followsLinks: followsLinks)
    guard writeAll(bytes, to: draft.descriptor) else { throw NewFile.failure(path) }
    try draft.finish()
  }

  /// Returns whether two paths name the same plain file, or are equal and name no file yet.
  static func areOne(_ one: String, _ other: String) -> Bool {
    var (first, second) = (stat(), stat())
    guard stat(one, &first) == 0 else { return one == other }
    return first.st_mode & S_IFMT == S_IFREG && stat(other, &second) == 0 && first.isSameFile(as: second)
  }

  /// Returns the bytes of a plain file. Returns nil if it is not a plain file, can't be read, is larger than 1 GiB, or `size` is
  /// given and differs.
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

  /// Returns whether a plain file of this name has exactly these bytes.
  static func has(_ bytes: UnsafeRawBufferPointer, at path: String) -> Bool {
    content(of: path, size: bytes.count)?.elementsEqual(bytes) == true
  }

  /// Returns this process's descriptor that a path such as `/dev/stdout` names; nil for other paths. A file that a shell has
  /// opened must be written through that descriptor: if it were replaced, output of other programs to it would be lost.
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

/// A file that is written piece by piece, and appears under its name when it is complete. An unfinished one leaves nothing.
final class DraftFile {
  private let path: String
  /// Nil for a device, a pipe, and a path that names a descriptor of this process: bytes are written into these directly.
  private let draft: NewFile?
  /// Nil: the usual mode.
  private let mode: mode_t?
  private(set) var descriptor: Int32
  private var waiting: [UInt8] = []
  /// The error number of the first write that failed, or 0.
  private var reason: Int32 = 0

  /// - Parameters:
  ///   - followsLinks: whether the target of a symbolic link is written. If false, the link is replaced. If true, bytes are also
  ///     written into a device, a pipe or a descriptor of this process.
  ///   - isPrivate: whether only the owner may read a new file.
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
      // Clear O_NONBLOCK: a write waits for the reader.
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

  /// Makes the complete file appear under its path, or under `name`.
  ///
  /// - Throws: `io` or `no_space`, also for an earlier write that failed.
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
  /// Reads a file; `-` is standard input.
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
  /// Returns whether both describe the same file. It may have several names.
  func isSameFile(as other: stat) -> Bool { st_dev == other.st_dev && st_ino == other.st_ino }
}
