import CSystem
import Glibc

/// A part of a pack that is mapped, so that its writer can store records in it without a system call. A system call also takes
/// longer the more pages the kernel keeps for the file.
///
/// The window is opened piece by piece. Before that, the caller writes zeros to the whole piece, so that the kernel uses one
/// large page for it. `open` makes that page present, so that no record waits for a page fault. The pages belong to the file,
/// so records survive this process.
final class MappedWriteWindow {
  /// The size of a large page.
  static let piece = 2 << 20
  private static let most = 4 * piece
  /// The longest record for which a new piece is opened.
  static let largestRecord = 8 << 10

  private let system: any SystemCalls
  private let mapping: FileMapping
  private let base: UnsafeMutableRawPointer
  private let begin: Int
  private let length: Int
  /// The end of the open pieces, as an offset in the pack.
  private(set) var end: Int

  /// - Parameters:
  ///   - begin: the offset of the window in the pack.
  ///   - limit: the end of the file.
  init(_ system: any SystemCalls, _ fd: Int32, _ begin: Int, limit: Int) throws(SystemFault) {
    self.system = system
    self.begin = begin
    end = begin
    length = min(Self.most, (limit - begin) / Self.piece * Self.piece)
    mapping = try system.map(fd, from: Int64(begin), length)
    base = mapping.base
  }

  deinit { system.unmap(mapping) }

  /// Whether another piece can be opened.
  var hasMore: Bool { end < begin + length }

  /// Opens the next piece.
  func open() throws(SystemFault) {
    try system.populate(base + (end - begin), Self.piece)
    end += Self.piece
  }

  /// Returns whether this range of the pack is in the open part.
  func holds(_ from: Int, _ end: Int) -> Bool { from >= begin && end <= self.end }

  /// Writes a record into a range for which `holds` is true. The header comes last: a killed process leaves no record or a
  /// complete one. Returns false if the record may not have reached the file; then don't use the window any more.
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
