import CSystem

/// The 128 bits under which a record is found. Two keys with one hash don't disturb: the key is compared in full.
public struct KeyHash: Hashable, Sendable {
  /// The lower half.
  public let low: UInt64
  /// The upper half.
  public let high: UInt64
}

extension KeyHash {
  /// The hash under which a record of this key is found.
  public init(_ kind: RecordKind, _ key: UnsafeRawBufferPointer) {
    if kind == .answer { self.init(answer: key) } else { self.init(key, seed: UInt64(kind.rawValue)) }
  }

  init(_ bytes: UnsafeRawBufferPointer, seed: UInt64) {
    var low: UInt64 = 0
    var high: UInt64 = 0
    nhs_hash128(bytes.baseAddress, bytes.count, seed, &low, &high)
    self.init(low: low, high: high)
  }
}

/// What a record is found by: its kind and 1 to 65,535 bytes. To be made once and used often, since it holds the hash.
public struct RecordKey: Hashable, Sendable {
  /// What the record holds.
  public let kind: RecordKind
  /// The name of it, in the caller's terms.
  public let bytes: [UInt8]
  /// The hash of both.
  public let hash: KeyHash

  /// A key of these bytes.
  public init(_ kind: RecordKind, _ bytes: [UInt8]) {
    self.kind = kind
    self.bytes = bytes
    hash = bytes.withUnsafeBytes { KeyHash(kind, $0) }
  }

  /// A key of a text's UTF-8.
  public init(_ kind: RecordKind, _ text: String) { self.init(kind, Array(text.utf8)) }

  /// Whether both are the same key.
  public static func == (left: RecordKey, right: RecordKey) -> Bool {
    left.hash == right.hash && left.kind == right.kind && left.bytes == right.bytes
  }

  /// The hash that is there already.
  public func hash(into hasher: inout Hasher) { hasher.combine(hash.low) }
}

/// What a payload is: the caller's number for its form, and its size when it is a picture.
public struct PayloadShape: Hashable, Sendable {
  /// A number of the caller's choice.
  public var form: UInt8
  /// In pixels; 0 for what is no picture.
  public var width: UInt32
  /// In pixels; 0 for what is no picture.
  public var height: UInt32

  /// A payload's shape.
  public init(form: UInt8 = 0, width: UInt32 = 0, height: UInt32 = 0) {
    self.form = form
    self.width = width
    self.height = height
  }
}
