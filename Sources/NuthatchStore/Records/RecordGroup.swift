import CSystem

/// A group of answers that are removed together: the first 16 bytes of an answer's key.
///
/// All records of a group have their slots near 16 places of the index, so that they are found without a list of their keys.
public struct RecordGroup: Hashable, Sendable {
  /// The length of a group in an answer's key.
  public static let length = 16
  /// The number of places of a group in the index. With one place a group could have only 1,024 records.
  static let places = 16

  let low: UInt64
  let high: UInt64

  init(low: UInt64, high: UInt64) { (self.low, self.high) = (low, high) }

  /// The group of a name that the caller chooses.
  public init(_ name: UnsafeRawBufferPointer) {
    var low: UInt64 = 0
    var high: UInt64 = 0
    nhs_hash128(name.baseAddress, name.count, 0, &low, &high)
    (self.low, self.high) = (low, high)
  }

  /// The group at the beginning of an answer's key. Nil if the key is too short.
  init?(ofKey key: UnsafeRawBufferPointer) {
    guard key.count >= Self.length else { return nil }
    (low, high) = (key.word(0), key.word(8))
  }

  /// The number of the counter that counts removals of this group. Other groups may share the counter.
  var counter: Int { Int(truncatingIfNeeded: high & UInt64(IndexLayout.removalCount - 1)) }

  /// Returns whether a record of this hash may belong to the group.
  func contains(_ hash: KeyHash) -> Bool {
    low(at: Int(truncatingIfNeeded: hash.high & UInt64(Self.places - 1))) == hash.low
  }

  /// Returns the lower half of the hashes of its records at one of its places.
  func low(at place: Int) -> UInt64 {
    withUnsafeBytes(of: (low.littleEndian, high.littleEndian)) { Self.low(of: $0, at: place) }
  }

  fileprivate static func low(of group: UnsafeRawBufferPointer, at place: Int) -> UInt64 {
    nhs_hash64(group.baseAddress, group.count, UInt64(RecordKind.answer.rawValue) | UInt64(place) << 8)
  }
}

extension KeyHash {
  /// The hash of an answer's key. The lower half, which gives the place in the index, comes from the group; the upper half from
  /// the whole key.
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

  /// The group of an answer; nil for other records.
  var group: RecordGroup? { kind == .answer ? bytes.withUnsafeBytes { RecordGroup(ofKey: $0) } : nil }

  /// The part behind the group.
  public var name: ArraySlice<UInt8> { kind == .answer ? bytes.dropFirst(RecordGroup.length) : bytes[...] }
}
