import CSystem
import Glibc

/// A list that can't be read, or not to its end.
struct ListFault: Error {
  var message: String

  init(_ message: String) { self.message = message }
}

/// The lines of a file or of standard input, unpacked when they come in gzip, read as they are needed.
final class LineReader {
  enum Step {
    /// Without its line break.
    case line([UInt8])
    /// None is complete yet.
    case idle
    case end
  }

  /// Whoever has longer lines has no list.
  static let longest = 16 << 20

  let name: String
  /// How many lines have come.
  private(set) var lines = 0
  /// Bytes that were read, before they were unpacked, and how many there are; nil for what isn't a plain file.
  private(set) var bytesRead: Int64 = 0
  private(set) var size: Int64?

  /// Of `bytesRead`, those that the lines so far took, as far as that can be known of what was packed.
  var bytesUsed: Int64 {
    let left = Double(content.count - place) / Double(max(1, content.count))
    return bytesRead - Int64(left * Double(lastRead))
  }

  private let descriptor: Int32
  private var content: [UInt8] = []
  private var place = 0
  /// Up to here there is no line break.
  private var searched = 0
  /// How many bytes the last read brought.
  private var lastRead = 0
  private var isAtEnd = false
  private var unpacker: OpaquePointer?
  private var hasBegun = false

  /// `-` is standard input.
  init(_ path: String) throws(ListFault) {
    name = path == "-" ? "standard input" : path
    // A named pipe that nobody has opened for writing yet is waited for where lines are, and not here.
    descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw fault(errno) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw fault(errno) }
    if status.st_mode & S_IFMT == S_IFDIR { throw fault(EISDIR) }
    if status.st_mode & S_IFMT == S_IFREG { size = Int64(status.st_size) }
  }

  /// Looks whether a file can be read, without opening it: a named pipe is opened once only.
  ///
  /// - Returns: its size; nil for what isn't a plain file.
  static func check(_ path: String) throws(ListFault) -> Int64? {
    var status = stat()
    guard stat(path, &status) == 0, access(path, R_OK) == 0 else {
      let reason = String(cString: strerror(errno))
      let hint = path.contains("://") ? "; a list is expected here, in a file or on standard input" : ""
      throw ListFault("\(path) can't be read: \(reason)\(hint)")
    }
    return status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : nil
  }

  deinit {
    nhs_unpacker_free(unpacker)
    if descriptor > STDIN_FILENO { close(descriptor) }
  }

  /// The next line; `idle` when none came within `milliseconds`.
  func next(within milliseconds: Int32) throws(ListFault) -> Step {
    while true {
      if let line = takeLine() { return .line(line) }
      if isAtEnd {
        guard place < content.count else { return .end }
        let line = Array(content[place...])
        place = content.count
        lines += 1
        return .line(Self.trimmed(line))
      }
      guard content.count - place < Self.longest else {
        throw ListFault("\(name): line \(lines + 1) is longer than \(Self.longest >> 20) MiB")
      }
      guard try fill(within: milliseconds) else { return .idle }
    }
  }

  private func takeLine() -> [UInt8]? {
    let start = max(place, searched)
    let end = content.withUnsafeBufferPointer { bytes -> Int? in
      guard let base = bytes.baseAddress, start < bytes.count,
        let found = memchr(base + start, 10, bytes.count - start)
      else { return nil }
      return UnsafeRawPointer(base).distance(to: UnsafeRawPointer(found))
    }
    guard let end else {
      searched = content.count
      return nil
    }
    let line = Array(content[place..<end])
    place = end + 1
    lines += 1
    return Self.trimmed(line)
  }

  private static func trimmed(_ line: [UInt8]) -> [UInt8] {
    line.last == 13 ? Array(line.dropLast()) : line
  }

  /// False when nothing came.
  private func fill(within milliseconds: Int32) throws(ListFault) -> Bool {
    if size == nil {
      var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&ready, 1, milliseconds) > 0 else { return false }
    }
    if place > 0 {
      content.removeFirst(place)
      (place, searched) = (0, max(0, searched - place))
    }
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let count = read(descriptor, &chunk, chunk.count)
    if count < 0, errno == EINTR || errno == EAGAIN { return false }
    guard count >= 0 else { throw fault(errno) }
    if count == 0 {
      isAtEnd = true
      if let unpacker, nhs_unpacker_is_whole(unpacker) == 0 {
        throw ListFault("\(name): the gzip stream is cut off")
      }
      // It may have been the rest of the list.
      if let unpacker, nhs_unpacker_left_something(unpacker) != 0 {
        throw ListFault("\(name): what follows the gzip stream is none")
      }
      return true
    }
    bytesRead += Int64(count)
    lastRead = count
    try take(chunk[..<count])
    return true
  }

  private func take(_ chunk: ArraySlice<UInt8>) throws(ListFault) {
    if !hasBegun {
      hasBegun = true
      // A first read of one byte is not what any shell or file does; then it is no gzip.
      if chunk.starts(with: [0x1f, 0x8b]) {
        unpacker = nhs_unpacker_new(Int32(NHS_UNPACK_GZIP))
        guard unpacker != nil else { throw fault(ENOMEM) }
      }
    }
    if unpacker == nil { content += chunk } else { try unpack(chunk) }
    if lines == 0, place == 0, content.starts(with: [0xef, 0xbb, 0xbf]) { place = 3 }
  }

  private func unpack(_ chunk: ArraySlice<UInt8>) throws(ListFault) {
    var output = [UInt8](repeating: 0, count: 262_144)
    let isGood = chunk.withUnsafeBufferPointer { input in
      var next = input.baseAddress
      var left = input.count
      while true {
        var written = 0
        let state = nhs_unpack(unpacker, &next, &left, &output, output.count, &written)
        content += output[..<written]
        if state == Int32(NHS_UNPACK_BAD) { return false }
        if state == Int32(NHS_UNPACK_MORE) { return true }
      }
    }
    if !isGood { throw ListFault("\(name): the gzip stream is damaged") }
  }

  private func fault(_ number: Int32) -> ListFault {
    ListFault("\(name) can't be read: \(String(cString: strerror(number)))")
  }
}
