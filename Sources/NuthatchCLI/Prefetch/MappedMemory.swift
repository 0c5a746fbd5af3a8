import Glibc
import NuthatchBase

/// Measures the memory of this process that is mapped from files: mostly packs and the index.
///
/// At each look-up of a record, the kernel can map another 64 KiB of the index. A million hits would map half a gigabyte.
enum MappedMemory {
  /// Above this number of bytes, the pages should be unmapped.
  private static let enough = 32 << 20

  /// Whether pages of files should be unmapped. Also true if the system doesn't give the figure.
  static var isTooMuch: Bool {
    // The third number counts the resident pages that belong to a file.
    let words =
      WholeFile.content(of: "/proc/self/statm", atMost: 128)?.split(separator: UInt8(ascii: " ")) ?? []
    guard words.count > 2, let pages = Int(String(decoding: words[2], as: UTF8.self)) else { return true }
    return pages > enough / sysconf(Int32(_SC_PAGESIZE))
  }
}
