import NuthatchBase
import Testing

@Suite("Fifos") struct FifoTests {
  @Test("a fifo gives its elements in the order in which they were added")
  func order() {
    var fifo = Fifo<Int>()
    #expect(fifo.isEmpty && fifo.first == nil && fifo.popFirst() == nil)
    var (added, taken) = (0, 0)
    for round in 0..<300 {
      for _ in 0..<round % 7 {
        fifo.append(added)
        added += 1
      }
      for _ in 0..<round % 5 where taken < added {
        #expect(fifo.first == taken && fifo.popFirst() == taken)
        taken += 1
      }
    }
    while let next = fifo.popFirst() {
      #expect(next == taken)
      taken += 1
    }
    #expect(taken == added && fifo.isEmpty)
  }

  @Test("a fifo releases an element when it is taken")
  func letsGo() {
    final class Element {}
    var fifo = Fifo<Element>()
    weak let first = { () -> Element in
      let element = Element()
      fifo.append(element)
      return element
    }()
    fifo.append(Element())
    #expect(first != nil)
    _ = fifo.popFirst()
    #expect(first == nil && !fifo.isEmpty)
  }
}
