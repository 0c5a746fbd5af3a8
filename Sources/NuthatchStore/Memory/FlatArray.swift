import Glibc

/// Arrays of zeros that are made to be searched: large ones in large pages, where the kernel has some, so that a search
/// doesn't wait for the page tables, too. What nobody touches takes no memory.
enum FlatArray {
  /// What processors and the kernel call a large page.
  private static let largePage = 2 << 20

  static func make<Element: BitwiseCopyable>(_ type: Element.Type, _ count: Int)
    -> UnsafeMutablePointer<Element>
  {
    let size = count * MemoryLayout<Element>.stride
    let base = size < largePage ? calloc(1, size) : mapped(size)
    guard let base else { fatalError("no memory for a table of \(size) bytes") }
    return base.bindMemory(to: type, capacity: count)
  }

  static func free<Element: BitwiseCopyable>(_ array: UnsafeMutablePointer<Element>, _ count: Int) {
    let size = count * MemoryLayout<Element>.stride
    if size < largePage { Glibc.free(array) } else { munmap(array, mappedSize(size)) }
  }

  private static func mappedSize(_ size: Int) -> Int { (size + largePage - 1) & ~(largePage - 1) }

  /// Begins where a large page may. What is mapped before and behind is given back.
  private static func mapped(_ size: Int) -> UnsafeMutableRawPointer? {
    let size = mappedSize(size)
    guard
      let all = mmap(nil, size + largePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      all != MAP_FAILED
    else { return nil }
    let before = -Int(bitPattern: all) & (largePage - 1)
    if before > 0 { munmap(all, before) }
    if before < largePage { munmap(all + before + size, largePage - before) }
    madvise(all + before, size, MADV_HUGEPAGE)
    return all + before
  }
}
