import CSystem

/// The disk limit of a directory, and the sizes derived from it.
///
/// All files except the outbox take at most the limit plus, for each process that writes, one pack of each family. Reserved
/// room counts.
struct Limits {
  static let standard = 4 << 30
  static let least = 4 << 20

  /// The limit in bytes, for everything except the outbox.
  let disk: Int

  /// The size of a new pack.
  var packCapacity: Int { min(max(disk / 64, Self.leastPack), 64 << 20) & ~4095 }
  /// The size of a new pack if the disk has no room for more.
  static let leastPack = 64 << 10
  /// A longer record gets a pack of its own.
  var longest: Int { min(8 << 20, packCapacity / 2) }
  /// A longer record isn't stored: too many other records would be dropped for it.
  var longestAtAll: Int { disk / 4 }

  /// Returns whether a record is too long for a shared pack.
  func needsOwnPack(_ header: RecordHeader) -> Bool {
    RecordHeader.size + header.keyLength + 64 + header.payloadLength > longest
  }

  /// Returns the bytes in use, including reserved room.
  func usage(_ index: Index) -> Int {
    // An index that takes more than half of the limit was made for a larger limit, and will be rebuilt.
    index.packs.reduce(Self.others + min(index.claim, disk / 2)) { $0 + $1.claim }
  }

  /// Returns whether a pack of this size fits into the limit.
  func hasRoom(_ index: Index, for bytes: Int) -> Bool { usage(index) + bytes <= disk }

  /// The bytes of the files other than packs and index: locks, limit, cookies and notes.
  static let others = 64 << 10
  /// When packs are dropped, drop to 95 %, so that the next pack needs no eviction.
  static func low(_ bytes: Int) -> Int { bytes / 100 * 95 }
  /// When small packs are dropped one after the other, at least this many bytes of hit records are kept.
  static let leastSecondChances = 512 << 10

  private static let magic: UInt64 = 0x5449_4D49_4C54_554E  // NUTLIMIT
  private static let version: UInt32 = 1

  /// Returns the limit that is stored in the directory, or nil.
  static func kept(_ directory: StoreDirectory) -> Int? {
    guard let bytes = directory.readFile("limits", size: 64) else { return nil }
    return bytes.withUnsafeBytes { buffer in
      guard buffer.word(0) == magic, buffer.word(8) == UInt64(version),
        buffer.word(56) == nhs_hash64(buffer.baseAddress, 56, 0),
        let limit = Int(exactly: buffer.word(16)), limit >= least, limit < 1 << 46
      else { return nil }
      return limit
    }
  }

  /// Stores the limit in the directory.
  func keep(_ directory: StoreDirectory) throws(SystemFault) {
    var bytes = [UInt8](repeating: 0, count: 64)
    bytes.withUnsafeMutableBytes {
      $0.store(Self.magic, at: 0)
      $0.store(Self.version, at: 8)
      $0.store(UInt64(disk), at: 16)
      $0.store(nhs_hash64($0.baseAddress, 56, 0), at: 56)
    }
    try directory.replaceFile("limits", bytes)
  }
}
