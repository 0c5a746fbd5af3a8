import CSystem

/// A mapping of a file (`nhs_mapping.h`). If a page can't be read, the process isn't killed: the page reads as zeros.
typealias FileMapping = nhs_mapping

extension nhs_mapping: @unchecked @retroactive Sendable {
  /// Whether an access to it has failed. Check it after reading data where zeros would do harm, and after writing data that
  /// must have reached the file.
  @inline(__always)
  var isBroken: Bool { nhs_is_broken(broken) != 0 }
}

/// Accesses to mappings that failed.
enum FailedAccesses {
  /// The number of failures in this process.
  @inline(__always)
  static var count: UInt64 { nhs_failed_touches() }

  /// The pause in nanoseconds before a file that couldn't be mapped is tried again, so that not each lookup waits.
  static let pause: Int64 = 100_000_000
}
