import CSystem
import Glibc
import NuthatchBase
import Synchronization

/// The fixed part of a pack (docs/FORMAT.md, "A pack").
struct PackHeader {
  static let size = 64
  static let magic: UInt64 = 0x314B_4341_5054_554E  // NUTPACK1
  static let version: UInt32 = 3
  /// That of 0.1, which is read, and not appended to.
  static let earlierVersion: UInt32 = 2

  var family: Family
  var number: UInt32
  var capacity: Int
  var salt: UInt64
  var isEarlier = false
  /// The number of the pack whose turn to be dropped this one has; 0 for that of its own number.
  var turn: UInt32 = 0

  var encoded: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.size)
    bytes.withUnsafeMutableBytes {
      $0.store(Self.magic, at: 0)
      $0.store(Self.version, at: 8)
      $0.store(UInt32(family.rawValue), at: 12)
      $0.store(UInt64(number), at: 16)
      $0.store(UInt64(capacity), at: 24)
      $0.store(salt, at: 32)
      $0.store(turn, at: 40)
      $0.store(nhs_hash64($0.baseAddress, 56, 0), at: 56)
    }
    return bytes
  }
}

extension PackHeader {
  /// Nil for what is no pack of this version under the number of its name.
  init?(_ bytes: UnsafeRawBufferPointer, number: UInt32) {
    guard bytes.count >= Self.size else { return nil }
    let version = UInt32(truncatingIfNeeded: bytes.word(8))
    guard bytes.word(0) == Self.magic, version == Self.version || version == Self.earlierVersion,
      bytes.word(16) == UInt64(number),
      let family = Family(rawValue: UInt16(truncatingIfNeeded: bytes.word(8) >> 32)),
      let capacity = Int(exactly: bytes.word(24)),
      nhs_hash64(bytes.baseAddress, 56, 0) == bytes.word(56)
    else { return nil }
    self.init(family: family, number: number, capacity: capacity, salt: bytes.word(32))
    isEarlier = version == Self.earlierVersion
    turn = isEarlier ? 0 : UInt32(truncatingIfNeeded: bytes.word(40))
  }

  /// That of an open file; nil when it has none of a pack of this number.
  static func read(
    _ fd: Int32, number: UInt32, _ system: any SystemCalls
  ) throws(SystemFault) -> PackHeader? {
    var start = [UInt8](repeating: 0, count: size)
    var span = start.mutableSpan
    let isWhole = try span.withUnsafeMutableBytes { (bytes) throws(SystemFault) in
      try system.readAll(fd, bytes, 0)
    }
    return isWhole ? start.withUnsafeBytes { PackHeader($0, number: number) } : nil
  }
}

/// Names of packs. They are made from numbers only.
enum PackName {
  /// The highest number that a pack is given.
  static let lastGiven: UInt32 = 1 << 31 - 1

  static func of(_ number: UInt32, _ ending: String = "pack") -> String {
    number.digits(8) + "." + ending
  }

  /// The number in a name that `of` would have made.
  static func number(_ name: String) -> UInt32? { number(name, "pack") }

  static func number(_ name: String, _ ending: String) -> UInt32? {
    guard name.hasSuffix("." + ending), let number = UInt32(name.dropLast(ending.utf8.count + 1)),
      number != 0,
      number != .max, of(number, ending) == name
    else { return nil }
    return number
  }
}

/// A pack that is mapped, to be read only. Unmapped when the last lease is gone.
// Its bytes are only read, hence Sendable.
final class Pack: @unchecked Sendable {
  let header: PackHeader
  let bytes: UnsafeRawBufferPointer
  private let system: any SystemCalls
  private let mapping: FileMapping
  private let pinned: PinnedBytes
  private let trust: PackTrust
  private let isDropped = Atomic(false)

  /// Opens and maps a pack; nil when there is none of this number that could be relied on.
  init?(
    _ number: UInt32, _ directory: StoreDirectory, _ pinned: PinnedBytes, _ trust: PackTrust
  ) throws(SystemFault) {
    self.trust = trust
    let system = directory.system
    self.system = system
    self.pinned = pinned
    let fd: Int32
    let status: FileStatus
    do {
      (fd, status) = try directory.openFile(directory.packs, PackName.of(number), O_RDONLY)
    } catch  where error.number == ENOENT || error.number == ELOOP || error.number == EINVAL {
      return nil
    }
    defer { system.close(fd) }
    guard let header = try PackHeader.read(fd, number: number, system),
      let size = Int(exactly: status.size), size <= 1 << 46
    else { return nil }
    self.header = header
    mapping = try system.map(fd, size, isWritable: false)
    bytes = UnsafeRawBufferPointer(start: mapping.base, count: size)
  }

