import CSystem
import Glibc
import NuthatchBase
import Synchronization

/// The first 64 bytes of a pack (docs/FORMAT.md, "A pack").
struct PackHeader {
  static let size = 64
  static let magic: UInt64 = 0x314B_4341_5054_554E  // NUTPACK1
  static let version: UInt32 = 3
  /// The format of Nuthatch 0.1. Packs of this format are read, but nothing is appended to them.
  static let earlierVersion: UInt32 = 2

  var family: Family
  var number: UInt32
  var capacity: Int
  var salt: UInt64
  var isEarlier = false
  /// The pack's place in the order in which packs are dropped: that of the pack with this number. 0: that of its own number.
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
  /// Returns nil if the bytes aren't the header of a readable pack with this number.
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

  /// Reads the header of an open file. Returns nil if it isn't the header of a pack with this number.
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

/// Names of packs, made only from numbers.
enum PackName {
  /// The highest number that a new pack gets.
  static let lastGiven: UInt32 = 1 << 31 - 1

  static func of(_ number: UInt32, _ ending: String = "pack") -> String {
    number.digits(8) + "." + ending
  }

  /// Returns the number in a name that `of` has made, or nil.
  static func number(_ name: String) -> UInt32? { number(name, "pack") }

  static func number(_ name: String, _ ending: String) -> UInt32? {
    guard name.hasSuffix("." + ending), let number = UInt32(name.dropLast(ending.utf8.count + 1)),
      number != 0,
      number != .max, of(number, ending) == name
    else { return nil }
    return number
  }
}

/// A pack that is mapped for reading. It is unmapped when the last lease is released.
// Its bytes are only read, hence Sendable.
final class Pack: @unchecked Sendable {
  let header: PackHeader
  let bytes: UnsafeRawBufferPointer
  private let system: any SystemCalls
  private let mapping: FileMapping
  private let pinned: PinnedBytes
  private let trust: PackTrust
  private let isDropped = Atomic(false)

  /// Opens and maps a pack. Returns nil if there is no usable pack with this number.
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

  /// Whether a read failed; some of the bytes are zeros then. Check it after reading.
  @inline(__always)
  var isBroken: Bool { mapping.isBroken }

  /// Whether each lookup verifies the record and returns a copy of it.
  var isDistrusted: Bool { trust.isOver }

  /// Returns whether a payload that was verified before still has its checksum.
  func holds(_ payload: UnsafeRawBufferPointer, sequence: UInt64) -> Bool {
    guard let base = bytes.baseAddress, let begin = payload.baseAddress else { return false }
    let place = begin - base
    // A lease doesn't know where its record begins. Search backwards; keys are usually short.
    let first = max(PackHeader.size, place - RecordHeader.size - Int(UInt16.max) - 16)
    for offset in stride(from: place & ~7 - RecordHeader.size - 8, through: first, by: -8) {
      guard let found = record(at: offset), found.payload == place else { continue }
      return found.header.sequence == sequence && found.header.payloadLength == payload.count
        && nhs_hash64(begin, payload.count, 0) == found.header.payloadChecksum
    }
    return false
  }

  /// Counts its bytes as pinned from now on. Call it when its file is deleted: then only leases keep the mapping.
  func drop() {
    if !isDropped.exchange(true, ordering: .relaxed) { pinned.add(bytes.count) }
  }

  /// Returns the record at an offset, or nil.
  @inline(__always)
  func record(at offset: Int) -> RecordHeader.Found? {
    RecordHeader.read(bytes, at: offset, salt: header.salt)
  }
}

/// One of several objects that keep a pack mapped, so that leases of different threads don't share a reference count. It has
/// copies of the pack's fields that readers need, which saves them a memory access.
// It never changes, hence Sendable.
final class PackPin: @unchecked Sendable {
  let pack: Pack
  let bytes: UnsafeRawBufferPointer
  let isDistrusted: Bool
  private let salt: UInt64
  // Keeps the reference counts of two pins, which two threads write, in different pairs of cache lines.
  private let distance: (SIMD16<UInt64>) = .zero

  init(_ pack: Pack) {
    self.pack = pack
    bytes = pack.bytes
    isDistrusted = pack.isDistrusted
    salt = pack.header.salt
  }

  /// Prefetches a record's header and key.
  @inline(__always)
  func prefetch(_ offset: Int) {
    guard offset < bytes.count, let base = bytes.baseAddress else { return }
    nhs_prefetch(base + offset)
    nhs_prefetch(base + offset + 64)
  }

  /// Returns the record at an offset if it has this key.
  @inline(__always)
  func match(at offset: Int, _ kind: RecordKind, _ name: UnsafeRawBufferPointer) -> nhs_record? {
    var found = nhs_record()
    let isIt = nhs_match_record(
      bytes.baseAddress, bytes.count, offset, salt, kind.rawValue, name.baseAddress, name.count, &found)
    return isIt == 1 ? found : nil
  }
}

/// Whether mapped packs show the bytes that were written. When a file system fails or becomes read-only by itself, the kernel
/// discards pages that it couldn't write. A mapping then shows the bytes on the disk, for example zeros, without an error.
final class PackTrust: Sendable {
  private let hasEnded = Atomic(false)

  var isOver: Bool { hasEnded.load(ordering: .acquiring) }

  /// Returns false if the trust had already ended.
  func end() -> Bool { !hasEnded.exchange(true, ordering: .acquiringAndReleasing) }
}

/// The bytes of packs that were dropped while leases held them.
final class PinnedBytes: Sendable {
  private let count = Atomic(0)

  func add(_ amount: Int) { count.wrappingAdd(amount, ordering: .relaxed) }
  var current: Int { max(0, count.load(ordering: .relaxed)) }
}
