/// The control groups of this process that limit memory: from its own up to the outermost visible one. Version 1, version 2, or
/// both.
struct Cgroups: Sendable {
  /// A group's folder, and which version's file names it has.
  struct Level: Sendable, Equatable {
    let folder: String
    let isVersion1: Bool
  }

  let levels: [Level]
  /// The pressure stall information of the process's own group; nil in version 1.
  let pressureFile: String?

  init(_ root: String = "") {
    let mounts = Self.mounts(root)
    var levels: [Level] = []
    var pressureFile: String?
    for line in (SystemText.read(root + "/proc/self/cgroup") ?? "").split(separator: "\n") {
      // Number, controllers, path. The path may contain colons.
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      let isVersion1 = !parts[1].isEmpty
      if isVersion1, !parts[1].split(separator: ",").contains("memory") { continue }
      let path = String(parts[2])
      let candidates = mounts.filter { $0.isVersion1 == isVersion1 }
      // Of several mounts, use the one that shows most groups above this process's own.
      let shows = candidates.filter { $0.shows(path) }.min { $0.group.utf8.count < $1.group.utf8.count }
      guard let mount = shows ?? candidates.first else { continue }
      let folders = Self.folders(path, mount, root)
      levels += folders.map { Level(folder: $0, isVersion1: isVersion1) }
      if !isVersion1 { pressureFile = folders.first.map { $0 + "/memory.pressure" } }
    }
    self.levels = levels
    self.pressureFile = pressureFile
  }

  private struct Mount {
    /// The group that `point` shows.
    let group: String
    let point: String
    let isVersion1: Bool

    /// Returns whether a group is at or below the mount.
    func shows(_ path: String) -> Bool { group == "/" || path == group || path.hasPrefix(group + "/") }
  }

  /// The words of each line of a file. Text is split as bytes: as characters that takes a tenth of a short command's instructions.
  private static func lines(_ file: String) -> [[Substring]] {
    (SystemText.read(file) ?? "").utf8.split(separator: UInt8(ascii: "\n")).map { line in
      line.split(separator: UInt8(ascii: " ")).map { Substring($0) }
    }
  }

  private static func mounts(_ root: String) -> [Mount] {
    Self.lines(root + "/proc/self/mountinfo").compactMap { words in
      guard let dash = words.firstIndex(of: "-"), dash >= 6, words.count > dash + 3 else { return nil }
      let isVersion1 = words[dash + 1] == "cgroup"
      guard
        words[dash + 1] == "cgroup2"
          || (isVersion1 && words[dash + 3].split(separator: ",").contains("memory"))
      else { return nil }
      return Mount(group: unescaped(words[3]), point: unescaped(words[4]), isVersion1: isVersion1)
    }
  }

  /// The folders from the group's own up to the mount point.
  private static func folders(_ path: String, _ mount: Mount, _ root: String) -> [String] {
    var inside = path
    if mount.group != "/", mount.shows(path) {
      inside = String(path.dropFirst(mount.group.count))
    }
    var names = inside.split(separator: "/").map(String.init)
    // The group is outside of what this process can see.
    if names.contains("..") { names = [] }
    let base = root + (mount.point == "/" ? "" : mount.point)
    return (0...names.count).reversed().map { ([base] + names[..<$0]).joined(separator: "/") }
  }

  /// Blanks and some other bytes are written as a backslash and three octal digits.
  private static func unescaped(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.first {
      let digits = rest.dropFirst().prefix(3)
      if byte == UInt8(ascii: "\\"), digits.count == 3,
        let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
      {
        bytes.append(code)
        rest = rest.dropFirst(4)
      } else {
        bytes.append(byte)
        rest = rest.dropFirst()
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the memory limit of a group in bytes; nil if there is none.
  func limit(_ level: Level) -> Int? {
    var limits: [Int?]
    if level.isVersion1 {
      // The smallest limit of this group and the groups above it, including those that a container doesn't see.
      limits = [number(level, "memory.limit_in_bytes"), statistics(level)["hierarchical_memory_limit"]]
    } else {
      // Above `high` the kernel slows processes down until they are useless.
      limits = [number(level, "memory.max"), number(level, "memory.high")]
    }
    // In version 1 a number near the largest one means "no limit".
    limits.removeAll { $0 ?? .max >= 1 << 60 }
    return limits.compactMap { $0 }.min()
  }

  /// Returns the memory that the kernel can't take back at once: without file pages that weren't accessed lately.
  func used(_ level: Level) -> Int? { used(level, without: ["inactive_file"]) }

  /// Returns the memory that the kernel can't take back at all: without file pages, except those of tmpfs.
  func held(_ level: Level) -> Int? { used(level, without: ["inactive_file", "active_file"]) }

  private func used(_ level: Level, without kinds: [String]) -> Int? {
    let name = level.isVersion1 ? "memory.usage_in_bytes" : "memory.current"
    guard var used = number(level, name) else { return nil }
    let statistics = statistics(level)
    for kind in kinds {
      let count = statistics[level.isVersion1 ? "total_" + kind : kind] ?? 0
      used -= min(used, max(0, count))
    }
    return used
  }

  private func statistics(_ level: Level) -> [String: Int] {
    var found: [String: Int] = [:]
    for words in Self.lines(level.folder + "/memory.stat") {
      guard words.count == 2, let number = Int(words[1]) else { continue }
      found[String(words[0])] = number
    }
    return found
  }

  private func number(_ level: Level, _ name: String) -> Int? {
    guard let text = SystemText.read(level.folder + "/" + name),
      let number = Int(text.prefix { $0 != "\n" }), number >= 0
    else { return nil }
    return number
  }
}
