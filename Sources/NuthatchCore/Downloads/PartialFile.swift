import CSystem
import Glibc
import NuthatchStore
import NuthatchTransport

/// The file that a download grows in. With `resumes`, it gets a hidden name beside its target (`.NAME.nuthatch-part`) as soon
/// as there is something to go on with, and a second hidden file (`.NAME.nuthatch-info`) says what it is a part of and proves
/// its beginning, so that another process goes on with it, or throws it away.
///
/// One thread at a time.
final class PartialFile {
  private(set) var count: Int64 = 0
  /// Of what it is a part; nil when that can't be asked for again.
  var validator: Validator?
  var total: Int64?

  private let file: NewFile
  private let key: String
  /// Nil when it can't be gone on with.
  private var hidden: (part: String, info: String)?
  /// Whether the hidden names are this file's.
  private var hasName = false
  /// Whether nobody else can make or rename anything beside the target.
  private let keepsOthersOut: Bool
  private var hasher: OpaquePointer?
  private var checked: Int64 = 0
  private var checkedAt = nhs_monotonic_ns()

  /// So many bytes may have to be fetched again after a kill, or what came in so many nanoseconds where that is less.
  private static let interval: Int64 = 4 << 20
  private static let pause: Int64 = 500_000_000

  /// - Parameter key: says for which request it is.
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
    // Where there are no files without a name, it has its hidden one from the beginning.
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

  /// Begins anew.
  func reset() throws(NuthatchError) {
    guard ftruncate(file.descriptor, 0) == 0 else { throw NewFile.failure(target) }
    (count, checked, validator, total) = (0, 0, nil, nil)
    guard hidden != nil else { return }
    forget()
    nhs_hasher_free(hasher)
    hasher = nhs_hasher_new()
  }

  /// Room for all that is to come, or an error now.
  func reserve(_ total: Int64) throws(NuthatchError) {
    guard total > count, nhs_reserve_ahead(file.descriptor, count, total - count) != 0 else { return }
    // Most other faults say that the file system can't do it.
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

  /// What it holds, for another thread; nil when there is no descriptor left for that.
  func bytesSoFar() -> SavedBytes? {
    let own = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 3)
    return own < 0 ? nil : SavedBytes(own, count)
  }

  /// Leaves it to be gone on with, where that is possible; else nothing is left.
  func keep() {
    guard hidden != nil, validator != nil, count > 0 else { return discard() }
    writeInfo()
    if checked == count { file.keep() } else { discard() }
  }

  func discard() { forget() }

  private func forget() {
    if let hidden, hasName, Self.isOurs(hidden.info, keepsOthersOut) { unlink(hidden.info) }
  }

  /// What others have put there isn't removed either.
  private static func isOurs(_ path: String, _ keepsOthersOut: Bool) -> Bool {
    guard let descriptor = try? FileDoor.open(path, O_RDONLY, keepsOthersOut: keepsOthersOut) else {
      return false
    }
    close(descriptor)
    return true
  }

  /// Gives it, and copies of it, their names, all of them or none.
  ///
  /// - Parameter sinks: files in the order in which they were asked for; the first is this one.
  func appear(as sinks: [Sink]) throws(NuthatchError) {
    // What was reserved and didn't come.
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
      // To all of them, or to none; the last first, because two may be the same file.
      for one in added.reversed() { one.takeBack() }
      throw error
    }
    forget()
  }

  /// A file that was added to, which is to be closed, and what it was before.
  private struct Addition {
    let path: String
    let file: Int32
    /// Where it ended.
    let end: Int
    /// Whether it was there.
    let isNew: Bool

    init(_ path: String) throws(NuthatchError) {
      self.path = path
      var descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      isNew = descriptor >= 0
      // Also where a link leads to nothing.
      if !isNew, errno == EEXIST { descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666) }
      guard descriptor >= 0 else { throw NewFile.failure(path) }
      file = descriptor
      end = lseek(descriptor, 0, SEEK_END)
    }

    func takeBack() {
      guard end >= 0 else { return }
      ftruncate(file, end)
      var own = stat()
      // Somebody else may have put another one there, or something into it.
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
      // All of it, or nothing.
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

  // MARK: Going on

  private static func hiddenNames(_ target: String) -> (part: String, info: String) {
    let name = target[(target.lastIndex(of: "/").map(target.index(after:)) ?? target.startIndex)...]
    let both = "\(NewFile.folder(of: target))/.\(name).nuthatch-"
    return (both + "part", both + "info")
  }

  /// The hidden file beside the target, for this process alone; nil when there is none, another one is at it, or it isn't
  /// one that this user made.
  private static func claimed(
    _ part: String, _ target: String, _ keepsOthersOut: Bool, creates: Bool = false
  ) -> NewFile? {
    for _ in 0..<3 {
      if creates {
        // Where a file system gives modes and owners of its own, ours may look like another's: then nothing is left.
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
      // Whoever had it may have given it its name since.
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
      // Another process may have begun the same meanwhile; then that one's is gone on with.
      guard file.hide(as: hidden.part) else {
        self.hidden = nil
        return
      }
      hasName = true
    }
    var text = "nuthatch-part 1\nkey \(key)\n\(validator.name) \(validator.value)\n"
    if let total { text += "total \(total)\n" }
    text += "bytes \(count)\nhash \(String(nhs_hasher_value(hasher), radix: 16))\n"
    // What others have put there stays, and this file can't be gone on with.
    guard access(hidden.info, F_OK) != 0 || Self.isOurs(hidden.info, keepsOthersOut),
      SmallFile.replace(hidden.info, Array(text.utf8))
    else { return }
    checked = count
  }

  /// False when there is nothing to go on with.
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

/// The beginning of a file that doesn't change there any more.
final class SavedBytes: Sendable {
  private let descriptor: Int32
  let count: Int64

  init(_ descriptor: Int32, _ count: Int64) {
    self.descriptor = descriptor
    self.count = count
  }

  deinit { close(descriptor) }

  /// False when not all of them can be read, or there is no room for them.
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

/// What says that an answer is still the same, byte for byte.
struct Validator: Equatable, Sendable {
  let name: String
  let value: String

  /// Nil where nothing does, or a part of the body would be no part of what is kept.
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
