import CSystem
import Glibc

/// A part of a pack that its writer fills through memory: a record then costs no system call, and no time that grows with
/// the pages that the kernel keeps for the file.
///
/// It opens piece by piece. Each has been written with zeros as a whole, so that there is one large page for it, and is there
/// before anything is written to it. What lies in it belongs to the file, not to the process, and survives it.
final class PackWindow {
  /// What processors and the kernel call a large page.
  static let piece = 2 << 20
  private static let most = 4 * piece
  /// Beyond this, a record doesn't open a piece.
  static let largestRecord = 8 << 10

  private let system: any SystemCalls
  private let mapping: FileMapping
  private let base: UnsafeMutableRawPointer
  private let begin: Int
  private let length: Int
  /// Up to where it is open.
  private(set) var end: Int

  /// - Parameter limit: where the file ends.
  init(_ system: any SystemCalls, _ fd: Int32, _ begin: Int, limit: Int) throws(SystemFault) {
    self.system = system
    self.begin = begin
    end = begin
    length = min(Self.most, (limit - begin) / Self.piece * Self.piece)
    mapping = try system.map(fd, from: Int64(begin), length)
    base = mapping.base
  }

  deinit { system.unmap(mapping) }

  /// Whether there is another piece.
  var hasMore: Bool { end < begin + length }

  /// Opens the next piece.
  func open() throws(SystemFault) {
    try system.populate(base + (end - begin), Self.piece)
    end += Self.piece
  }

  /// Whether these offsets of the pack are in it.
  func holds(_ from: Int, _ end: Int) -> Bool { from >= begin && end <= self.end }

  /// Writes a record, for which `holds` is true. Its header comes last: whoever is killed leaves no record, or a whole one.
  /// False when it may not have reached the file; then nothing else that is written here does.
  func write(
    _ record: RecordHeader, key: UnsafeRawBufferPointer, _ parts: [UnsafeRawBufferPointer], at offset: Int,
    payload: Int, salt: UInt64
  ) -> Bool {
    let head = UnsafeMutableRawBufferPointer(start: base + (offset - begin), count: payload - offset)
    var at = base + (payload - begin)
    for part in parts {
      guard let bytes = part.baseAddress else { continue }
      memcpy(at, bytes, part.count)
      at += part.count
    }
    nhs_fence_release()
    record.encode(into: head, key: key, at: offset, salt: salt)
    return !mapping.isBroken
  }
}
