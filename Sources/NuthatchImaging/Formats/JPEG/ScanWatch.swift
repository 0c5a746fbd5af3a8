import Glibc

/// Tells when the received bytes of a progressive JPEG may be enough for thumbnails. Then a decoder tries these bytes.
///
/// It parses only the headers of the scans, so it needs almost no time or memory. A decoder that reads during the transfer
/// would hold the coefficients of the whole picture until the transfer ends.
public struct ScanWatch: EarlyEndWatch {
  private enum State {
    case marker
    case code
    case length(UInt8)
    case segment(UInt8)
    /// Entropy-coded bytes. True after a 0xFF byte.
    case coded(Bool)
    case over
  }

  private struct Component {
    let id: UInt8
    let factors: (horizontal: Int, vertical: Int)
    /// The point transform (Al) of each coefficient's last scan; -1 before the first.
    var bits = [Int8](repeating: -1, count: 64)
  }

  private let denominator: Int
  private let isYCbCr: Bool
  private var components: [Component] = []
  private var state = State.marker
  private var header: [UInt8] = []
  private var rest = 0
  private var hasEnough = false

  /// Returns nil if the thumbnails need the whole picture.
  public init?(_ info: ImageInfo, boxes: [ThumbnailBox]) {
    guard info.format == .jpeg, info.isProgressive, !boxes.isEmpty else { return nil }
    // The largest scale decides.
    let denominators = boxes.map { (try? StoredPlan($0, of: info))?.denominator ?? 1 }
    denominator = denominators.min() ?? 1
    guard denominator > 1 else { return nil }
    isYCbCr = info.color == .ycbcr
  }

  /// Takes the next bytes, from the beginning of the file. Returns true if a scan has ended that may be the last one needed,
  /// and again after each later scan.
  public mutating func feed(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var isDue = false
    var position = 0
    while position < bytes.count {
      switch state {
      case .coded(let isAfterFF):
        guard !isAfterFF else {
          let code = bytes[position]
          position += 1
          // A stuffed byte, a restart marker or a fill byte belongs to the scan.
          if code == 0 || (0xD0...0xD7).contains(code) {
            state = .coded(false)
          } else if code != 0xFF {
            if hasEnough { isDue = true }
            begin(code)
          }
          continue
        }
        guard let base = bytes.baseAddress,
          let found = memchr(base + position, 0xFF, bytes.count - position)
        else { return isDue }
        position = UnsafeRawPointer(found) - base + 1
        state = .coded(true)
      case .over: return isDue
      case .marker:
        state = bytes[position] == 0xFF ? .code : .marker
        position += 1
      case .code:
        begin(bytes[position])
        position += 1
      case .length(let code):
        header.append(bytes[position])
        position += 1
        guard header.count == 2 else { continue }
        rest = Int(header[0]) << 8 + Int(header[1]) - 2
        header = []
        state = rest > 0 ? .segment(code) : .marker
      case .segment(let code):
        let count = min(rest, bytes.count - position)
        if isOfInterest(code) { header += bytes[position..<position + count] }
        position += count
        rest -= count
        if rest == 0 { finish(code) }
      }
    }
    return isDue
  }

  private func isOfInterest(_ code: UInt8) -> Bool { code == 0xC2 || code == 0xCA || code == 0xDA }

  private mutating func begin(_ code: UInt8) {
    switch code {
    case 0xFF: state = .code
    case 0x00, 0x01, 0xD0...0xD8: state = .marker
    case 0xD9: state = .over
    default: state = .length(code)
    }
  }

  private mutating func finish(_ code: UInt8) {
    let segment = header
    header = []
    state = .marker
    guard isOfInterest(code) else { return }
    guard code == 0xDA else { return readFrame(segment) }
    readScan(segment)
    state = .coded(false)
  }

  private mutating func readFrame(_ frame: [UInt8]) {
    guard components.isEmpty, frame.count >= 6, frame.count >= 6 + 3 * Int(frame[5]) else { return }
    for index in 0..<Int(frame[5]) {
      let factor = Int(frame[7 + 3 * index])
      components.append(
        Component(id: frame[6 + 3 * index], factors: (max(1, factor >> 4), max(1, factor & 15))))
    }
  }

  private mutating func readScan(_ scan: [UInt8]) {
    guard let count = scan.first.map(Int.init), scan.count >= 4 + 2 * count else { return }
    let first = Int(scan[1 + 2 * count])
    let last = Int(scan[2 + 2 * count])
    guard first <= last, last < 64 else { return }
    let transform = Int8(scan[3 + 2 * count] & 15)
    for index in 0..<count {
      guard let place = components.firstIndex(where: { $0.id == scan[1 + 2 * index] }) else { continue }
      for coefficient in first...last { components[place].bits[coefficient] = transform }
    }
    hasEnough = !components.isEmpty && components.indices.allSatisfy { isEnough($0) }
  }

  /// Must be the decoder's rule (`has_enough` in jpeg_decode.c).
  private func isEnough(_ index: Int) -> Bool {
    let component = components[index]
    var size = scaledSize(component)
    if index > 0, isYCbCr, size > 1 { size /= 2 }
    let needed: [Int] =
      switch size {
      case 1: [0]
      case 2: [0, 1, 2, 4]
      case 4: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13]
      default: []
      }
    return !needed.isEmpty
      && needed.allSatisfy { component.bits[$0] >= 0 && component.bits[$0] <= ($0 == 0 ? 1 : 2) }
  }

  /// Returns the side of a decoded block in pixels; larger for a component with fewer samples.
  private func scaledSize(_ component: Component) -> Int {
    let least = 8 / denominator
    let horizontal = components.reduce(1) { max($0, $1.factors.horizontal) }
    let vertical = components.reduce(1) { max($0, $1.factors.vertical) }
    var size = least
    while size < 8, (horizontal * least) % (component.factors.horizontal * size * 2) == 0,
      (vertical * least) % (component.factors.vertical * size * 2) == 0
    {
      size *= 2
    }
    return size
  }
}
