import NuthatchBase

/// How much memory there is, on the machine and within the process's control groups.
package struct MemoryGauge: Sendable {
  private let root: String
  private let groups: Cgroups

  /// - Parameter root: a prefix for the paths of system files; for tests.
  package init(_ root: String = "") {
    self.root = root
    groups = Cgroups(root)
  }

  /// The smallest of the machine's memory and the limits of the process's control groups.
  package var total: Int? { [machine, groupLimit].compactMap { $0 }.min() }

  /// The machine's memory.
  package var machine: Int? { machine("MemTotal:") }

  /// The smallest limit of the process's control groups; nil if there is none.
  package var groupLimit: Int? { groups.levels.compactMap { groups.limit($0) }.min() }

  /// How much more memory the process may use before one of its control groups reaches its limit, after the kernel has dropped
  /// all file pages. Nil if no group has a limit.
  package var groupRoom: Int? {
    groups.levels.compactMap { level in
      guard let limit = groups.limit(level), let held = groups.held(level) else { return nil }
      return max(0, limit - held)
    }.min()
  }

  /// Warning if less than 10 % of the machine's memory or of a group's limit is free; critical below 5 %.
  package var level: MemoryPressure? {
    var shares: [Double] = []
    if let total = machine("MemTotal:"), let available = machine("MemAvailable:"), total > 0 {
      shares.append(Double(available) / Double(total))
    }
    for level in groups.levels {
      if let limit = groups.limit(level), let used = groups.used(level), limit > 0 {
        shares.append(Double(max(0, limit - used)) / Double(limit))
      }
    }
    guard let least = shares.min(), least < 0.1 else { return nil }
    return least < 0.05 ? .critical : .warning
  }

  private func machine(_ name: String) -> Int? {
    guard let text = SystemText.read(root + "/proc/meminfo") else { return nil }
    for line in text.split(separator: "\n") where line.hasPrefix(name) {
      let words = line.split(separator: " ")
      guard words.count >= 2, let kibibytes = Int(words[1]), kibibytes < Int.max >> 10 else { return nil }
      return kibibytes << 10
    }
    return nil
  }
}

/// Files in /proc and /sys.
enum SystemText {
  /// Returns nil if the file can't be read or isn't text.
  static func read(_ path: String) -> String? {
    WholeFile.content(of: path, atMost: 1 << 20).flatMap { String(validating: $0, as: UTF8.self) }
  }
}
