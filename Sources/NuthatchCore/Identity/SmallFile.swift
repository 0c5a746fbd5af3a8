import Glibc
import NuthatchBase
import NuthatchStore

/// Files of our own making that are read and written whole.
enum SmallFile {
  private static let longest = 1 << 20

  /// One of our own making; nil when there is none that can be used.
  static func read(_ path: String, keepsOthersOut: Bool = false) -> [UInt8]? {
    guard let descriptor = try? FileDoor.open(path, O_RDONLY, keepsOthersOut: keepsOthersOut) else {
      return nil
    }
    defer { close(descriptor) }
    return WholeFile.content(of: descriptor, atMost: longest)
  }

  /// Puts a whole file in the place of the one that there was, for this user only. False with `errno`.
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
