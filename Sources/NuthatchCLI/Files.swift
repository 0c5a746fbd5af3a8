import Glibc
import NuthatchBase
import NuthatchCore

/// Files that appear at their names only when they are complete.
enum OutputFile {
  static func write(_ bytes: UnsafeRawBufferPointer, to path: String) throws(NuthatchError) {
    if let own = ownDescriptor(path) {
      return try write(bytes, to: fcntl(own, F_DUPFD_CLOEXEC, 3), path)
    }
    var status = stat()
    // Only a plain file is replaced; a device or a pipe is written into.
    if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      return try write(bytes, to: open(path, O_WRONLY | O_CLOEXEC), path)
    }
    let isReplaced = stat(path, &status) == 0
    let target = try resolved(path)
    HiddenFile.sweep(beside: target)
    let draft = try HiddenFile(beside: target, path)
    // A new file goes by the umask; one that was there stays as private as it was.
    if isReplaced { fchmod(draft.descriptor, status.st_mode & 0o777) }
    guard writeAll(bytes, to: draft.descriptor), draft.appear(as: target) else { throw failure(path) }
  }

  /// Puts a complete file in the place of whatever has that name: a link is replaced, not followed.
  static func replace(_ path: String, with bytes: UnsafeRawBufferPointer) throws(NuthatchError) {
    let draft = try HiddenFile(beside: path, path)
    guard writeAll(bytes, to: draft.descriptor), draft.appear(as: path) else { throw failure(path) }
  }

  /// Whether two names are those of one plain file, which is there or would be made.
  static func areOne(_ one: String, _ other: String) -> Bool {
    var (first, second) = (stat(), stat())
    guard stat(one, &first) == 0 else { return one == other }
    return first.st_mode & S_IFMT == S_IFREG && stat(other, &second) == 0 && first.isSameFile(as: second)
  }

  /// The bytes of a plain file; nil for what isn't one, can't be read, or is longer than a picture that is made here.
  static func content(of path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= 1 << 30
    else { return nil }
    let content = WholeFile.content(of: descriptor, atMost: (1 << 30) + 1)
    return content.flatMap { $0.count <= 1 << 30 ? $0 : nil }
  }

  /// Whether a plain file of this name holds exactly these bytes.
  static func has(_ bytes: UnsafeRawBufferPointer, at path: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
    guard Int(status.st_size) == bytes.count else { return false }
    var chunk = [UInt8](repeating: 0, count: 65_536)
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0, rest.prefix(count).elementsEqual(chunk.prefix(count)) else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  private static func write(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ path: String
  ) throws(NuthatchError) {
    guard descriptor >= 0 else { throw failure(path) }
    let isWritten = writeAll(bytes, to: descriptor)
    let error = errno
    // Some file systems tell of a full disk only now.
    let isClosed = close(descriptor) == 0
    if !isWritten { errno = error }
    guard isWritten, isClosed else { throw failure(path) }
  }

  /// Which of this process's descriptors a path such as `/dev/stdout` means; nil for all others. What a shell has opened is
  /// written into where it stands, as others who have it do: replaced, it would take with it what they write.
  static func ownDescriptor(_ path: String) -> Int32? {
    var target = path
    for _ in 0..<40 {
      for folder in ["/dev/fd/", "/proc/self/fd/", "/proc/\(getpid())/fd/"] where target.hasPrefix(folder) {
        return Int32(target.dropFirst(folder.count)).flatMap { $0 >= 0 ? $0 : nil }
      }
      guard let next = next(after: target) else { return nil }
      target = next
    }
    return nil
  }

  /// What a symbolic link leads to; nil when it is none.
  private static func next(after link: String) -> String? {
    var text = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(link, &text, text.count)
    if count < 0 { return nil }
    let next = String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let folder = link.lastIndex(of: "/").map { String(link[...$0]) } ?? ""
    return next.hasPrefix("/") ? next : folder + next
  }

  /// The file that a symbolic link means: it, not the link, is replaced, or made where there is none yet.
  static func resolved(_ path: String) throws(NuthatchError) -> String {
    var target = path
    for _ in 0..<40 {
      guard let next = next(after: target) else { return target }
      target = next
    }
    errno = ELOOP
    throw failure(path)
  }

  static func failure(_ path: String) -> NuthatchError {
    let code: ErrorCode = errno == ENOSPC || errno == EDQUOT ? .noSpace : .io
    return NuthatchError(code, "\(path) can't be written: \(String(cString: strerror(errno)))")
  }
}

/// A file that is written piece by piece, and gets its name when it is complete. Dropped before that, it leaves nothing.
final class DraftFile {
  private let path: String
  private let target: String
  /// Nil for a device or a pipe, which is written into.
  private let draft: HiddenFile?
  private var descriptor: Int32
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
    if followsLinks, let own = OutputFile.ownDescriptor(path) {
      (target, draft) = (path, nil)
      descriptor = fcntl(own, F_DUPFD_CLOEXEC, 3)
      guard descriptor >= 0 else { throw OutputFile.failure(path) }
    } else if isThere, status.st_mode & S_IFMT != S_IFREG {
      (target, draft) = (path, nil)
      descriptor = open(path, O_WRONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw OutputFile.failure(path) }
    } else {
      target = followsLinks ? try OutputFile.resolved(path) : path
      HiddenFile.sweep(beside: target)
      let draft = try HiddenFile(beside: target, path)
      self.draft = draft
      descriptor = draft.descriptor
      if isThere || isPrivate { fchmod(descriptor, isThere ? status.st_mode & 0o777 : 0o600) }
    }
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
      let isDone = draft?.appear(as: name ?? target) ?? (close(descriptor) == 0)
      if !isDone { reason = errno }
      descriptor = -1
    }
    guard reason != 0 else { return }
    errno = reason
    throw OutputFile.failure(path)
  }

  private func flush() {
    var rest = waiting[...]
    defer { waiting.removeAll(keepingCapacity: true) }
    while !rest.isEmpty, reason == 0 {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return reason = errno }
      rest = rest.dropFirst(count)
    }
  }
}

/// The named pipes that an answer is written into, held open from when somebody reads them: whoever makes a pipe and starts
/// both of its ends doesn't know which is first.
struct NamedPipes {
  private let descriptors: [Int32]

  /// Waits for their readers.
  ///
  /// - Throws: `cancelled` when a signal ends the wait.
  init(_ sinks: [Sink]) throws(NuthatchError) {
    var opened: [Int32] = []
    for sink in sinks {
      guard let path = sink.path, Self.isPipe(path) else { continue }
      var descriptor: Int32 = -1
      // Looks again and again, because a signal that comes before an open that waits doesn't end it.
      while true {
        descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor < 0, errno == ENXIO, Interruption.signal == nil else { break }
        poll(nil, 0, 20)
      }
      // What is wrong with it otherwise is told by who writes.
      if descriptor >= 0 { opened.append(descriptor) }
    }
    descriptors = opened
    guard Interruption.signal == nil else {
      close()
      throw NuthatchError(.cancelled, "interrupted")
    }
  }

  func close() { for descriptor in descriptors { Glibc.close(descriptor) } }

  private static func isPipe(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
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
