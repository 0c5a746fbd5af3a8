/// A record's payload, where it lies: nothing is copied, and nothing takes it away before the lease is gone, neither
/// eviction nor removal nor closing the store. Sendable, since the bytes never change.
public struct Lease: @unchecked Sendable {
  /// What keeps the bytes: a pack's mapping, or private memory.
  let pin: any AnyObject & Sendable
  /// The payload. Valid as long as this lease, or a copy of it, is.
  public let unsafeBytes: UnsafeRawBufferPointer
  /// What the payload is.
  public let shape: PayloadShape
  /// Of two records with one key, the later has the higher one. Of the same key and sequence, it is the same record: it
  /// keeps its sequence when it goes from memory to a pack, and from pack to pack. Never 0 once it is in a pack.
  public let sequence: UInt64

  /// The payload's length.
  public var count: Int { unsafeBytes.count }

  /// Reads the payload, which stays where it is meanwhile.
  public func withBytes<Result, Fault>(_ body: (UnsafeRawBufferPointer) throws(Fault) -> Result) throws(Fault)
    -> Result
  {
    defer { withExtendedLifetime(pin) {} }
    return try body(unsafeBytes)
  }

  /// Whether some of the payload's pack couldn't be read from the disk: the payload may be zeros there. To be asked after
  /// reading it. Where written bytes may have been lost without a word, the payload's checksum tells.
  public var isBroken: Bool {
    if let pack = (pin as? PackPin)?.pack {
      let isLost = pack.isDistrusted && !pack.holds(unsafeBytes, sequence: sequence)
      return isLost || pack.isBroken
    }
    return ((pin as? MemoryPin)?.entry.owner as? HeldLease)?.lease.isBroken ?? false
  }

  /// What was made of the payload; nil when that may have been zeros that the disk gave instead of it.
  public func reading<Result>(_ body: (UnsafeRawBufferPointer) -> Result?) -> Result? {
    let result = withBytes(body)
    return result == nil || isBroken ? nil : result
  }
}

/// What is found under a key where only little may be read to check it.
public enum Lookup: Sendable {
  case nothing
  case found(Lease)
  /// It is there and so many bytes long, and hasn't been checked in this session.
  case unchecked(Int)

  /// What was found, if it was.
  public var lease: Lease? {
    if case .found(let lease) = self { lease } else { nil }
  }
}
