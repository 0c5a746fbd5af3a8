/// A record's payload, without a copy. It stays valid until the lease is released, even if the record is evicted or removed, or
/// the store is closed. Sendable, because the bytes never change.
public struct Lease: @unchecked Sendable {
  /// The object that keeps the bytes: a pack's mapping, or private memory.
  let pin: any AnyObject & Sendable
  /// The payload. Valid as long as this lease or a copy of it.
  public let unsafeBytes: UnsafeRawBufferPointer
  /// The form and size of the payload.
  public let shape: PayloadShape
  /// The sequence number. Of two records with one key, the later one has the higher number. Two leases with the same key and
  /// number have the same record: it keeps the number when it moves from memory to a pack, or between packs. Never 0 for a
  /// record in a pack.
  public let sequence: UInt64

  /// The length of the payload in bytes.
  public var count: Int { unsafeBytes.count }

  /// Runs `body` with the payload and keeps it valid meanwhile.
  public func withBytes<Result, Fault>(_ body: (UnsafeRawBufferPointer) throws(Fault) -> Result) throws(Fault)
    -> Result
  {
    defer { withExtendedLifetime(pin) {} }
    return try body(unsafeBytes)
  }

  /// Whether a part of the payload's pack couldn't be read from the disk, so that the payload may hold zeros. Check it after
  /// reading. If written bytes may have been lost without an error, verifies the payload's checksum.
  public var isBroken: Bool {
    if let pack = (pin as? PackPin)?.pack {
      let isLost = pack.isDistrusted && !pack.holds(unsafeBytes, sequence: sequence)
      return isLost || pack.isBroken
    }
    return ((pin as? MemoryPin)?.entry.owner as? HeldLease)?.lease.isBroken ?? false
  }

  /// Returns the result of `body`; nil if the payload may have held zeros because of a disk error.
  public func reading<Result>(_ body: (UnsafeRawBufferPointer) -> Result?) -> Result? {
    let result = withBytes(body)
    return result == nil || isBroken ? nil : result
  }
}

/// The result of a lookup that may verify only a short payload.
public enum Lookup: Sendable {
  case nothing
  case found(Lease)
  /// The record exists and has this many bytes, but wasn't verified in this session.
  case unchecked(Int)

  /// The lease, if the record was found.
  public var lease: Lease? {
    if case .found(let lease) = self { lease } else { nil }
  }
}