  deinit {
    system.unmap(mapping)
    if isDropped.load(ordering: .relaxed) { pinned.add(-bytes.count) }
  }

  /// Whether some of it couldn't be read, which may be anything: there are zeros. To be asked after reading.
  @inline(__always)
  var isBroken: Bool { mapping.isBroken }

  /// Whether its records are checked each time, and copied.
  var isDistrusted: Bool { trust.isOver }

  /// Whether a payload of it, which was right when it was found, has its checksum still.
  func holds(_ payload: UnsafeRawBufferPointer, sequence: UInt64) -> Bool {
    guard let base = bytes.baseAddress, let begin = payload.baseAddress else { return false }
    let place = begin - base
    // A lease doesn't know where its record begins: as far before the payload as the key is long, which is mostly short.
    let first = max(PackHeader.size, place - RecordHeader.size - Int(UInt16.max) - 16)
    for offset in stride(from: place & ~7 - RecordHeader.size - 8, through: first, by: -8) {
      guard let found = record(at: offset), found.payload == place else { continue }
      return found.header.sequence == sequence && found.header.payloadLength == payload.count
        && nhs_hash64(begin, payload.count, 0) == found.header.payloadChecksum
    }
    return false
  }

  /// Counts its bytes as pinned from now on: its file is gone, and only leases keep it.
  func drop() {
    if !isDropped.exchange(true, ordering: .relaxed) { pinned.add(bytes.count) }
  }

  /// The record at an offset.
  @inline(__always)
  func record(at offset: Int) -> RecordHeader.Found? {
    RecordHeader.read(bytes, at: offset, salt: header.salt)
  }
}

/// One of several things that keep a pack mapped, so that leases of different threads don't count on one counter. Has a
/// copy of what a reader wants to know of it, who so needs to follow no further reference.
// It never changes, hence Sendable.
final class PackPin: @unchecked Sendable {
  let pack: Pack
  let bytes: UnsafeRawBufferPointer
  let isDistrusted: Bool
  private let salt: UInt64
  // Keeps the reference counts of two pins, which two threads write, away from each other: a pair of cache lines.
  private let distance: (SIMD16<UInt64>) = .zero

  init(_ pack: Pack) {
    self.pack = pack
    bytes = pack.bytes
    isDistrusted = pack.isDistrusted
    salt = pack.header.salt
  }

  /// Begins to fetch a record's header and key.
  @inline(__always)
  func prefetch(_ offset: Int) {
    guard offset < bytes.count, let base = bytes.baseAddress else { return }
    nhs_prefetch(base + offset)
    nhs_prefetch(base + offset + 64)
  }

  /// The record at an offset, if it is one of this key.
  @inline(__always)
  func match(at offset: Int, _ kind: RecordKind, _ name: UnsafeRawBufferPointer) -> nhs_record? {
    var found = nhs_record()
    let isIt = nhs_match_record(
      bytes.baseAddress, bytes.count, offset, salt, kind.rawValue, name.baseAddress, name.count, &found)
    return isIt == 1 ? found : nil
  }
}

/// Whether what was written to packs is there still. When a file system fails, or turns read-only by itself, the kernel drops pages
/// that it couldn't write: a mapping then has what is on the disk, zeros for instance, and hears of no error.
final class PackTrust: Sendable {
  private let hasEnded = Atomic(false)

  var isOver: Bool { hasEnded.load(ordering: .acquiring) }

  /// False when it had ended before.
  func end() -> Bool { !hasEnded.exchange(true, ordering: .acquiringAndReleasing) }
}

/// Bytes of packs that were dropped while leases held them.
final class PinnedBytes: Sendable {
  private let count = Atomic(0)

  func add(_ amount: Int) { count.wrappingAdd(amount, ordering: .relaxed) }
  var current: Int { max(0, count.load(ordering: .relaxed)) }
}
