import CSystem

/// Reads the environment. In a program with more rights than its user, such as a setuid program, all variables count as unset,
/// because the user could misuse them.
package enum Environment {
  /// Returns a variable; an empty one counts as unset.
  package static func variable(_ name: String) -> String? {
    guard let value = nhs_environment(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }

  /// Whether the program has more rights than its user, such as a setuid program.
  package static var isPrivileged: Bool { nhs_is_privileged() != 0 }

  /// The home folder: `$HOME`, or for a program with more rights than its user, that of the effective user.
  package static var home: String? {
    if !isPrivileged { return variable("HOME") }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
      guard let path = buffer.baseAddress, nhs_home_of_user(path, buffer.count) == 0 else { return nil }
      return String(cString: path)
    }
  }
}
