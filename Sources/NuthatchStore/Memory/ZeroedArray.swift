import Glibc

/// A zero-filled array for searches. A large one uses large pages if the kernel has some, so that a search loads fewer page
/// table entries. Pages that were never accessed take no memory.
struct ZeroedArray<Element: BitwiseCopyable> {
  let base: UnsafeMutablePointer<Element>
  /// 0 if it was allocated with malloc.
  private let mappedSize: Int

  /// The size of a large page.
  private static var largePage: Int { 2 << 20 }

  init(_ count: Int) {
    let size = count * MemoryLayout<Element>.stride
    if let mapped = Self.map(size) {
      base = mapped.bindMemory(to: Element.self, capacity: count)
      mappedSize = Self.rounded(size)
    } else {
      base = .allocate(capacity: count)
      memset(base, 0, size)
      mappedSize = 0
    }
  }

  func free() {
    if mappedSize > 0 { munmap(base, mappedSize) } else { base.deallocate() }
  }

  @inline(__always)
  subscript(number: Int) -> Element {
    get { base[number] }
    nonmutating set { base[number] = newValue }
  }

  private static func rounded(_ size: Int) -> Int { (size + largePage - 1) & ~(largePage - 1) }

  /// Maps memory that begins at a large page boundary; the excess before and behind is unmapped. Returns nil if the size is
  /// small or the mapping fails.
  private static func map(_ size: Int) -> UnsafeMutableRawPointer? {
    guard size >= largePage else { return nil }
    let size = rounded(size)
    guard
      let all = mmap(nil, size + largePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      all != MAP_FAILED
    else { return nil }
    let before = -Int(bitPattern: all) & (largePage - 1)
    if before > 0 { munmap(all, before) }
    munmap(all + before + size, largePage - before)
    madvise(all + before, size, MADV_HUGEPAGE)
    return all + before
  }
}
