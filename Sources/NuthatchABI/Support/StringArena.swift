import Glibc

/// C strings that are valid as long as their owner.
final class StringArena: @unchecked Sendable {
  // Written in `init` only, then read, hence Sendable.
  private let bytes: UnsafeMutablePointer<CChar>
  private let starts: [Int]

  init(_ strings: [String]) {
    let total = strings.reduce(0) { $0 + $1.utf8.count + 1 }
    let room = UnsafeMutablePointer<CChar>.allocate(capacity: max(total, 1))
    var starts: [Int] = []
    starts.reserveCapacity(strings.count)
    var end = 0
    for text in strings {
      starts.append(end)
      var text = text
      end += text.withUTF8 { utf8 in
        if let base = utf8.baseAddress { memcpy(room + end, base, utf8.count) }
        return utf8.count
      }
      room[end] = 0
      end += 1
    }
    bytes = room
    self.starts = starts
  }

  subscript(index: Int) -> UnsafePointer<CChar>? {
    starts.indices.contains(index) ? UnsafePointer(bytes + starts[index]) : nil
  }

  deinit { bytes.deallocate() }
}
