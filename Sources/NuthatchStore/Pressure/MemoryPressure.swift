/// The level of memory pressure.
public enum MemoryPressure: Int, Sendable, CaseIterable, Comparable {
  /// Half of the memory tier is freed.
  case warning
  /// All of it is freed, and the allocator returns unused memory.
  case critical

  /// Returns whether the left level is lower.
  public static func < (left: MemoryPressure, right: MemoryPressure) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// The source of a memory pressure event.
package enum PressureOrigin: Int, Sendable, CaseIterable {
  /// The kernel's pressure stall information.
  case kernel
  /// A regular check of the available memory.
  case polling
}

/// How often memory pressure made a store free memory, by level.
public struct PressureCounts: Sendable, Equatable {
  /// Half was freed.
  public var warnings = 0
  /// All was freed.
  public var criticals = 0
}

/// Detects memory pressure. It has neither thread nor timer: an event loop calls `look` when the descriptor is ready, or the
/// interval has passed.
package protocol PressureSource: AnyObject {
  var origin: PressureOrigin { get }
  /// The descriptor to wait for, with epoll's events. The source closes it.
  var descriptor: (fd: Int32, events: UInt32)? { get }
  /// Nanoseconds between two calls of `look`; nil if the descriptor is enough.
  var interval: Int64? { get }
  func look(_ events: UInt32) -> PressureSign
}

/// The result of a look.
package enum PressureSign: Equatable, Sendable {
  case nothing
  /// Memory is short; nil if the source has no levels.
  case pressure(MemoryPressure?)
  /// The source has ended.
  case gone
}
