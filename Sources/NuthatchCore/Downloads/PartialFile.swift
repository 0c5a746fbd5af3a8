import CSystem
import Glibc
import NuthatchStore
import NuthatchTransport

/// The file that a download grows in. With `resumes`, it gets a hidden name beside its target (`.NAME.nuthatch-part`) as soon
/// as it has bytes that can be continued. A second hidden file (`.NAME.nuthatch-info`) says to which answer the bytes belong,
/// and has their hash. So another process can continue the download, or discard it.
///
/// Used by one thread at a time.
final class PartialFile {
  private(set) var count: Int64 = 0
  /// The validator of the whole answer; nil if a range of it can't be requested.
  var validator: Validator?
  var total: Int64?

  private let file: NewFile
  private let key: String
  /// The paths of the two hidden files; nil if the download can't be continued.
  private var hidden: (part: String, info: String)?
  /// Whether this file has its hidden name. Then the second hidden file is its own, too.
  private var hasName = false
  /// Whether no other user can create or rename files beside the target.
  private let keepsOthersOut: Bool
  private var hasher: OpaquePointer?
  private var checked: Int64 = 0
  private var checkedAt = nhs_monotonic_ns()

  /// The second hidden file is written after so many bytes, or nanoseconds. After a kill, only later bytes are fetched again.
  private static let interval: Int64 = 4 << 20
  private static let pause: Int64 = 500_000_000

  /// - Parameter key: identifies the request.
  init(for path: String, resumes: Bool, key: String) throws(NuthatchError) {
    let target = try NewFile.resolved(path)
    self.key = key
    let hidden = resumes ? Self.hiddenNames(target) : nil
    keepsOthersOut = FileDoor.isOurs(folder: NewFile.folder(of: target))
    if let hidden, let file = Self.claimed(hidden.part, target, keepsOthersOut) {
      self.file = file
      (self.hidden, hasName) = (hidden, true)
      hasher = nhs_hasher_new()
      if !readInfo() { try reset() }
      return
    }
    let unnamed = try NewFile(for: path)
    // If the file system doesn't support files without a name, the file has its hidden name from the beginning.
    if let hidden, !unnamed.isUnnamed,
      let file = Self.claimed(hidden.part, target, keepsOthersOut, creates: true)
    {
      self.file = file
      (self.hidden, hasName) = (hidden, true)
    } else {
      file = unnamed
      if unnamed.isUnnamed { self.hidden = hidden }
    }
    if self.hidden != nil { hasher = nhs_hasher_new() }
  }

  deinit { nhs_hasher_free(hasher) }

  var target: String { file.target }

  /// Discards all bytes and starts again.
  func reset() throws(NuthatchError) {
    guard ftruncate(file.descriptor, 0) == 0 else { throw NewFile.failure(target) }
    (count, checked, validator, total) = (0, 0, nil, nil)
    guard hidden != nil else { return }
    forget()
    nhs_hasher_free(hasher)
    hasher = nhs_hasher_new()
  }

  /// Reserves disk space for all bytes, so that a full disk is an error now.
  func reserve(_ total: Int64) throws(NuthatchError) {
    guard total > count, nhs_reserve_ahead(file.descriptor, count, total - count) != 0 else { return }
    // Most other errors mean that the file system can't reserve space.
    if errno == ENOSPC || errno == EDQUOT || errno == EFBIG { throw NewFile.failure(target) }
  }

  func append(_ bytes: UnsafeRawBufferPointer) throws(NuthatchError) {
    guard NewFile.write(bytes, to: file.descriptor, at: count) else { throw NewFile.failure(target) }
    count += Int64(bytes.count)
    guard let hasher else { return }
    nhs_hasher_add(hasher, bytes.baseAddress, bytes.count)
    let now = nhs_monotonic_ns()
    guard count - checked >= Self.interval || now - checkedAt >= Self.pause else { return }
    checkedAt = now
    writeInfo()
  }

