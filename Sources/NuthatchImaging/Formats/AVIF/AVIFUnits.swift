/// Counts the frames of an AV1 bitstream before dav1d decodes any.
///
/// A still picture has one frame, and with layers one for each. A hostile one could have thousands in few bytes, and each would
/// take as long as the picture.
enum AVIFUnits {
  /// Layers of space, and as many hidden frames.
  static let mostFrames = 8

  /// Returns the number of headers of frames; what is damaged ends the count, because dav1d stops there, too.
  static func frames(_ bytes: UnsafeRawBufferPointer) -> Int {
    var count = 0
    var place = 0
    while place < bytes.count {
      let header = bytes[place]
      place += header & 4 == 0 ? 1 : 2
      var size = bytes.count - place
      if header & 2 != 0 {
        guard let (value, used) = length(bytes, at: place) else { return count }
        place += used
        size = value
      }
      guard size <= bytes.count - place else { return count }
      // A header of a frame, or a frame with its header.
      if header >> 3 & 15 == 3 || header >> 3 & 15 == 6 { count += 1 }
      place += size
    }
    return count
  }

  /// Reads a number of seven bits a byte, the lowest first.
  private static func length(_ bytes: UnsafeRawBufferPointer, at place: Int) -> (value: Int, used: Int)? {
    var value = 0
    for index in 0..<8 where place + index < bytes.count {
      let byte = Int(bytes[place + index])
      value |= (byte & 127) << (7 * index)
      if byte < 128 { return (value, index + 1) }
    }
    return nil
  }
}
