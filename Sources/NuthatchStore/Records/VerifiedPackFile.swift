import Glibc
import NuthatchBase

/// Keeps the pack file open whose record was verified last. A run over a list verifies many records of one pack, and opening a
/// file costs as much as verifying a record.
final class VerifiedPackFile: Sendable {
  private let kept = Locked<(number: UInt32, fd: Int32)?>(nil)

  /// Returns the pack's file for this caller alone, or nil if it can't be opened. The caller passes it to `giveBack`.
  func take(_ number: UInt32, _ directory: StoreDirectory) -> Int32? {
    let found: Int32? = kept.withLock { kept in
      guard let file = kept, file.number == number else { return nil }
      kept = nil
      return file.fd
    }
    return found ?? (try? directory.openFile(directory.packs, PackName.of(number), O_RDONLY))?.0
  }

  /// Keeps the file open, and closes the one that was kept before.
  func giveBack(_ number: UInt32, _ fd: Int32, _ directory: StoreDirectory) {
    let superfluous: Int32? = kept.withLock { kept in
      defer { kept = (number, fd) }
      return kept?.fd
    }
    if let superfluous { directory.system.close(superfluous) }
  }

  /// Closes the file, so that a dropped pack takes no room.
  func close(_ directory: StoreDirectory) {
    let file = kept.withLock { kept in
      defer { kept = nil }
      return kept
    }
    if let file { directory.system.close(file.fd) }
  }
}
