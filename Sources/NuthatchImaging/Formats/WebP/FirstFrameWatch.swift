/// Of an animation, the first frame is enough.
struct FirstFrameWatch: EarlyEndWatch {
  /// The bytes of the file that are still missing up to the frame's end.
  private var left: Int

  init(end: Int) { left = end }

  mutating func feed(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard left > 0 else { return false }
    left -= bytes.count
    return left <= 0
  }
}
