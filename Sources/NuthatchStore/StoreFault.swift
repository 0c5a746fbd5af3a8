import Glibc

/// What the store answers when it can't do what it was asked. A record that isn't usable is no fault but a miss.
public struct StoreFault: Error, Sendable, Equatable {
  /// What went wrong, for a program.
  public enum Kind: Sendable {
    /// The system refused.
    case io
    /// The disk, or the quota, is full, or files may not be so large.
    case noSpace
    /// There was no memory for a copy or a mapping.
    case outOfMemory
    /// The directory can only be read: its file system is read-only, or this user may not write there.
    case readOnly
    /// The directory belongs to somebody else, or others may write to it.
    case denied
    /// A file of ours is not as we made it: a link, somebody else's, or one that others may write to.
    case unsafeFile
    /// An argument makes no sense.
    case invalid
    /// The directory is open in this process with other options.
    case conflict
    /// The record is larger than the store may hold.
    case tooLarge
    /// Another process, or another thread, holds a lock for too long.
    case busy
    /// The store was opened before this process was forked off.
    case forked
    /// The store was closed.
    case closed
  }

  /// What went wrong, for a program.
  public let kind: Kind
  /// What went wrong, for a person.
  public let message: String
  /// Whether the disk failed, or its file system has turned read-only.
  let isOfDisk: Bool

  package init(_ kind: Kind, _ message: String) { self.init(kind, message, isOfDisk: false) }

  fileprivate init(_ kind: Kind, _ message: String, isOfDisk: Bool) {
    self.kind = kind
    self.message = message
    self.isOfDisk = isOfDisk
  }

  static let closed = StoreFault(.closed, "the store is closed")
  /// What a store says that can only be read, when it is to be changed.
  static func readOnly(_ fault: SystemFault) -> StoreFault {
    let why = fault.number == EROFS ? "the file system is read-only" : "this user may not write to it"
    return StoreFault(.readOnly, "the cache can only be read: \(why)")
  }

  static let forked = StoreFault(.forked, "the store was opened before a fork")
}

extension StoreFault {
  init(_ fault: SystemFault, _ doing: String) {
    let kind: Kind =
      switch fault.number {
      case ENOSPC, EDQUOT, EFBIG: .noSpace
      case ENOMEM: .outOfMemory
      default: fault.unsafe == nil ? .io : .unsafeFile
      }
    self.init(kind, "\(doing): \(fault.reason)", isOfDisk: fault.number == EIO || fault.number == EROFS)
  }
}

/// Does something with the system, and says what it was when the system refuses.
func doing<Result>(
  _ what: String, _ body: () throws(SystemFault) -> Result
) throws(StoreFault) -> Result {
  do { return try body() } catch { throw StoreFault(error, what) }
}
