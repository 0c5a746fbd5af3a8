import Glibc

/// An error of the store. A record that isn't usable is a miss, not an error.
public struct StoreFault: Error, Sendable, Equatable {
  /// The cause, for a program.
  public enum Kind: Sendable {
    /// A system call failed.
    case io
    /// The disk or the quota is full, or the file would exceed the size limit.
    case noSpace
    /// There was no memory for a copy or a mapping.
    case outOfMemory
    /// The directory can only be read: its file system is read-only, or this user may not write there.
    case readOnly
    /// The directory belongs to another user, or other users may write to it.
    case denied
    /// A file in the directory isn't one that Nuthatch made: a link, another user's file, or a file that other users may write
    /// to.
    case unsafeFile
    /// An argument is invalid.
    case invalid
    /// The directory is open in this process with other options.
    case conflict
    /// The record is larger than the store accepts.
    case tooLarge
    /// Another process or thread has held a lock for too long.
    case busy
    /// The store was opened before this process was forked.
    case forked
    /// The store was closed.
    case closed
  }

  /// The cause, for a program.
  public let kind: Kind
  /// The cause, for a person.
  public let message: String
  /// Whether the disk failed, or its file system has turned read-only.
  let isOfDisk: Bool

  package init(_ kind: Kind, _ message: String) { self.init(kind, message, isOfDisk: false) }

  fileprivate init(_ kind: Kind, _ message: String, isOfDisk: Bool) {
    self.kind = kind
    self.message = message
    self.isOfDisk = isOfDisk
  }

  static let closed = StoreFault(.closed, "the cache is closed")
  /// The error of a change to a store that can only be read.
  static func readOnly(_ fault: SystemFault) -> StoreFault {
    let why = fault.number == EROFS ? "the file system is read-only" : "this user may not write to it"
    return StoreFault(.readOnly, "the cache can only be read: \(why)")
  }

  static let forked = StoreFault(
    .forked, "the cache was opened before a fork: open it again in the child process")
}

extension StoreFault {
  /// - Parameter failure: what failed, for a person, such as "can't open the index".
  init(_ fault: SystemFault, _ failure: String) {
    let kind: Kind =
      switch fault.number {
      case ENOSPC, EDQUOT, EFBIG: .noSpace
      case ENOMEM: .outOfMemory
      default: fault.unsafe == nil ? .io : .unsafeFile
      }
    self.init(kind, "\(failure): \(fault.reason)", isOfDisk: fault.number == EIO || fault.number == EROFS)
  }
}

/// Runs system calls. If one fails, throws its reason after `failure`, a text such as "can't open the index".
func explaining<Result>(
  _ failure: String, _ body: () throws(SystemFault) -> Result
) throws(StoreFault) -> Result {
  do { return try body() } catch { throw StoreFault(error, failure) }
}
