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

  /// A copy of the payload.
  public func copied() -> [UInt8] { withBytes { Array($0) } }
}
