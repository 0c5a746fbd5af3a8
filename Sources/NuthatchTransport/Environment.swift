import CSystem

/// What the environment says. It says nothing to a program that runs with more rights than whoever started it, as one
/// that is setuid: its words are that person's.
package enum Environment {
  /// A variable; one that is empty counts as unset.
  package static func variable(_ name: String) -> String? {
    guard let value = nhs_environment(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }

  /// The user's folder: `$HOME`, or, where that can't be trusted, the one that the system has for whose rights the program has.
  package static var home: String? {
    if nhs_is_privileged() == 0 { return variable("HOME") }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
      guard let path = buffer.baseAddress, nhs_home_of_user(path, buffer.count) == 0 else { return nil }
      return String(cString: path)
    }
  }
}
