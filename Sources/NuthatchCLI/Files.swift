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
    let (draft, descriptor) = try newDraft(beside: target, path)
    do throws(NuthatchError) {
      // A new file goes by the umask; one that was there stays as private as it was.
      if isReplaced { fchmod(descriptor, status.st_mode & 0o777) }
      try write(bytes, to: descriptor, path)
      guard rename(draft, target) == 0 else { throw failure(path) }
    } catch {
      unlink(draft)
      throw error
    }
  }

  /// Puts a complete file in the place of whatever has that name: a link is replaced, not followed.
  static func replace(_ path: String, with bytes: UnsafeRawBufferPointer) throws(NuthatchError) {
    let (draft, descriptor) = try newDraft(beside: path, path)
    do throws(NuthatchError) {
      try write(bytes, to: descriptor, path)
      guard rename(draft, path) == 0 else { throw failure(path) }
    } catch {
      let reason = errno
      unlink(draft)
      errno = reason
      throw error
    }
  }

  /// A new file in the folder of `target`, which nobody else has: another run may have left its own behind, even
  /// under this process's number.
  static func newDraft(beside target: String, _ path: String) throws(NuthatchError) -> (String, Int32) {
    let folder = target.lastIndex(of: "/").map { String(target[...$0]) } ?? ""
    for attempt in 0..<1000 {
      let draft = "\(folder).nuthatch-\(getpid())-\(attempt).part"
      let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      if descriptor >= 0 { return (draft, descriptor) }
      if errno != EEXIST { break }
    }
    throw failure(path)
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
  private let draft: String?
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
      // A device or a pipe is written into.
      (target, draft) = (path, nil)
      descriptor = open(path, O_WRONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw OutputFile.failure(path) }
    } else {
      target = followsLinks ? try OutputFile.resolved(path) : path
      let made = try OutputFile.newDraft(beside: target, path)
      (draft, descriptor) = (made.0, made.1)
      if isThere { fchmod(descriptor, status.st_mode & 0o777) }
    }
  }

  deinit {
    guard descriptor >= 0 else { return }
    close(descriptor)
    if let draft { unlink(draft) }
  }

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
    let isClosed = close(descriptor) == 0
    descriptor = -1
    if reason == 0, !isClosed { reason = errno }
    if reason == 0, let draft, rename(draft, target) != 0 { reason = errno }
    guard reason != 0 else { return }
    if let draft { unlink(draft) }
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
