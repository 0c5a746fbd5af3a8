/// How badly memory is wanted.
public enum MemoryPressure: Int, Sendable, CaseIterable, Comparable {
  /// Half of what is kept in memory is given up.
  case warning
  /// All of it, and the allocator gives back what it holds.
  case critical

  /// Whether memory is wanted less badly.
  public static func < (left: MemoryPressure, right: MemoryPressure) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// Who said that memory is wanted.
package enum PressureOrigin: Int, Sendable, CaseIterable {
  /// The kernel's pressure stall information.
  case kernel
  /// A look at what is available, every few seconds.
  case polling
}

/// How often a store was told to make room in memory, by grade.
public struct PressureCounts: Sendable, Equatable {
  /// Half was given up.
  public var warnings = 0
  /// All was given up.
  public var criticals = 0
}

/// Something that notices when memory is wanted. It owns neither thread nor timer: somebody's event loop calls `look`
/// when the descriptor is ready, or the time has passed.
package protocol PressureSource: AnyObject {
  var origin: PressureOrigin { get }
  /// What to wait for, with epoll's events. The source closes it.
  var descriptor: (fd: Int32, events: UInt32)? { get }
  /// Nanoseconds between two looks; nil for one that is only looked at when its descriptor is ready.
  var interval: Int64? { get }
  func look(_ events: UInt32) -> PressureSign
}

/// What a source has seen.
package enum PressureSign: Equatable, Sendable {
  case nothing
  /// Memory is wanted; nil when the source knows no grades.
  case pressure(MemoryPressure?)
  /// It will never see anything any more.
  case gone
}
