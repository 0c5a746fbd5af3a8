import Glibc
import NuthatchStore

/// The number of look-ups in a round.
let operations = 1_000_000

/// Records of one size. Their keys have 32 bytes, as those of bodies.
struct Records {
  let size: Int
  let count: Int

  init(_ kibibytes: Int, _ count: Int) { (size, self.count) = (kibibytes, count) }

  var name: String { "\(size) KiB" }
  var payload: [UInt8] { [UInt8](repeating: 7, count: size << 10) }

  static func key(_ number: Int) -> RecordKey {
    var dice = Dice(UInt64(number) &+ 1)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(32)
    for _ in 0..<4 { withUnsafeBytes(of: dice.next()) { bytes.append(contentsOf: $0) } }
    return RecordKey(.body, bytes)
  }

  func keys() -> [RecordKey] { (0..<count).map(Self.key) }
}

/// Keys with their hashes in one array of bytes: a million of them take little memory, and the bare search counts no references
/// to them.
struct Keys: @unchecked Sendable {
  static let length = 32
  let count: Int
  let hashes: UnsafeMutablePointer<KeyHash>
  private let base: UnsafeMutableRawPointer

  init(room: Int) {
    count = room
    base = .allocate(byteCount: room * Self.length, alignment: Self.length)
    hashes = .allocate(capacity: room)
  }

  init(_ set: Records) {
    self.init(room: set.count)
    for number in 0..<count {
      let key = Records.key(number)
      for (at, byte) in key.bytes.enumerated() {
        base.storeBytes(of: byte, toByteOffset: number * Self.length + at, as: UInt8.self)
      }
      hashes[number] = key.hash
    }
  }

  subscript(number: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + number * Self.length, count: Self.length)
  }

  func key(_ number: Int) -> RecordKey { RecordKey(.body, Array(self[number])) }

  func free() {
    base.deallocate()
    hashes.deallocate()
  }

  func set(_ number: Int, _ others: Keys, _ other: Int) {
    hashes[number] = others.hashes[other]
    (base + number * Self.length).copyMemory(from: others.base + other * Self.length, byteCount: Self.length)
  }
}

struct Dice {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// Returns a number from 0 to below 1.
  mutating func part() -> Double { Double(next() >> 11) / Double(UInt64(1) << 53) }
}

/// Draws numbers below `count` by Zipf's law: the k-th is drawn 1/k as often as the first. They are drawn before the measured
/// time. The numbers are scattered, so that neighbours in rank aren't neighbours in a pack.
func zipf(_ count: Int, _ draws: Int, _ seed: Int) -> [Int32] {
  var sums = [Double](repeating: 0, count: count)
  var sum = 0.0
  for rank in 0..<count {
    sum += 1 / Double(rank + 1)
    sums[rank] = sum
  }
  var dice = Dice(UInt64(seed))
  var scatter = (0..<Int32(count)).map { $0 }
  var order = Dice(4711)
  for place in stride(from: count - 1, to: 0, by: -1) {
    scatter.swapAt(place, Int(order.next() % UInt64(place + 1)))
  }
  return (0..<draws).map { _ in
    let wanted = dice.part() * sum
    var (low, high) = (0, count - 1)
    while low < high {
      let middle = (low + high) / 2
      if sums[middle] < wanted { low = middle + 1 } else { high = middle }
    }
    return scatter[low]
  }
}
