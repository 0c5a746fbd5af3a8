import NuthatchBase
import Testing

@Suite("Places in a sorted array") struct SortedPlaceTests {
  @Test("the place in a sorted array is behind all elements that come before")
  func place() {
    let sorted = [1, 3, 3, 7]
    for (wanted, place) in [(0, 0), (1, 0), (2, 1), (3, 1), (4, 3), (7, 3), (8, 4)] {
      #expect(sorted.place { $0 < wanted } == place)
    }
    #expect([Int]().place { $0 < 1 } == 0)
  }
}