  /// Returns the bytes, for another thread; nil if no descriptor is free.
  func bytesSoFar() -> SavedBytes? {
    let own = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 3)
    return own < 0 ? nil : SavedBytes(own, count)
  }

  /// Keeps the file, so that a later request can continue it. If that isn't possible, discards it.
  func keep() {
    guard hidden != nil, validator != nil, count > 0 else { return discard() }
    writeInfo()
    if checked == count { file.keep() } else { discard() }
  }

  func discard() { forget() }

  private func forget() {
    if let hidden, hasName, Self.isOurs(hidden.info, keepsOthersOut) { unlink(hidden.info) }
  }

  /// Whether this user has made the file; other files aren't removed.
  private static func isOurs(_ path: String, _ keepsOthersOut: Bool) -> Bool {
    guard let descriptor = try? FileDoor.open(path, O_RDONLY, keepsOthersOut: keepsOthersOut) else {
      return false
    }
    close(descriptor)
    return true
  }

  /// Gives this file, and copies of it, their names, and appends the bytes to other files. After an error, appended bytes are
  /// taken back; a copy that has its name already keeps it.
  ///
  /// - Parameter sinks: the files in the order of the request; the first is this one.
  func appear(as sinks: [Sink]) throws(NuthatchError) {
    // Remove reserved space that wasn't used.
    guard ftruncate(file.descriptor, Int(count)) == 0 else { throw NewFile.failure(target) }
    var copies: [NewFile] = []
    for sink in sinks.dropFirst() {
      guard case .file(let path) = sink else { continue }
      let copy = try NewFile(for: path)
      try copyAll(to: copy.descriptor, at: 0, path)
      try copy.settle()
      copies.append(copy)
    }
    try file.settle()
    var added: [Addition] = []
    defer { for one in added { close(one.file) } }
    do throws(NuthatchError) {
      for sink in sinks {
        guard case .appended(let path) = sink else { continue }
        added.append(try add(to: path))
      }
      for copy in copies { try copy.appear() }
      if case .file = sinks.first { try file.appear() }
    } catch {
      // The last first, because two may be the same file.
      for one in added.reversed() { one.takeBack() }
      throw error
    }
    forget()
  }

  /// A file that bytes were appended to, and its state before. The owner must close it.
  private struct Addition {
    let path: String
    let file: Int32
    /// Its length before.
    let end: Int
    /// Whether it was created.
    let isNew: Bool

    init(_ path: String) throws(NuthatchError) {
      self.path = path
      var descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      isNew = descriptor >= 0
      // Here, too, O_CREAT is needed: for a link whose target is missing.
      if !isNew, errno == EEXIST { descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666) }
      guard descriptor >= 0 else { throw NewFile.failure(path) }
      file = descriptor
      end = lseek(descriptor, 0, SEEK_END)
    }

    func takeBack() {
      guard end >= 0 else { return }
      ftruncate(file, end)
      var own = stat()
      // Another process may have replaced it, or written to it.
      if isNew, fstat(file, &own) == 0, own.st_size == 0, FileDoor.has(path, file) { unlink(path) }
    }
  }

  private func add(to path: String) throws(NuthatchError) -> Addition {
    let addition = try Addition(path)
    do throws(NuthatchError) {
      guard addition.end >= 0 else { throw NewFile.failure(path) }
      try copyAll(to: addition.file, at: Int64(addition.end), path)
      guard fsync(addition.file) == 0 else { throw NewFile.failure(path) }
    } catch {
      // Append all bytes or none.
      addition.takeBack()
      close(addition.file)
      throw error
    }
    return addition
  }

  private func copyAll(to other: Int32, at place: Int64, _ path: String) throws(NuthatchError) {
    var done: Int64 = 0
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    while done < count {
      let read = pread(file.descriptor, &buffer, Int(min(Int64(buffer.count), count - done)), Int(done))
      if read < 0, errno == EINTR { continue }
      guard read > 0 else { throw NewFile.failure(target) }
      let isWritten = buffer.withUnsafeBytes {
        NewFile.write(UnsafeRawBufferPointer(rebasing: $0[..<read]), to: other, at: place + done)
      }
      guard isWritten else { throw NewFile.failure(path) }
      done += Int64(read)
    }
  }

  // MARK: Continuing

  private static func hiddenNames(_ target: String) -> (part: String, info: String) {
    let name = target[(target.lastIndex(of: "/").map(target.index(after:)) ?? target.startIndex)...]
    let both = "\(NewFile.folder(of: target))/.\(name).nuthatch-"
    return (both + "part", both + "info")
  }

  /// Returns the hidden file beside the target, locked for this process; nil if there is none, another process has locked it,
  /// or another user has made it.
  private static func claimed(
    _ part: String, _ target: String, _ keepsOthersOut: Bool, creates: Bool = false
  ) -> NewFile? {
    for _ in 0..<3 {
      if creates {
        // On a file system with its own modes and owners, our file may look like another user's: then it is removed again.
        let made = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if made >= 0 { close(made) }
        if made >= 0, !isOurs(part, keepsOthersOut) { unlink(part) }
      }
      guard let descriptor = try? FileDoor.open(part, O_RDWR, keepsOthersOut: keepsOthersOut) else {
        return nil
      }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        close(descriptor)
        return nil
      }
      // The previous owner may have given it its final name meanwhile.
      if FileDoor.has(part, descriptor) {
        return NewFile(descriptor, named: part, target: target)
      }
      close(descriptor)
    }
    return nil
  }

  private func writeInfo() {
    guard let hidden, let hasher, let validator else { return }
    if !hasName {
      // Another process may have started the same download; then its file is the one to continue.
      guard file.hide(as: hidden.part) else {
        self.hidden = nil
        return
      }
      hasName = true
    }
    var text = "nuthatch-part 1\nkey \(key)\n\(validator.name) \(validator.value)\n"
    if let total { text += "total \(total)\n" }
    text += "bytes \(count)\nhash \(String(nhs_hasher_value(hasher), radix: 16))\n"
    // Files of other users stay, and then this file can't be continued.
    guard access(hidden.info, F_OK) != 0 || Self.isOurs(hidden.info, keepsOthersOut),
      SmallFile.replace(hidden.info, Array(text.utf8))
    else { return }
    checked = count
  }

  /// Reads the second hidden file. Returns false if there is nothing to continue.
  private func readInfo() -> Bool {
    guard let hidden else { return false }
    guard let bytes = SmallFile.read(hidden.info, keepsOthersOut: keepsOthersOut) else { return false }
    var fields: [String: String] = [:]
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 1)
      if words.count == 2 { fields[String(words[0])] = String(words[1]) }
    }
    guard fields["nuthatch-part"] == "1", fields["key"] == key, let validator = Validator(fields),
      let count = fields["bytes"].flatMap({ Int64($0) }), count > 0, let hash = fields["hash"],
      isProven(count, hash), ftruncate(file.descriptor, Int(count)) == 0
    else { return false }
    (self.count, checked, self.validator, total) = (
      count, count, validator, fields["total"].flatMap { Int64($0) }
    )
    return true
  }

  private func isProven(_ count: Int64, _ hash: String) -> Bool {
    var done: Int64 = 0
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    while done < count {
      let read = pread(file.descriptor, &buffer, Int(min(Int64(buffer.count), count - done)), Int(done))
      if read < 0, errno == EINTR { continue }
      guard read > 0 else { return false }
      nhs_hasher_add(hasher, buffer, read)
      done += Int64(read)
    }
    return hasher.map { String(nhs_hasher_value($0), radix: 16) } == hash
  }
}

