import Glibc
import Synchronization

// Pages of files that this process has in its memory, and lets go of: the kernel maps them again when they are looked at.

extension Pack {
  /// Leases stay valid.
  func leavePages() { NuthatchStore.leavePages(bytes) }
}

extension Index {
  /// What was written stays with the file.
  func leavePages() {
    // Memory would be empty then.
    if !isPrivate { NuthatchStore.leavePages(UnsafeRawBufferPointer(start: base, count: length)) }
  }

  /// Lets go of what so many looks have had mapped: 64 KiB each, or 2 MiB where it was made of large pages.
  @inline(never)
  func countLook() {
    if looks.wrappingAdd(1, ordering: .relaxed).newValue & 0xFF == 0 { leavePages() }
  }
}

/// They have to be those of a file, and shared.
func leavePages(_ bytes: UnsafeRawBufferPointer) {
  guard let base = bytes.baseAddress else { return }
  madvise(UnsafeMutableRawPointer(mutating: base), bytes.count, MADV_DONTNEED)
}
