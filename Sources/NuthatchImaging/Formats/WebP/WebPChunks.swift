/// The chunks of a whole WebP, by their lengths.
enum WebPChunks {
  private static let frame = 0x414E_4D46  // ANMF

  /// Returns the number of an animation's frames; nil if bytes are missing, or if there is no frame.
  static func frameCount(in bytes: UnsafeRawBufferPointer) -> Int? {
    guard bytes.count >= 12 else { return nil }
    let end = 8 + bytes.littleEndian32(at: 4)
    guard end <= bytes.count else { return nil }
    var (place, frames) = (12, 0)
    while place + 8 <= end {
      if bytes.bigEndian32(at: place) == frame { frames += 1 }
      // Chunks of an odd length are padded.
      let count = bytes.littleEndian32(at: place + 4)
      guard place + 8 + count <= end else { return nil }
      place += 8 + count + count % 2
    }
    return frames > 0 ? frames : nil
  }
}
