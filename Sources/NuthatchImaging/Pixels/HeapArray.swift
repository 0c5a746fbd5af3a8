import CSystem
import Glibc

/// Memory with a size from the input. A failed allocation throws here, while a Swift array would trap.
///
/// Only `init(zeroed:)` initialises the elements.
struct HeapArray<Element: BitwiseCopyable>: ~Copyable {
  let base: UnsafeMutablePointer<Element>
  let count: Int

  /// Memory for this many elements, aligned to a cache line.
  init(_ count: Int) throws(ImageFault) {
    let (bytes, overflow) = max(1, count).multipliedReportingOverflow(by: MemoryLayout<Element>.stride)
    guard count >= 0, !overflow, let memory = nhs_memory_new(bytes) else {
      throw ImageFault(
        .outOfMemory, "there is no memory for \(count) elements of \(MemoryLayout<Element>.stride) bytes")
    }
    self.base = memory.bindMemory(to: Element.self, capacity: max(1, count))
    self.count = count
  }

  init(zeroed count: Int) throws(ImageFault) {
    try self.init(count)
    memset(base, 0, count * MemoryLayout<Element>.stride)
  }

  deinit { free(base) }

  var bytes: Int { count * MemoryLayout<Element>.stride }
}

extension Int {
  /// Rounds up to a multiple of a power of two; saturates instead of overflowing.
  func roundedUp(to multiple: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(multiple - 1)
    return overflow ? Int.max & ~(multiple - 1) : sum & ~(multiple - 1)
  }
}
