/// Tells when a GIF's first frame is complete, and the next one has begun or the file has ended, by the lengths of the blocks.
/// Then it is known whether the GIF is an animation.
struct GIFFrameWatch: EarlyEndWatch {
  /// The bytes up to the next one that counts.
  private var rest: Int
  private var isInBlock = true
  private var isOver = false

  /// - Parameter start: the offset of the first frame's codes.
  init(start: Int) { rest = start }

  mutating func feed(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard !isOver else { return false }
    var place = 0
    while rest < bytes.count - place {
      place += rest
      let byte = bytes[place]
      place += 1
      switch (isInBlock, byte) {
      case (true, _): (isInBlock, rest) = (byte > 0, Int(byte))
      // An extension's label.
      case (_, 0x21): (isInBlock, rest) = (true, 1)
      case (_, 0x2C), (_, 0x3B):
        isOver = true
        return true
      default: rest = 0
      }
    }
    rest -= bytes.count - place
    return false
  }
}
