import CSystem
import Glibc
import NuthatchCore

/// Notices a full disk, so that nothing is fetched that can't be stored: the run stops, and goes on when there is room again. It ends
/// when the disk fails: time doesn't cure that.
struct RoomWatch {
  enum News {
    case stop(String)
    case goOn(String)
    case giveUp(String)
  }

  private static let pause: Int64 = 250_000_000
  /// So much room is waited for at first; twice as much when that has been too little, but never a large part of the disk.
  private static let leastRoom: Int64 = 256 << 10
  private let mostRoom: Int64

  private let folder: String
  /// In nanoseconds; nil for any time.
  private let patience: Int64?
  /// Records that couldn't be kept, as far as that was noticed.
  private var unkept = 0
  /// Since when nothing could be kept; nil while that isn't known.
  private var since: Int64?
  private var wanted = RoomWatch.leastRoom
  private var due: Int64 = 0
  private var isSaid = false
  /// Whether the run has gone on since then, in vain.
  private var hasGoneOn = false
  private var hasGivenUp = false
  /// Whether nothing is to be fetched.
  private(set) var isFull = false

  init(_ folder: String, patience limit: Request.Limit?) {
    self.folder = folder
    var disk = statvfs()
    let size =
      statvfs(folder, &disk) == 0
      ? Int64(clamping: disk.f_blocks) / 16 * Int64(clamping: disk.f_frsize) : .max
    mostRoom = max(Self.leastRoom, min(64 << 20, size))
    patience = (limit ?? Request.usualPatience).nanoseconds
  }

  /// Takes notice of what has ended, before it is accounted for.
  ///
  /// - Parameter unkept: how many records couldn't be kept because the disk was full, in all.
  mutating func note(unkept: Int, hasEnded: Bool, at now: Int64) {
    if unkept > self.unkept {
      self.unkept = unkept
      since = since ?? now
      isFull = true
    } else if hasEnded, !isFull {
      (since, wanted, hasGoneOn) = (nil, Self.leastRoom, false)
    }
  }

  /// What is to be said and done now, once for each change.
  mutating func news(at now: Int64) -> News? {
    guard isFull, !hasGivenUp, let since else { return nil }
    if !isSaid {
      let failure = failure
      guard Self.isCurable(failure) else { return giveUp(failure) }
      isSaid = true
      due = now &+ Self.pause
      return .stop("the disk is full: nothing can be stored, so nothing is fetched until there is room")
    }
    guard now >= due else { return nil }
    due = now &+ Self.pause
    let failure = failure
    guard Self.isCurable(failure) else { return giveUp(failure) }
    let isOver = patience.map { now &- since >= $0 } ?? false
    if failure == 0, !(isOver && hasGoneOn) {
      (isFull, isSaid, hasGoneOn) = (false, false, true)
      wanted = min(wanted * 2, mostRoom)
      return .goOn("there is room on the disk again: the run goes on")
    }
    guard isOver else { return nil }
    hasGivenUp = true
    return .giveUp("the disk is still full: make room, and run again for what is left")
  }

  private mutating func giveUp(_ number: Int32) -> News {
    hasGivenUp = true
    return .giveUp(
      "nothing can be stored: \(String(cString: strerror(number))): mend that, and run again for what is left"
    )
  }

  /// Why the disk doesn't take a file as large as what is to come; 0 when it does.
  private var failure: Int32 {
    let file = nhs_unlinked_file(folder)
    guard file >= 0 else { return errno }
    defer { close(file) }
    return posix_fallocate(file, 0, off_t(wanted))
  }

  /// Whether there may be room later: the disk, a quota, memory or the table of open files is full.
  private static func isCurable(_ number: Int32) -> Bool {
    [0, ENOSPC, EDQUOT, ENOMEM, EMFILE, ENFILE, EINTR].contains(number)
  }
}
