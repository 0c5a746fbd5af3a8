/// Identifies a picture from its first bytes, while they arrive.
///
/// The answer doesn't depend on how the input is split, down to single bytes. Irrelevant segments are skipped. It holds at most
/// 64 KiB, and the profile if that is collected.
public struct ImageProbe: Sendable {
  /// The result for the bytes so far. Every answer except `needMore` is final.
  public enum Answer: Equatable, Sendable {
    /// More bytes are needed.
    case needMore
    /// A picture that can be decoded.
    case found(ImageInfo)
    /// Not a picture.
    case notAnImage
    /// A picture of a format that isn't decoded here.
    case unsupported(ImageFormat)
    /// A picture that is damaged, truncated, or of a variant that isn't decoded.
    case fault(ImageFault)
  }

  private enum Stage: Sendable {
    case sniffing, header, over
  }

  /// The last answer.
  public private(set) var answer = Answer.needMore
  private var stage = Stage.sniffing
  private let collectsProfile: Bool
  // Next to the stage, not inside it: moving a parser out of an enum and back costs more than one of its steps.
  private var parser: (any HeaderParser)?
  private var kept: [UInt8] = []
  /// How many bytes were sniffed at last.
  private var judged = 0
  private var skip = 0
  private var wanted = 0
  /// After `found`, the offset at which the header ends.
  private(set) var position = 0
  /// The ICC profile, if it was requested, is complete and the format's decoder needs it.
  private(set) var profile: [UInt8]?

  /// A probe without input.
  public init() {
    self.init(collectsProfile: false)
  }

  init(collectsProfile: Bool) {
    self.collectsProfile = collectsProfile
  }

  /// The stored size as soon as it is known, maybe long before `found`, so that a caller can refuse it early.
  public private(set) var size: ImageSize?

  /// Takes the next bytes.
  @discardableResult
  public mutating func feed(_ bytes: UnsafeRawBufferPointer) -> Answer {
    var rest = bytes
    while !rest.isEmpty {
      switch stage {
      case .sniffing: sniff(&rest)
      case .header: read(&rest)
      case .over: return answer
      }
    }
    return answer
  }

  /// Marks the end of the input: `needMore` becomes a final answer.
  @discardableResult
  public mutating func finish() -> Answer {
    if stage == .sniffing { judge(isComplete: true) }
    switch stage {
    case .sniffing: settle(.notAnImage)
    case .header:
      if let info = parser?.infoAtEnd {
        profile = parser?.profile
        settle(.found(info))
        break
      }
      settle(.fault(ImageFault(.truncated, "the picture ends within its header", at: position)))
    case .over:
      break
    }
    return answer
  }

  /// Probes complete input.
  public static func probe(_ bytes: UnsafeRawBufferPointer) -> Answer {
    var probe = ImageProbe()
    probe.feed(bytes)
    return probe.finish()
  }

  private mutating func settle(_ answer: Answer) {
    self.answer = answer
    stage = .over
    kept = []
  }

  private mutating func sniff(_ rest: inout UnsafeRawBufferPointer) {
    // A few bytes decide nearly every case, so don't copy all of a large piece.
    let count = min(rest.count, kept.count < 32 ? 32 - kept.count : FormatSniffer.maxBytes - kept.count)
    let piece = rest.removeFirst(count)
    if kept.isEmpty, case .format(let format) = FormatSniffer.sniff(piece) {
      begin(format, piece)
      return
    }
    kept += piece
    // A text is judged from its start each time, and it may come in small pieces.
    if kept.count > 1024, kept.count < FormatSniffer.maxBytes, kept.count < judged + judged / 8 { return }
    judge(isComplete: false)
  }

  private mutating func judge(isComplete: Bool) {
    judged = kept.count
    switch kept.withUnsafeBytes({ FormatSniffer.sniff($0, isComplete: isComplete) }) {
    case .needMore: break
    case .unknown: settle(.notAnImage)
    case .format(let format):
      let head = kept
      kept = []
      head.withUnsafeBytes { begin(format, $0) }
    }
  }

  /// Passes the bytes so far to the parser of the format.
  private mutating func begin(_ format: ImageFormat, _ head: UnsafeRawBufferPointer) {
    guard let parser = PictureFormats.of(format)?.headerParser(collectsProfile: collectsProfile) else {
      return settle(.unsupported(format))
    }
    self.parser = parser
    stage = .header
    take(parser.first)
    var rest = head
    while stage != .over && !rest.isEmpty { read(&rest) }
  }

  private mutating func read(_ rest: inout UnsafeRawBufferPointer) {
    let passed = min(skip, rest.count)
    _ = rest.removeFirst(passed)
    skip -= passed
    position += passed
    guard skip == 0, !rest.isEmpty else { return }
    if kept.isEmpty && rest.count >= wanted {
      let piece = rest.removeFirst(wanted)
      position += wanted
      step(piece)
      return
    }
    let count = min(wanted - kept.count, rest.count)
    kept += rest.removeFirst(count)
    position += count
    guard kept.count == wanted else { return }
    let piece = kept
    kept.removeAll(keepingCapacity: true)
    piece.withUnsafeBytes { step($0) }
  }

  private mutating func step(_ bytes: UnsafeRawBufferPointer) {
    guard let (step, size) = parser?.step(bytes, end: position) else { return }
    if case .found = step { profile = parser?.profile }
    self.size = size
    take(step)
  }

  private mutating func take(_ step: HeaderStep) {
    switch step {
    case .read(let skip, let count):
      self.skip = skip
      wanted = count
    case .found(let info): settle(.found(info))
    case .fault(let fault): settle(.fault(fault))
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Removes and returns the first bytes; the caller has checked the count.
  fileprivate mutating func removeFirst(_ count: Int) -> UnsafeRawBufferPointer {
    let first = UnsafeRawBufferPointer(rebasing: self[..<count])
    self = UnsafeRawBufferPointer(rebasing: self[count...])
    return first
  }
}
