import CSystem

/// The 128 bits by which the index finds a record. Two keys may have one hash, so the key itself is compared, too.
public struct KeyHash: Hashable, Sendable {
  /// The lower half.
  public let low: UInt64
  /// The upper half.
  public let high: UInt64
}

extension KeyHash {
  /// The hash of a key.
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

/// The key of a record: its kind and 1 to 65,535 bytes. Create it once and reuse it, because it holds the hash.
public struct RecordKey: Hashable, Sendable {
  /// The kind of the record.
  public let kind: RecordKind
  /// The bytes, chosen by the caller.
  public let bytes: [UInt8]
  /// The hash of kind and bytes.
  public let hash: KeyHash

  /// A key of these bytes.
  public init(_ kind: RecordKind, _ bytes: [UInt8]) {
    self.kind = kind
    self.bytes = bytes
    hash = bytes.withUnsafeBytes { KeyHash(kind, $0) }
  }

  /// A key from the UTF-8 of a text.
  public init(_ kind: RecordKind, _ text: String) { self.init(kind, Array(text.utf8)) }

  /// Returns whether both are the same key.
  public static func == (left: RecordKey, right: RecordKey) -> Bool {
    left.hash == right.hash && left.kind == right.kind && left.bytes == right.bytes
  }

  /// Uses the stored hash.
  public func hash(into hasher: inout Hasher) { hasher.combine(hash.low) }
}

/// The form of a payload, as the caller's number, and its size if it is a picture.
public struct PayloadShape: Hashable, Sendable {
  /// A number chosen by the caller.
  public var form: UInt8
  /// In pixels; 0 if it is not a picture.
  public var width: UInt32
  /// In pixels; 0 if it is not a picture.
  public var height: UInt32

  /// A payload's shape.
  public init(form: UInt8 = 0, width: UInt32 = 0, height: UInt32 = 0) {
    self.form = form
    self.width = width
    self.height = height
  }
}
