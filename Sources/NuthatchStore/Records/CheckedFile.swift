import Glibc
import NuthatchBase

/// The pack whose records were checked last, kept open: whoever goes through a list meets record after record of one
/// pack, each for the first time, and opening costs as much as checking.
final class CheckedFile: Sendable {
  private let kept = Locked<(number: UInt32, fd: Int32)?>(nil)

  /// The pack's file, for this caller alone; nil when it can't be opened.
  func take(_ number: UInt32, _ directory: StoreDirectory) -> Int32? {
    let found: Int32? = kept.withLock { kept in
      guard let file = kept, file.number == number else { return nil }
      kept = nil
      return file.fd
    }
    return found ?? (try? directory.openFile(directory.packs, PackName.of(number), O_RDONLY))?.0
  }

  func giveBack(_ number: UInt32, _ fd: Int32, _ directory: StoreDirectory) {
    let superfluous: Int32? = kept.withLock { kept in
      defer { kept = (number, fd) }
      return kept?.fd
    }
    if let superfluous { directory.system.close(superfluous) }
  }

  /// Lets go of it, so that a pack that was dropped takes no room.
  func close(_ directory: StoreDirectory) {
    let file = kept.withLock { kept in
      defer { kept = nil }
      return kept
    }
    if let file { directory.system.close(file.fd) }
  }
}
