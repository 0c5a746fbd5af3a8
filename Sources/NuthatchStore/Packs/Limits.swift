import CSystem

/// How much a directory may take, and what follows from it.
///
/// All its files but the outbox take no more than the limit and, for each process that writes, one pack of each family. What is
/// reserved counts.
struct Limits {
  static let standard = 4 << 30
  static let least = 4 << 20

  /// For everything but the outbox.
  let disk: Int

  /// Reserved at a time.
  var packCapacity: Int { min(max(disk / 64, Self.leastPack), 64 << 20) & ~4095 }
  /// Reserved where the disk has no room for more.
  static let leastPack = 64 << 10
  /// A record longer than this gets a pack of its own.
  var longest: Int { min(8 << 20, packCapacity / 2) }
  /// Beyond this a record isn't kept at all: it would push out everything else.
  var longestAtAll: Int { disk / 4 }

  /// Whether a record is too long for a pack that others are in.
  func needsOwnPack(_ header: RecordHeader) -> Bool {
    RecordHeader.size + header.keyLength + 64 + header.payloadLength > longest
  }

  /// How much there is, with what is reserved.
  func usage(_ index: Index) -> Int {
    // An index that takes more than half is one of times when there was more: it is made anew.
    index.packs.reduce(Self.others + min(index.claim, disk / 2)) { $0 + $1.claim }
  }

  /// Whether a pack can be made without going beyond the limit.
  func hasRoom(_ index: Index, for bytes: Int) -> Bool { usage(index) + bytes <= disk }

  /// What the files beside packs and index take: those of the locks, the limit, cookies and notes.
  static let others = 64 << 10
  /// When packs are dropped, some more go than must, so that the next pack needs no look at all of them.
  static func low(_ bytes: Int) -> Int { bytes / 100 * 95 }
  /// When small packs are dropped one after the other, so much that was used is kept in any case.
  static let leastSecondChances = 512 << 10

  private static let magic: UInt64 = 0x5449_4D49_4C54_554E  // NUTLIMIT
  private static let version: UInt32 = 1

  /// The limit that was kept in the directory.
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
