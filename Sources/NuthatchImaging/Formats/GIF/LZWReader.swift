/// Expands the codes of a GIF's frame to indices.
///
/// A string is stored as the code of its first eights of bytes and the one to eight bytes after them. So most strings need one
/// store of eight bytes, and no string is built byte by byte. Nothing is allocated while codes are read.
final class LZWReader {
  /// The bits of an index that can be read. More than 8 break the format; browsers take them, and use the lowest 8.
  static let indexBits = 1...11
  /// The bytes beyond its limit that `read` may write: the longest string, and a store of eight bytes.
  static let overhang = 4096 + 8

  private static let most = 4096

  enum Stop {
    case needMore
    /// The limit is reached.
    case full
    /// The code that ends the pixels.
    case ended
    /// A code that no string has yet.
    case broken
  }

  private let endings: HeapArray<UInt64>
  private let beginnings: HeapArray<UInt16>
  /// The length of each string, less one.
  private let lengths: HeapArray<UInt16>
  private let firsts: HeapArray<UInt8>
  private let clear: Int
  private let firstWidth: Int

  private var bits: UInt64 = 0
  private var bitCount = 0
  private var width: Int
  private var next: Int
  /// The last code, or -1 at the beginning and after a clear code.
  private var previous = -1

  init(indexBits: Int) throws(ImageFault) {
    clear = 1 << indexBits
    firstWidth = indexBits + 1
    (width, next) = (firstWidth, clear + 2)
    endings = try HeapArray(Self.most)
    beginnings = try HeapArray(zeroed: Self.most)
    lengths = try HeapArray(zeroed: Self.most)
    firsts = try HeapArray(Self.most)
    for code in 0..<clear {
      endings.base[code] = UInt64(code & 255).littleEndian
      firsts.base[code] = UInt8(code & 255)
    }
  }

  /// The bytes that were taken and belong to no code yet that was read.
  var bytesAhead: Int { bitCount / 8 }

  /// Reads codes and appends their strings to the first `count` bytes of `out`, until there are at least `limit`. `out` must
  /// have room for `limit + overhang`.
  ///
  /// - Returns: how many bytes of the input were taken, and why it stopped.
  func read(
    _ input: UnsafeRawBufferPointer, to out: UnsafeMutablePointer<UInt8>, _ count: inout Int, limit: Int
  ) -> (used: Int, stop: Stop) {
    // Copies, which the compiler keeps in registers.
    let (endings, beginnings) = (self.endings.base, self.beginnings.base)
    let (lengths, firsts) = (self.lengths.base, self.firsts.base)
    var (bits, bitCount, width) = (self.bits, self.bitCount, self.width)
    var (next, previous) = (self.next, self.previous)
    var mask = 1 << width - 1
    var written = count
    var place = 0
    var stop = Stop.full
    while written < limit {
      if bitCount < width {
        if input.count &- place >= 4 {
          let word = UInt32(littleEndian: input.loadUnaligned(fromByteOffset: place, as: UInt32.self))
          bits |= UInt64(word) &<< UInt64(bitCount)
          (bitCount, place) = (bitCount &+ 32, place &+ 4)
        } else if place < input.count {
          bits |= UInt64(input[place]) &<< UInt64(bitCount)
          (bitCount, place) = (bitCount &+ 8, place &+ 1)
          continue
        } else {
          stop = .needMore
          break
        }
      }
      let code = Int(truncatingIfNeeded: bits) & mask
      bits &>>= UInt64(width)
      bitCount &-= width
      if code == clear {
        (width, next, previous) = (firstWidth, clear &+ 2, -1)
        mask = 1 << width - 1
        continue
      }
      if code == clear &+ 1 {
        stop = .ended
        break
      }
      // The code of the string that is added now is allowed, too.
      guard previous >= 0 ? code <= next : code < clear else {
        stop = .broken
        break
      }
      if previous >= 0, next < Self.most {
        let first = UInt64(firsts[code == next ? previous : code])
        let length = lengths[previous] &+ 1
        let shift = UInt64(length & 7) &* 8
        if shift == 0 {
          endings[next] = first.littleEndian
          beginnings[next] = UInt16(truncatingIfNeeded: previous)
        } else {
          endings[next] = (UInt64(littleEndian: endings[previous]) | first &<< shift).littleEndian
          beginnings[next] = beginnings[previous]
        }
        lengths[next] = length
        firsts[next] = firsts[previous]
        next &+= 1
        if next & mask == 0, next < Self.most {
          width &+= 1
          mask = 1 << width - 1
        }
      }
      let length = Int(lengths[code])
      let start = UnsafeMutableRawPointer(out + written)
      var at = length & ~7
      start.storeBytes(of: endings[code], toByteOffset: at, as: UInt64.self)
      var beginning = code
      while at > 0 {
        beginning = Int(beginnings[beginning])
        at &-= 8
        start.storeBytes(of: endings[beginning], toByteOffset: at, as: UInt64.self)
      }
      written &+= length &+ 1
      previous = code
    }
    (self.bits, self.bitCount, self.width) = (bits, bitCount, width)
    (self.next, self.previous) = (next, previous)
    count = written
    return (place, stop)
  }
}
