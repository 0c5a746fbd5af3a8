import Glibc
import NuthatchCore

/// Files that appear at their names only when they are complete.
enum OutputFile {
  static func write(_ bytes: UnsafeRawBufferPointer, to path: String) throws(NuthatchError) {
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

  /// The file that a symbolic link means: it, not the link, is replaced, or made where there is none yet.
  static func resolved(_ path: String) throws(NuthatchError) -> String {
    var target = path
    for _ in 0..<40 {
      var text = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = readlink(target, &text, text.count)
      if count < 0 { return target }
      let next = String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let folder = target.lastIndex(of: "/").map { String(target[...$0]) } ?? ""
      target = next.hasPrefix("/") ? next : folder + next
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

  /// - Parameter followsLinks: whether what a symbolic link means is written, and not the link replaced; and devices and
  ///   pipes are written into.
  init(_ path: String, followsLinks: Bool = true) throws(NuthatchError) {
    self.path = path
    var status = stat()
    let isThere = followsLinks && stat(path, &status) == 0
    if isThere, status.st_mode & S_IFMT != S_IFREG {
      (target, draft) = (path, nil)
      descriptor = open(path, O_WRONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw OutputFile.failure(path) }
    } else {
      target = followsLinks ? try OutputFile.resolved(path) : path
      HiddenFile.sweep(beside: target)
      let draft = try HiddenFile(beside: target, path)
      self.draft = draft
      descriptor = draft.descriptor
      if isThere { fchmod(descriptor, status.st_mode & 0o777) }
    }
  }

  deinit { if draft == nil, descriptor >= 0 { close(descriptor) } }

  func write(_ text: String) { write(Array(text.utf8)) }

  func write(_ bytes: [UInt8]) {
    waiting += bytes
    if waiting.count >= 65_536 { flush() }
  }

  /// Gives it its name.
  ///
  /// - Throws: `io` or `no_space`, also for what could not be written before.
  func finish() throws(NuthatchError) {
    flush()
    if reason == 0 {
      let isDone = draft?.appear(as: target) ?? (close(descriptor) == 0)
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
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure(path) }
      if count == 0 { return content }
      content += chunk[..<count]
    }
  }

  private static func failure(_ path: String) -> UsageError {
    UsageError("\(path) can't be read: \(String(cString: strerror(errno)))")
  }
}
