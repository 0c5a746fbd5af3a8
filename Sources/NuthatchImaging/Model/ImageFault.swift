/// Why a picture could not be read or made. Hostile bytes cause only this error, never a trap or a printed line.
public struct ImageFault: Error, Equatable, Sendable, CustomStringConvertible {
  /// The cause; `word` is its stable name for programs.
  public enum Kind: Equatable, Sendable {
    /// The bytes are not a picture.
    case notAnImage
    /// A format or variant that isn't decoded; the name tells which ("tiff", "jpeg-12bit", …).
    case unsupportedFormat(String)
    /// The bytes violate the format.
    case corrupt
    /// The bytes end before the picture does.
    case truncated
    /// More bytes, scans or chunks than the limits allow.
    case tooLarge
    /// More pixels, or more memory for them, than the limits allow.
    case tooManyPixels
    /// There was no memory.
    case outOfMemory
    /// An invalid request (a box with a zero side, rows pushed beyond the end).
    case invalid
    /// A bug of this library.
    case `internal`
    /// The process that decodes was killed, took too long, or can't be started. Another try may succeed. For a picture that is
    /// refused without one: for how many seconds.
    case decoderFailed(refusedFor: Int64?)
  }

  /// The cause, for programs.
  public let kind: Kind
  /// A description for people, never empty, without a full stop.
  public let message: String
  /// The offset in the input where the fault was detected, if known.
  public let offset: Int?

  /// A fault at `offset` of the input.
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
    case .decoderFailed: "decoder_failed"
    }
  }

  /// Word, message and offset in one line.
  public var description: String {
    if let offset { return "\(word): \(message) (at byte \(offset))" }
    return "\(word): \(message)"
  }
}
