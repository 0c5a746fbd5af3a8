/// Answers what a picture is from its first bytes, while they arrive.
///
/// Fed any chunks, down to single bytes, it gives the same answer as fed all at once. Segments that don't matter
/// are passed over; what it keeps is bounded by 64 KiB (and by 4 MiB where the decoder asks for the profile).
public struct ImageProbe: Sendable {
  /// What is known so far. Every answer but `needMore` is final.
  public enum Answer: Equatable, Sendable {
    /// Go on feeding.
    case needMore
    /// A picture that can be decoded.
    case found(ImageInfo)
    /// Not a picture.
    case notAnImage
    /// A picture of a format that isn't decoded here.
    case unsupported(ImageFormat)
    /// A JPEG or PNG that is damaged, ends too early, or is of a kind that isn't decoded.
    case fault(ImageFault)
  }

  private enum Stage: Sendable {
    case sniffing
    case jpeg(JPEGHeaderParser)
    case png(PNGHeaderParser)
    case over
  }

  /// The last answer.
  public private(set) var answer = Answer.needMore
  private var stage = Stage.sniffing
  private var kept: [UInt8] = []
  private var skip = 0
  private var wanted = 0
  private var position = 0
  private let collectsProfile: Bool
  /// The JPEG's ICC profile, where it was asked for and is complete.
  private(set) var profile: [UInt8]?

  /// A probe that has seen nothing.
  public init() {
    self.init(collectsProfile: false)
  }

  init(collectsProfile: Bool) {
    self.collectsProfile = collectsProfile
  }

  /// The stored size as soon as it is known, which may be long before `found`: for refusing early.
  public private(set) var size: ImageSize?

  /// Takes the next bytes of the input.
  @discardableResult
  public mutating func feed(_ bytes: UnsafeRawBufferPointer) -> Answer {
    var rest = bytes[...]
    while answer == .needMore && !rest.isEmpty {
      switch stage {
      case .sniffing: sniff(&rest)
      case .jpeg, .png: read(&rest)
      case .over: return answer
      }
    }
    return answer
  }

  /// Says that no more bytes will come; `needMore` becomes a verdict.
  @discardableResult
  public mutating func finish() -> Answer {
    guard answer == .needMore else { return answer }
    switch stage {
    case .sniffing:
      let verdict = kept.withUnsafeBytes { FormatSniffer.sniff($0, isComplete: true) }
      if case .format(let format) = verdict { settle(.unsupported(format)) } else { settle(.notAnImage) }
    case .jpeg, .png, .over:
      settle(.fault(ImageFault(.truncated, "the header is incomplete", at: position)))
    }
    return answer
  }

  /// Judges bytes that are all there.
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

  private mutating func sniff(_ rest: inout Slice<UnsafeRawBufferPointer>) {
    // A few bytes decide about nearly everything, so not all of a large chunk is copied.
    let count = min(rest.count, kept.count < 32 ? 32 - kept.count : FormatSniffer.maxBytes - kept.count)
    kept += rest.prefix(count)
    rest = rest.dropFirst(count)
    position += count
    switch kept.withUnsafeBytes({ FormatSniffer.sniff($0) }) {
    case .needMore: break
    case .unknown: settle(.notAnImage)
    case .format(.jpeg):
      replay(.jpeg(JPEGHeaderParser(collectsProfile: collectsProfile)), JPEGHeaderParser.first)
    case .format(.png): replay(.png(PNGHeaderParser()), PNGHeaderParser.first)
    case .format(let format): settle(.unsupported(format))
    }
  }

  /// Gives what was kept for sniffing to the format's parser.
  private mutating func replay(_ next: Stage, _ first: HeaderStep) {
    let head = kept
    kept = []
    position = 0
    stage = next
    take(first)
    head.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while answer == .needMore && !rest.isEmpty { read(&rest) }
    }
  }

  private mutating func read(_ rest: inout Slice<UnsafeRawBufferPointer>) {
    let passed = min(skip, rest.count)
    rest = rest.dropFirst(passed)
    skip -= passed
    position += passed
    guard skip == 0, !rest.isEmpty else { return }
    if kept.isEmpty && rest.count >= wanted {
      let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(wanted))
      rest = rest.dropFirst(wanted)
      position += wanted
      step(piece)
      return
    }
    let count = min(wanted - kept.count, rest.count)
    kept += rest.prefix(count)
    rest = rest.dropFirst(count)
    position += count
    guard kept.count == wanted else { return }
    let piece = kept
    kept.removeAll(keepingCapacity: true)
    piece.withUnsafeBytes { step($0) }
  }

  private mutating func step(_ bytes: UnsafeRawBufferPointer) {
    switch stage {
    case .jpeg(var parser):
      stage = .over
      let step = parser.consume(bytes, end: position)
      if case .found = step { profile = parser.profile }
      size = parser.size
      stage = .jpeg(parser)
      take(step)
    case .png(var parser):
      let step = parser.consume(bytes, end: position)
      size = parser.size
      stage = .png(parser)
      take(step)
    case .sniffing, .over:
      break
    }
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
