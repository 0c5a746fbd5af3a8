import Glibc

/// How much of this process is in memory, and how much of that is pages of files: of packs and the index, for the greater part.
///
/// Every look at a record has the kernel map 64 KiB of the index: a million hits would come to half a gigabyte.
final class ResidentMemory {
  /// Pages of files are let go of where they are more than this, and all is more than that.
  private static let (enoughMapped, enough) = (40 << 20, 88 << 20)

  private let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)

  /// Whether it has been too much once: it soon is again then, and has to be looked at often.
  private(set) var isTight = false

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Whether pages of files are better let go of; also where the system doesn't tell.
  func isTooMuch() -> Bool {
    guard look() else { return false }
    isTight = true
    return true
  }

  private func look() -> Bool {
    var text = [UInt8](repeating: 0, count: 128)
    let count = pread(descriptor, &text, text.count, 0)
    guard count > 0 else { return true }
    // The second number is that of resident pages, the third that of those that are a file's.
    let words = text[..<count].split(separator: UInt8(ascii: " ")).prefix(3).map {
      Int(String(decoding: $0, as: UTF8.self))
    }
    guard words.count == 3, let all = words[1], let mapped = words[2] else { return true }
    let page = sysconf(Int32(_SC_PAGESIZE))
    return mapped > Self.enoughMapped / page && all > Self.enough / page
  }
}
