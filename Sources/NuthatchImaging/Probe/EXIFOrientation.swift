/// Reads tag 0x0112 from the first directory of a TIFF structure. Invalid data means upright, because cameras and editors
/// write many kinds of EXIF.
enum EXIFOrientation {
  /// `tiff` begins at the byte order mark.
  static func read(_ tiff: UnsafeRawBufferPointer) -> Orientation {
    guard tiff.count >= 8 else { return .upright }
    let bigEndian: Bool
    switch (tiff[0], tiff[1]) {
    case (0x49, 0x49): bigEndian = false
    case (0x4D, 0x4D): bigEndian = true
    default: return .upright
    }
    func word(_ at: Int) -> Int {
      bigEndian ? Int(tiff[at]) << 8 | Int(tiff[at + 1]) : Int(tiff[at + 1]) << 8 | Int(tiff[at])
    }
    func long(_ at: Int) -> Int {
      bigEndian ? word(at) << 16 | word(at + 2) : word(at + 2) << 16 | word(at)
    }
    guard word(2) == 42 else { return .upright }
    let directory = long(4)
    guard directory >= 8, directory <= tiff.count - 2 else { return .upright }
    let entries = min(word(directory), (tiff.count - directory - 2) / 12)
    for index in 0..<entries {
      let entry = directory + 2 + index * 12
      guard word(entry) == 0x0112 else { continue }
      let value: Int
      switch word(entry + 2) {
      case 3: value = word(entry + 8)
      case 4: value = long(entry + 8)
      default: return .upright
      }
      guard long(entry + 4) == 1, value <= 8 else { return .upright }
      return Orientation(rawValue: UInt8(value)) ?? .upright
    }
    return .upright
  }
}
