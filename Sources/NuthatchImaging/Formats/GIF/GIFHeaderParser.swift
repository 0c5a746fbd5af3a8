/// Parses a GIF's blocks up to the pixels of its first frame.
struct GIFHeaderParser: HeaderParser {
  private enum State {
    case screen
    case globalColors
    case block
    case label
    case control
    case application
    case subblock
    case descriptor
    case frameColors
    case indexBits
  }

  /// With more bytes between blocks, the input is corrupt.
  static let maxGarbage = 65_536

  private var state = State.screen
  private var garbage = 0
  private var screen = ImageSize(width: 0, height: 0)
  private var globalColors: [UInt8] = []
  private var frameColors: [UInt8]?
  private var transparent: UInt8?
  private var isLooped = false
  private var place = (x: 0, y: 0)
  private var frameSize = ImageSize(width: 0, height: 0)
  private var isInterlaced = false

  /// Known at the end.
  private(set) var frame: GIFFrame?

  /// Skips the signature and reads the logical screen.
  var first: HeaderStep { .read(skip: 6, count: 7) }

  /// Known after the first frame's descriptor, because a frame that is larger than the screen enlarges it.
  private(set) var size: ImageSize?

  var profile: [UInt8]? { nil }

  mutating func consume(_ bytes: UnsafeRawBufferPointer, end: Int) -> HeaderStep {
    switch state {
    case .screen:
      screen = ImageSize(width: bytes.littleEndian16(at: 0), height: bytes.littleEndian16(at: 2))
      let count = GIFBlocks.tableBytes(bytes[4])
      return count == 0 ? nextBlock() : read(.globalColors, count)
    case .globalColors:
      globalColors = Array(bytes)
      return nextBlock()
    case .block:
      return block(bytes[0], end: end)
    case .label:
      return label(bytes[0], count: Int(bytes[1]))
    case .control:
      // The index stays if a later control block has none, as in Pillow and in browsers.
      if bytes[0] & 1 != 0 { transparent = bytes[3] }
      return read(.subblock, 1)
    case .application:
      let names = ["NETSCAPE2.0", "ANIMEXTS1.0"]
      if names.contains(where: { bytes.elementsEqual($0.utf8) }) { isLooped = true }
      return read(.subblock, 1)
    case .subblock:
      let count = Int(bytes[0])
      return count == 0 ? nextBlock() : .read(skip: count, count: 1)
    case .descriptor:
      return descriptor(bytes, end: end)
    case .frameColors:
      frameColors = Array(bytes)
      return read(.indexBits, 1)
    case .indexBits:
      return found(indexBits: Int(bytes[0]), end: end)
    }
  }

  private mutating func read(_ state: State, _ count: Int) -> HeaderStep {
    self.state = state
    return .read(skip: 0, count: count)
  }

  private mutating func nextBlock() -> HeaderStep { read(.block, 1) }

  private mutating func block(_ byte: UInt8, end: Int) -> HeaderStep {
    switch byte {
    case 0x21: return read(.label, 2)
    case 0x2C: return read(.descriptor, 9)
    case 0x3B: return .fault(ImageFault(.corrupt, "the GIF ends before its first frame", at: end))
    default:
      // Some writers put bytes between the blocks, mostly zeros.
      garbage += 1
      guard garbage <= Self.maxGarbage else {
        return .fault(ImageFault(.corrupt, "the GIF has \(garbage) bytes without a block", at: end))
      }
      return nextBlock()
    }
  }

  /// An extension's label, and the length of its first part.
  private mutating func label(_ label: UInt8, count: Int) -> HeaderStep {
    switch label {
    case _ where count == 0: return nextBlock()
    case 0xF9 where count >= 4: return read(.control, count)
    case 0xFF where count == 11: return read(.application, count)
    default:
      state = .subblock
      return .read(skip: count, count: 1)
    }
  }

  private mutating func descriptor(_ bytes: UnsafeRawBufferPointer, end: Int) -> HeaderStep {
    place = (bytes.littleEndian16(at: 0), bytes.littleEndian16(at: 2))
    frameSize = ImageSize(width: bytes.littleEndian16(at: 4), height: bytes.littleEndian16(at: 6))
    guard frameSize.width > 0, frameSize.height > 0 else {
      return .fault(
        ImageFault(
          .corrupt, "the size of the GIF's first frame is \(frameSize), which is not allowed", at: end))
    }
    size = ImageSize(
      width: max(screen.width, place.x + frameSize.width),
      height: max(screen.height, place.y + frameSize.height))
    isInterlaced = bytes[8] & 0x40 != 0
    let count = GIFBlocks.tableBytes(bytes[8])
    return count == 0 ? read(.indexBits, 1) : read(.frameColors, count)
  }

  private mutating func found(indexBits: Int, end: Int) -> HeaderStep {
    guard LZWReader.indexBits.contains(indexBits), let size else {
      return .fault(
        ImageFault(
          .corrupt, "the GIF's first frame has codes of \(indexBits) bits, which is not allowed", at: end))
    }
    let frame = GIFFrame(
      canvas: size, x: place.x, y: place.y, size: frameSize, isInterlaced: isInterlaced,
      colors: frameColors ?? globalColors, transparent: transparent, indexBits: indexBits)
    self.frame = frame
    var info = ImageInfo(format: .gif, size: size, color: .palette, depth: 8)
    info.isProgressive = isInterlaced
    info.hasAlpha = !frame.isOpaque
    info.isAnimated = isLooped
    (info.frameCount, info.pixelsStart) = (nil, end)
    if isInterlaced { info.wholePictureBytes = frameSize.area }
    return .found(info)
  }
}
