/// Tells when a GIF's first frame is complete, by the lengths of its blocks.
struct GIFFrameWatch: EarlyEndWatch {
  private var probe = ImageProbe()
  private var fed = 0
  private var blockRest = 0
  private var isOver = false

  mutating func feed(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var place = 0
    if probe.answer == .needMore {
      probe.feed(bytes)
      if probe.answer != .needMore { place = probe.position - fed }
      fed += bytes.count
    }
    guard case .found = probe.answer, !isOver else { return false }
    while place < bytes.count {
      let some = min(blockRest, bytes.count - place)
      place += some
      blockRest -= some
      guard place < bytes.count else { break }
      blockRest = Int(bytes[place])
      place += 1
      isOver = blockRest == 0
      if isOver { return true }
    }
    return false
  }
}
