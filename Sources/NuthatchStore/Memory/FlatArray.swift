import Glibc

/// Zeros that are made to be searched: a large array lies in large pages, where the kernel has some, so that a search doesn't
/// wait for the page tables, too, and what nobody touches of it takes no memory.
struct FlatArray<Element: BitwiseCopyable> {
  let base: UnsafeMutablePointer<Element>
  /// 0 when it isn't a mapping of its own.
  private let mappedSize: Int

  /// What processors and the kernel call a large page.
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

  /// Begins where a large page may; what is mapped before and behind is given back. Nil for what is small, or when nothing can
  /// be mapped.
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
