import CSystem

/// What is removed together: the first 16 bytes of an answer's key.
///
/// All records of a group are searched at few places of the index, so that a group is found without a list of its keys.
public struct RecordGroup: Hashable, Sendable {
  /// How many bytes of a key name its group.
  public static let length = 16
  /// At how many places of an index a group is searched. With one place a group could have 1,024 records.
  static let places = 16

  let low: UInt64
  let high: UInt64

  init(low: UInt64, high: UInt64) { (self.low, self.high) = (low, high) }

  /// The group of a name in the caller's terms.
  public init(_ name: UnsafeRawBufferPointer) {
    var low: UInt64 = 0
    var high: UInt64 = 0
    nhs_hash128(name.baseAddress, name.count, 0, &low, &high)
    (self.low, self.high) = (low, high)
  }

  /// That of an answer's key, of which it is the beginning. Nil for what is too short to be such a key.
  init?(ofKey key: UnsafeRawBufferPointer) {
    guard key.count >= Self.length else { return nil }
    (low, high) = (key.word(0), key.word(8))
  }

  /// Which counter of removals counts for it. Other groups may have the same.
  var counter: Int { Int(truncatingIfNeeded: high & UInt64(IndexLayout.removalCount - 1)) }

  /// Whether a record of this hash may belong to it.
  func contains(_ hash: KeyHash) -> Bool {
    low(at: Int(truncatingIfNeeded: hash.high & UInt64(Self.places - 1))) == hash.low
  }

  /// The lower half of the hashes of its records at one of its places.
  func low(at place: Int) -> UInt64 {
    withUnsafeBytes(of: (low.littleEndian, high.littleEndian)) { Self.low(of: $0, at: place) }
  }

  fileprivate static func low(of group: UnsafeRawBufferPointer, at place: Int) -> UInt64 {
    nhs_hash64(group.baseAddress, group.count, UInt64(RecordKind.answer.rawValue) | UInt64(place) << 8)
  }
}

extension KeyHash {
  /// The hash of an answer's key: the lower half, which says where to search, comes of the group, the upper half of all.
  init(answer key: UnsafeRawBufferPointer) {
    let high = nhs_hash64(key.baseAddress, key.count, UInt64(RecordKind.answer.rawValue))
    let group = UnsafeRawBufferPointer(rebasing: key.prefix(RecordGroup.length))
    let place = Int(truncatingIfNeeded: high & UInt64(RecordGroup.places - 1))
    self.init(low: RecordGroup.low(of: group, at: place), high: high)
  }
}

extension RecordKey {
  /// The key of an answer.
  public init(_ group: RecordGroup, _ name: [UInt8]) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(RecordGroup.length + name.count)
    withUnsafeBytes(of: (group.low.littleEndian, group.high.littleEndian)) { bytes.append(contentsOf: $0) }
    bytes += name
    self.init(.answer, bytes)
  }

  /// The group of an answer; nil for what is none.
  var group: RecordGroup? { kind == .answer ? bytes.withUnsafeBytes { RecordGroup(ofKey: $0) } : nil }

  /// The part behind the group.
  public var name: ArraySlice<UInt8> { kind == .answer ? bytes.dropFirst(RecordGroup.length) : bytes[...] }
}