/// The beginning of a file. These bytes no longer change.
final class SavedBytes: Sendable {
  private let descriptor: Int32
  let count: Int64

  init(_ descriptor: Int32, _ count: Int64) {
    self.descriptor = descriptor
    self.count = count
  }

  deinit { close(descriptor) }

  /// Returns false if not all bytes can be read, or there is no memory for them.
  func read(into buffer: ByteBuffer) -> Bool {
    buffer.reserve(announced: count)
    var piece = [UInt8](repeating: 0, count: 1 << 18)
    while Int64(buffer.count) < count {
      let wanted = Int(min(Int64(piece.count), count - Int64(buffer.count)))
      let read = pread(descriptor, &piece, wanted, buffer.count)
      if read < 0, errno == EINTR { continue }
      guard read > 0,
        piece.withUnsafeBytes({ buffer.append(UnsafeRawBufferPointer(rebasing: $0[..<read])) }) == 0
      else { return false }
    }
    buffer.trim()
    return true
  }
}

/// The header that shows that an answer is still the same, byte for byte.
struct Validator: Equatable, Sendable {
  let name: String
  let value: String

  /// Returns nil if there is none, or if ranges can't continue the saved bytes.
  init?(_ head: ResponseHead) {
    guard head.fields["Content-Encoding"] == nil, head.fields["Accept-Ranges"]?.lowercased() != "none" else {
      return nil
    }
    if let tag = head.fields["ETag"], !tag.hasPrefix("W/") {
      (name, value) = ("etag", tag)
    } else if head.fields["ETag"] == nil, let date = head.fields["Last-Modified"],
      date != head.fields["Date"]
    {
      (name, value) = ("last-modified", date)
    } else {
      return nil
    }
  }

  init?(_ fields: [String: String]) {
    for name in ["etag", "last-modified"] {
      if let value = fields[name] {
        (self.name, self.value) = (name, value)
        return
      }
    }
    return nil
  }
}
