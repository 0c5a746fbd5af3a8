import Testing

@testable import NuthatchImaging

@Suite("Memory for pixels") struct HeapArrayTests {
  @Test(
    "every byte of it is its own, of any size",
    arguments: [0, 1, 64, 1 << 20, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, (5 << 20) + 77])
  func sizes(count: Int) throws {
    let one = try HeapArray<UInt8>(count)
    let other = try HeapArray<UInt8>(zeroed: count)
    for array in [one.base, other.base] { #expect(Int(bitPattern: array) % 64 == 0) }
    for place in 0..<count { one.base[place] = UInt8(truncatingIfNeeded: place % 251) }
    for place in 0..<count where other.base[place] != 0 { Issue.record("\(place)") }
    for place in 0..<count where one.base[place] != UInt8(place % 251) { Issue.record("\(place)") }
  }

  @Test("a size that is no number of bytes is refused", arguments: [-1, Int.max / 4])
  func noSize(count: Int) {
    #expect(throws: ImageFault.self) { _ = try HeapArray<UInt64>(count) }
  }
}
