import Testing

@testable import NuthatchBase

private final class Item {
  var key: UInt64
  var position: Int32 = -1

  init(_ key: UInt64) { self.key = key }
}

private enum Order: HeapOrder {
  static func position(of element: Item) -> Int32 { element.position }
  static func setPosition(of element: Item, to position: Int32) { element.position = position }
}

@Suite("Heaps with positions") struct PositionedHeapTests {
  @Test("a heap gives the least key first after random insertions, moves and removals")
  func order() {
    var heap = PositionedHeap<Order>()
    let items = (0..<200).map { _ in Item(.random(in: 0..<100)) }
    var held: Set<Int> = []
    for _ in 0..<5000 {
      let index = Int.random(in: 0..<items.count)
      if Bool.random() {
        items[index].key = .random(in: 0..<100)
        heap.set(items[index], key: items[index].key)
        held.insert(index)
      } else {
        heap.remove(items[index])
        held.remove(index)
      }
      #expect(heap.count == held.count)
      #expect(heap.firstKey == held.map { items[$0].key }.min())
      #expect(heap.contains(items[index]) == held.contains(index))
    }
    var taken: [UInt64] = []
    while let first = heap.first {
      taken.append(first.key)
      heap.remove(first)
    }
    #expect(taken == held.map { items[$0].key }.sorted())
    #expect(heap.isEmpty && items.allSatisfy { $0.position == -1 })
  }
}
