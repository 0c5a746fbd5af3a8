import Glibc

/// How much of this process's memory is pages of files: of packs and the index, for the greater part.
///
/// Every look at a record has the kernel map 64 KiB of the index: a million hits would come to half a gigabyte.
final class MappedMemory {
  /// Beyond this, pages are better let go of.
  private static let enough = 32 << 20

  private let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Whether pages of files are better let go of; also where the system doesn't tell.
  var isTooMuch: Bool {
    var text = [UInt8](repeating: 0, count: 128)
    let count = pread(descriptor, &text, text.count, 0)
    guard count > 0 else { return true }
    // The third number is that of resident pages that are a file's.
    let words = text[..<count].split(separator: UInt8(ascii: " "))
    guard words.count > 2, let pages = Int(String(decoding: words[2], as: UTF8.self)) else { return true }
    return pages > Self.enough / sysconf(Int32(_SC_PAGESIZE))
  }
}
