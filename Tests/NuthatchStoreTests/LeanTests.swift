import Foundation
import Testing

@testable import NuthatchStore

/// `stayLean` is for a process that reads many records once: pages of the index don't pile up in its memory.
@Suite("Stores that keep few pages of the index mapped") struct LeanTests {
  private static func key(_ number: Int) -> RecordKey { RecordKey(.body, "lean \(number)") }

  /// How many pages of the index are mapped.
  private static func mapped(_ store: Store) throws -> Int {
    let index = try #require(store.disk.current.index)
    var words = [UInt64](repeating: 0, count: (index.length + 4095) / 4096)
    let fd = open("/proc/self/pagemap", O_RDONLY)
    try #require(fd >= 0)
    defer { close(fd) }
    let first = Int(bitPattern: index.base) / 4096
    try #require(pread(fd, &words, words.count * 8, off_t(first * 8)) == words.count * 8)
    return words.count { $0 >> 63 != 0 }
  }

  /// The fewest that were mapped while so many records were looked for.
  private static func least(_ store: Store, of numbers: Range<Int>) throws -> Int {
    var least = Int.max
    for number in numbers {
      #expect(try store.lookup(key(number)) != nil)
      least = min(least, try mapped(store))
    }
    return least
  }

  @Test("a store that stays lean unmaps the index's pages again and again, also after the index grew")
  func letsGo() throws {
    let folder = try Folder()
    let store = try Store.open(folder.path, .init(diskBytes: 1 << 30))
    defer { store.close() }
    for number in 0..<9_000 { try store.commit(Self.key(number), content(UInt64(number), 8)) }
    let all = try Self.mapped(store)
    #expect(all >= 64)
    // The kernel may take some of them when memory is short.
    #expect(try Self.least(store, of: 0..<300) >= all * 9 / 10)

    try store.stayLean()
    #expect(try Self.mapped(store) == 0)
    // Each search may look more than once, and one look has the kernel map 2 MiB where that is one page.
    #expect(try Self.least(store, of: 300..<600) < all)
    for number in 9_000..<30_000 { try store.commit(Self.key(number), content(UInt64(number), 8)) }
    #expect(try #require(store.disk.current.index).length > 2 * all * 4096)
    #expect(try Self.least(store, of: 600..<900) < 64)
  }
}
