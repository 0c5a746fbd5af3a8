import Glibc
import NuthatchBase

/// How much of this process's memory is pages of files: of packs and the index, for the greater part.
///
/// Every look at a record has the kernel map 64 KiB of the index: a million hits would come to half a gigabyte.
enum MappedMemory {
  /// Beyond this, pages are better let go of.
  private static let enough = 32 << 20

  /// Whether pages of files are better let go of; also where the system doesn't tell.
  static var isTooMuch: Bool {
    // The third number is that of resident pages that are a file's.
    let words =
      WholeFile.content(of: "/proc/self/statm", atMost: 128)?.split(separator: UInt8(ascii: " ")) ?? []
    guard words.count > 2, let pages = Int(String(decoding: words[2], as: UTF8.self)) else { return true }
    return pages > enough / sysconf(Int32(_SC_PAGESIZE))
  }
}
