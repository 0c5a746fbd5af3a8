import Glibc
import NuthatchBase
import NuthatchStore

/// Small files of the library that are read and written as a whole.
enum SmallFile {
  private static let longest = 1 << 20

  /// Returns the content; nil if the file is missing or can't be used.
  static func read(_ path: String, keepsOthersOut: Bool = false) -> [UInt8]? {
    guard let descriptor = try? FileDoor.open(path, O_RDONLY, keepsOthersOut: keepsOthersOut) else {
      return nil
    }
    defer { close(descriptor) }
    return WholeFile.content(of: descriptor, atMost: longest)
  }

  /// Replaces the file, readable for this user only. Returns false with `errno` on failure.
  static func replace(_ path: String, _ bytes: [UInt8]) -> Bool {
    do throws(NuthatchError) {
      let file = try NewFile(for: path, followsLinks: false)
      guard bytes.withUnsafeBytes({ NewFile.write($0, to: file.descriptor, at: 0) }) else { return false }
      try file.appear(mode: 0o600)
      return true
    } catch {
      return false
    }
  }
}
