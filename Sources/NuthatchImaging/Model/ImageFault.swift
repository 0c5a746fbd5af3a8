/// Why a picture could not be read or made, with the place and in words for people.
///
/// Every failure of this room is an `ImageFault`: hostile bytes never trap and never print.
public struct ImageFault: Error, Equatable, Sendable, CustomStringConvertible {
  /// What went wrong; `word` gives the stable name that programs may rely on.
  public enum Kind: Equatable, Sendable {
    /// The bytes are no picture at all.
    case notAnImage
    /// A picture that isn't decoded here; the name says which ("webp", "jpeg-12bit", …).
    case unsupportedFormat(String)
    /// The bytes contradict the format.
    case corrupt
    /// The bytes end before the picture does.
    case truncated
    /// More bytes, scans or chunks than the limits allow.
    case tooLarge
    /// More pixels, or memory for them, than the limits allow.
    case tooManyPixels
    /// The system gave no memory.
    case outOfMemory
    /// A request that makes no sense (a box with a zero side, rows pushed beyond the end).
    case invalid
    /// A fault of this library.
    case `internal`
  }

  /// What went wrong, for programs.
  public let kind: Kind
  /// What happened, for people: never empty, never ends with a full stop.
  public let message: String
  /// The byte of the input where it was noticed, where that is known.
  public let offset: Int?

  /// A fault; `offset` is the place in the input.
  public init(_ kind: Kind, _ message: String, at offset: Int? = nil) {
    self.kind = kind
    self.message = message
    self.offset = offset
  }

  /// The stable error word.
  public var word: String {
    switch kind {
    case .notAnImage: "not_an_image"
    case .unsupportedFormat: "unsupported_format"
    case .corrupt: "corrupt"
    case .truncated: "truncated"
    case .tooLarge: "too_large"
    case .tooManyPixels: "too_many_pixels"
    case .outOfMemory: "out_of_memory"
    case .invalid: "invalid"
    case .internal: "internal"
    }
  }

  /// Word, message and place in one line.
  public var description: String {
    if let offset { return "\(word): \(message) (at byte \(offset))" }
    return "\(word): \(message)"
  }
}
