import Glibc

/// Bytes that grow while they arrive and then stay where they are.
///
/// Memory comes from `realloc`, checked, because a server chooses the size and Swift can't recover from a failed
/// allocation. Written by one thread; once shared it is only read, which is why it is Sendable.
final class ByteBuffer: @unchecked Sendable {
  private var base: UnsafeMutableRawPointer?
  private var capacity = 0
  private(set) var count = 0

  /// What is reserved on a server's word alone; more only when that much has come.
  private static let trust = 1 << 20

  var contents: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// Makes room for an announced length.
  func reserve(announced: Int64) {
    _ = grow(to: Int(min(max(announced, 0), Int64(Self.trust))))
  }

  /// False when there is no memory for more.
  func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let source = bytes.baseAddress, !bytes.isEmpty else { return true }
    let (needed, overflow) = count.addingReportingOverflow(bytes.count)
    guard !overflow else { return false }
    if needed > capacity, !grow(to: max(needed, capacity + capacity / 2)) { return false }
    guard let base else { return false }
    memcpy(base + count, source, bytes.count)
    count = needed
    return true
  }

  /// Gives back what was reserved too much.
  func trim() {
    guard count > 0, count < capacity else { return }
    _ = resize(to: count)
  }

  private func grow(to wanted: Int) -> Bool {
    wanted <= capacity || resize(to: wanted)
  }

  private func resize(to wanted: Int) -> Bool {
    guard let moved = realloc(base, wanted) else { return false }
    base = moved
    capacity = wanted
    return true
  }

  deinit { free(base) }
}
