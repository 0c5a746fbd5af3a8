/// The layout of the file `index` (docs/FORMAT.md, "The index").
enum IndexLayout {
  static let magic: UInt64 = 0x5845_444E_4954_554E  // NUTINDEX
  static let version: UInt32 = 4
  /// The size of the fixed part, one page.
  static let headSize = 4096
  /// The offset of the counters of removals. A group's hash chooses one of them.
  static let removals = headSize
  static let removalCount = 4096
  static let tableStart = removals + removalCount * 8
  static let entrySize = 32
  static let slotSize = 32
  /// The most slots that a search reads. `max_probe_length` in store.c is the same number.
  static let maxProbeLength = 1024

  static let slotCount = 16
  static let packCapacity = 24
  static let boot = 32
  static let identity = 48
  static let checksum = 56
  static let isReplaced = 64
  static let drops = 68
  static let session = 72
  static let nextSequence = 128
  static let nextPack = 136
  static let limit = 144
  static let clearedBefore = 152
  static let counters = 192
  static let pendingState = 256
  static let pendingSlot = 264
  static let pendingImage = 272
  static let pendingCounters = 304
  static let pendingEntry = 344
  static let pendingUsed = 352
  static let retiringHash = 360
  static let retiringPack = 376
  static let retiringOffset = 380
  static let clears = 384
  static let hasEarlier = 392

  /// Returns the offset of the slots and the length of the file.
  static func sizes(slots: Int, packs: Int) -> (slots: Int, file: Int)? {
    let (table, tableTooLong) = packs.multipliedReportingOverflow(by: entrySize)
    let (body, bodyTooLong) = slots.multipliedReportingOverflow(by: slotSize)
    guard !tableTooLong, !bodyTooLong, table < 1 << 40, body < 1 << 45 else { return nil }
    let start = (tableStart + table + 4095) & ~4095
    return (start, start + body)
  }
}

/// The place of a record: its pack and its offset there.
struct Location: Hashable {
  var pack: UInt32
  var offset: Int
}

/// The contents of one slot.
struct Slot {
  static let unusedMark: UInt32 = 0
  static let deletedMark: UInt32 = .max

  var hash: KeyHash
  var location: Location
  /// Visited bit, kind and session. The upper 16 bits are made from the version when it is stored.
  var flags: UInt32

  static let visited: UInt32 = 1

  var kind: RecordKind? { RecordKind(rawValue: UInt8(truncatingIfNeeded: flags >> 1 & 7)) }
  var session: UInt32 { flags >> 4 & 0xFFF }

  static func flags(_ kind: RecordKind, session: UInt32 = 0) -> UInt32 {
    UInt32(kind.rawValue) << 1 | (session & 0xFFF) << 4
  }

  static let deleted = Slot(
    hash: KeyHash(low: 0, high: 0), location: Location(pack: deletedMark, offset: 0), flags: 0)
}

/// An entry of the table of packs.
struct PackEntry {
  enum State: UInt16 {
    case open = 1
    case sealed = 2
  }

  var place: Int
  var number: UInt32
  var family: Family
  var state: State
  var used: Int
  var capacity: Int
  /// Packs with a lower turn are dropped first.
  var turn: UInt32

  /// The bytes that the pack takes, in whole pages, without room reserved for later records.
  var cost: Int { (used + 4095) & ~4095 }
  /// The bytes that count against the limit; for an open pack, including reserved room.
  var claim: Int { state == .open ? max(cost, capacity) : cost }
}

/// How many slots are in use, in all and by kind.
struct IndexCounters: Equatable {
  /// Slots that don't end a search: those of records, and deleted ones.
  var occupied = 0
  var meta = 0
  var body = 0
  var thumb = 0
  var answer = 0

  /// The number of records. Damaged counters give a wrong number but don't trap.
  var live: Int { meta &+ body &+ thumb &+ answer }

  /// In the order of the index file.
  var numbers: [UInt64] {
    [occupied, meta, body, thumb, answer].map { UInt64(truncatingIfNeeded: $0) }
  }

  subscript(kind: RecordKind) -> Int {
    get {
      switch kind {
      case .meta: meta
      case .body: body
      case .thumb: thumb
      case .answer: answer
      }
    }
    set {
      switch kind {
      case .meta: meta = newValue
      case .body: body = newValue
      case .thumb: thumb = newValue
      case .answer: answer = newValue
      }
    }
  }
}
