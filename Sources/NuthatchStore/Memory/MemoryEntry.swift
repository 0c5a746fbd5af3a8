import Glibc

/// The type of an entry in the memory tier. It is part of the entry's key: a record and an object made from it may have the
/// same name.
enum MemorySpace: UInt8, Sendable {
  /// An object of the caller: decoded pixels, a lease, anything.
  case value
  /// A record that isn't in a pack yet.
  case record

  /// Gives the two types different places in the table.
  @inline(__always)
  func home(_ hash: KeyHash) -> UInt64 { self == .value ? hash.low : ~hash.low }
}

/// One entry of the memory tier. It never changes, hence Sendable; a change makes a new entry.
final class MemoryEntry: @unchecked Sendable {
  let space: MemorySpace
  let key: RecordKey
  /// Keeps the bytes, and anything else that the caller wants to find again.
  let owner: any AnyObject & Sendable
  let bytes: UnsafeRawBufferPointer
  let shape: PayloadShape
  let sequence: UInt64
  /// The memory that becomes free when the entry is removed, in bytes.
  let privateBytes: Int
  /// The moment of the request, for an answer that is in no pack.
  let moment: Moment?

  init(
    _ space: MemorySpace, _ key: RecordKey, _ owner: any AnyObject & Sendable,
    _ bytes: UnsafeRawBufferPointer,
    _ shape: PayloadShape, sequence: UInt64 = 0, privateBytes: Int, moment: Moment? = nil
  ) {
    self.space = space
    self.key = key
    self.owner = owner
    self.bytes = bytes
    self.shape = shape
    self.sequence = sequence
    self.privateBytes = privateBytes
    self.moment = moment
  }

  /// The cost in bytes: the owned memory, and the memory for finding it (this object, a pin or two, its share of the table).
  var cost: Int { Self.cost(privateBytes, key) }

  static func cost(_ privateBytes: Int, _ key: RecordKey) -> Int { privateBytes + 400 + 2 * key.bytes.count }

  func isFor(_ space: MemorySpace, _ kind: RecordKind, _ hash: KeyHash, _ name: UnsafeRawBufferPointer)
    -> Bool
  {
    self.space == space && key.hash == hash && key.kind == kind && key.bytes.count == name.count
      && key.bytes.withUnsafeBytes { isSame($0.baseAddress, name) }
  }
}

/// Keeps an entry for the threads of one lane, so that hits of different lanes change no common reference count. The fields
/// that a hit reads are in this object, next to its reference count, which saves one memory access.
// It never changes, hence Sendable.
final class MemoryPin: @unchecked Sendable {
  private typealias Words = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

  let entry: MemoryEntry
  private let bytes: UnsafeRawBufferPointer
  private let sequence: UInt64
  private let shape: PayloadShape
  private let space: MemorySpace
  private let kind: RecordKind
  private let nameLength: Int
  /// The beginning of the key. The usual key, a digest and a recipe, fits whole.
  private let name: Words

  init(_ entry: MemoryEntry) {
    self.entry = entry
    bytes = entry.bytes
    sequence = entry.sequence
    shape = entry.shape
    space = entry.space
    kind = entry.key.kind
    nameLength = entry.key.bytes.count
    var words: Words = (0, 0, 0, 0, 0, 0)
    withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: entry.key.bytes.prefix($0.count)) }
    name = words
  }

  /// A lease on the entry, for any thread.
  var lease: Lease { Lease(pin: self, unsafeBytes: bytes, shape: shape, sequence: sequence) }

  /// Returns whether this is the entry with this key.
  @inline(__always)
  func isFor(_ space: MemorySpace, _ kind: RecordKind, _ wanted: UnsafeRawBufferPointer) -> Bool {
    guard nameLength == wanted.count, self.space == space, self.kind == kind, let base = wanted.baseAddress
    else { return false }
    if nameLength > MemoryLayout<Words>.size {
      return entry.key.bytes.withUnsafeBytes { isSame($0.baseAddress, wanted) }
    }
    return withUnsafeBytes(of: name) {
      isSame($0.baseAddress, UnsafeRawBufferPointer(start: base, count: nameLength))
    }
  }
}

@inline(__always)
private func isSame(_ own: UnsafeRawPointer?, _ name: UnsafeRawBufferPointer) -> Bool {
  guard let own, let other = name.baseAddress else { return name.isEmpty }
  return memcmp(own, other, name.count) == 0
}

extension Lease {
  /// The object that was given to `Store.keep` with the bytes; nil for a record from a pack.
  public var owner: (any AnyObject & Sendable)? {
    guard let owner = (pin as? MemoryPin)?.entry.owner else { return nil }
    return (owner as? HeldLease)?.owner ?? owner
  }
}

/// A record's lease in the memory tier, so that a hit needs no pack.
final class HeldLease: Sendable {
  let lease: Lease
  /// An object that the caller made from the record.
  let owner: (any AnyObject & Sendable)?

  init(_ lease: Lease, _ owner: (any AnyObject & Sendable)?) {
    self.lease = lease
    self.owner = owner
  }
}

/// Memory for a record's payload, aligned at least as in packs.
// Its bytes never change, hence Sendable.
final class PrivateMemory: @unchecked Sendable {
  let bytes: UnsafeRawBufferPointer

  /// Copies the parts, one behind the other. Returns nil if there is no memory.
  init?(_ parts: [UnsafeRawBufferPointer], count: Int) {
    var memory: UnsafeMutableRawPointer?
    guard posix_memalign(&memory, 64, max(1, count)) == 0, let memory else { return nil }
    var end = memory
    for part in parts where !part.isEmpty {
      guard let base = part.baseAddress else { continue }
      memcpy(end, base, part.count)
      end += part.count
    }
    bytes = UnsafeRawBufferPointer(start: memory, count: count)
  }

  deinit { free(UnsafeMutableRawPointer(mutating: bytes.baseAddress)) }
}
