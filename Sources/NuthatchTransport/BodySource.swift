import Glibc

/// A request body of bytes and files. It is read in pieces while it is sent, so that no file is in memory as a whole.
///
/// `BodyFile.init` checks a file, `BodyReader` opens it when it is sent. If it has changed in between, the request fails.
package struct BodySource: Sendable {
  package enum Piece: Sendable {
    case bytes([UInt8])
    case file(BodyFile)

    var count: Int64 {
      switch self {
      case .bytes(let bytes): Int64(bytes.count)
      case .file(let file): file.count
      }
    }
  }

  package let pieces: [Piece]
  /// The length in bytes, for `Content-Length`.
  package let count: Int64

  /// Whether reading it needs a disk.
  var hasFiles: Bool { pieces.contains { if case .file = $0 { true } else { false } } }

  package init(_ pieces: [Piece]) {
    self.pieces = pieces
    count = pieces.reduce(0) { $0.addingReportingOverflow($1.count).partialValue }
  }
}

/// A regular file, or a part of one. `identity` is that of the time of the check.
package struct BodyFile: Sendable, Equatable {
  package let path: String
  package let offset: Int64
  package let count: Int64
  private let identity: [Int64]

  /// - Parameter range: the part of the file; nil for all of it.
  /// - Throws: `io` if it can't be read or is not a regular file.
  package init(_ path: String, _ range: Range<Int64>? = nil) throws(TransportFault) {
    guard !path.utf8.contains(0) else {
      throw TransportFault(.io, "the file's path has a NUL character")
    }
    var status = stat()
    guard stat(path, &status) == 0 else { throw .unreadable(path, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw TransportFault(.io, "\(path) can't be sent: it is not a regular file")
    }
    let whole = 0..<Int64(status.st_size)
    let part = range ?? whole
    guard part.clamped(to: whole) == part else {
      throw TransportFault(
        .io, "\(path) can't be sent: the range \(part) is not in its \(whole.upperBound) bytes")
    }
    self.path = path
    offset = part.lowerBound
    count = part.upperBound - part.lowerBound
    identity = Self.identity(status)
  }

  /// Opens the file. Throws if it has changed since the check. O_NONBLOCK: it may be a pipe now.
  func open() throws(TransportFault) -> Int32 {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw .unreadable(path, errno) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, Self.identity(status) == identity else {
      close(descriptor)
      throw .changed(path)
    }
    return descriptor
  }

  private static func identity(_ status: stat) -> [Int64] {
    [
      Int64(bitPattern: UInt64(status.st_dev)), Int64(bitPattern: UInt64(status.st_ino)),
      Int64(status.st_size),
      Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec),
    ]
  }
}

extension TransportFault {
  fileprivate static func unreadable(_ path: String, _ errno: Int32) -> TransportFault {
    TransportFault(.io, "\(path) can't be read: \(String(cString: strerror(errno)))")
  }

  fileprivate static func changed(_ path: String) -> TransportFault {
    TransportFault(.io, "\(path) has changed since the request was made")
  }
}

/// Reads the bytes of a body source. May wait for a disk. One thread at a time uses it, hence Sendable.
package final class BodyReader: @unchecked Sendable {
  private let source: BodySource
  private var piece = 0
  /// The offset in the piece.
  private var place: Int64 = 0
  /// The offset in the whole body.
  private var offset: Int64 = 0
  private var file: Int32 = -1

  package init(_ source: BodySource) { self.source = source }

  deinit { close() }

  /// Fills the buffer and returns the number of bytes. It is less than the buffer's size only at the end of the body.
  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransportFault) -> Int {
    var filled = 0
    while filled < buffer.count, piece < source.pieces.count {
      let current = source.pieces[piece]
      guard place < current.count else {
        close()
        (piece, place) = (piece + 1, 0)
        continue
      }
      let room = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      let count = try read(current, into: room)
      filled += count
      place += Int64(count)
      offset += Int64(count)
    }
    return filled
  }

  /// Returns the `count` bytes at `offset` of the whole body, which must be long enough.
  func read(_ count: Int, at offset: Int64) -> Result<[UInt8], TransportFault> {
    if offset != self.offset { seek(to: offset) }
    var fault: TransportFault?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { room, filled in
      do throws(TransportFault) {
        filled = try read(into: UnsafeMutableRawBufferPointer(room))
      } catch { fault = error }
    }
    return fault.map { .failure($0) } ?? .success(bytes)
  }

  private func seek(to offset: Int64) {
    close()
    (piece, place, self.offset) = (0, offset, offset)
    while piece < source.pieces.count, place > source.pieces[piece].count {
      place -= source.pieces[piece].count
      piece += 1
    }
  }

  private func read(
    _ piece: BodySource.Piece, into room: UnsafeMutableRawBufferPointer
  ) throws(TransportFault) -> Int {
    switch piece {
    case .bytes(let bytes):
      let part = bytes[Int(place)...].prefix(room.count)
      room.copyBytes(from: part)
      return part.count
    case .file(let source):
      if file < 0 { file = try source.open() }
      let wanted = min(Int64(room.count), source.count - place)
      while true {
        let count = pread(file, room.baseAddress, Int(wanted), Int(source.offset + place))
        if count < 0, errno == EINTR { continue }
        if count < 0 { throw .unreadable(source.path, errno) }
        guard count > 0 else { throw .changed(source.path) }
        return count
      }
    }
  }

  /// Closes the file; the next read opens it again.
  func close() {
    if file >= 0 { Glibc.close(file) }
    file = -1
  }
}
