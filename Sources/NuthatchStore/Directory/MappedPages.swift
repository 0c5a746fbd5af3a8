import Glibc
import Synchronization

// Unmaps pages of files, so that they don't count as this process's memory. The kernel maps them again at the next access.

extension Pack {
  /// Leases stay valid.
  func unmapPages() { NuthatchStore.unmapPages(bytes) }
}

extension Index {
  /// Written pages stay in the file.
  func unmapPages() {
    // Private memory would lose its contents.
    if !isPrivate { NuthatchStore.unmapPages(UnsafeRawBufferPointer(start: base, count: length)) }
  }

  /// Counts a lookup. Every 256 lookups, unmaps the pages that they mapped: 64 KiB for each lookup, or 2 MiB with large pages.
  @inline(never)
  func countLook() {
    if looks.wrappingAdd(1, ordering: .relaxed).newValue & 0xFF == 0 { unmapPages() }
  }
}

/// Unmaps the pages of bytes that are a shared mapping of a file. Other memory would lose its contents.
func unmapPages(_ bytes: UnsafeRawBufferPointer) {
  guard let base = bytes.baseAddress else { return }
  madvise(UnsafeMutableRawPointer(mutating: base), bytes.count, MADV_DONTNEED)
}
