import CSystem

/// A mapping of a file (`nhs_mapping.h`). A page of it that can't be had doesn't end the process: it reads as zeros.
typealias FileMapping = nhs_mapping

extension nhs_mapping: @unchecked @retroactive Sendable {
  /// Whether a touch of it has failed. To be asked after reading what must not be zeros, and after writing what must have reached
  /// the file.
  @inline(__always)
  var isBroken: Bool { nhs_is_broken(broken) != 0 }
}

/// Touches of mappings that failed, as far as somebody has followed them.
enum FailedTouches {
  /// How many there were in this process.
  @inline(__always)
  static var count: UInt64 { nhs_failed_touches() }

  /// How long something that can't be mapped whole is left alone, in nanoseconds: a lookup must not wait each time.
  static let pause: Int64 = 100_000_000
}
