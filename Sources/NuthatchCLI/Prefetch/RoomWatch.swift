import CSystem
import Glibc
import NuthatchCore

/// Stops a run while the disk is full, because answers can't be stored, and continues it when there is room again. Ends the run
/// if the disk fails with another error.
struct RoomWatch {
  enum News {
    case stop(String)
    case goOn(String)
    case giveUp(String)
  }

  private static let pause: Int64 = 250_000_000
  /// The free bytes that the run waits for at first. Each time that this is too little, it waits for twice as much, but for at
  /// most 64 MiB and 1/16 of the disk.
  private static let leastRoom: Int64 = 256 << 10
  private let mostRoom: Int64

  private let folder: String
  /// The longest wait for room in nanoseconds; nil: no limit.
  private let patience: Int64?
  /// The last known number of records that could not be stored.
  private var unkept = 0
  /// Since when nothing could be stored; nil while the disk has room.
  private var since: Int64?
  private var wanted = RoomWatch.leastRoom
  private var due: Int64 = 0
  private var isSaid = false
  /// Whether the run has continued since `since`, without success.
  private var hasGoneOn = false
  private var hasGivenUp = false
  /// Whether fetching has to stop.
  private(set) var isFull = false

  init(_ folder: String, patience limit: Request.Limit?) {
    self.folder = folder
    var disk = statvfs()
    // A file system may say anything.
    let (sixteenth, isTooMuch) =
      statvfs(folder, &disk) == 0
      ? (disk.f_blocks / 16).multipliedReportingOverflow(by: disk.f_frsize) : (0, true)
    mostRoom = max(Self.leastRoom, isTooMuch ? 64 << 20 : Int64(min(64 << 20, sixteenth)))
    patience = (limit ?? Request.usualPatience).nanoseconds
  }

  /// Notes requests that have ended. Call it before they are accounted for.
  ///
  /// - Parameter unkept: the number of all records that could not be stored because the disk was full.
  mutating func note(unkept: Int, hasEnded: Bool, at now: Int64) {
    if unkept > self.unkept {
      self.unkept = unkept
      since = since ?? now
      isFull = true
    } else if hasEnded, !isFull {
      (since, wanted, hasGoneOn) = (nil, Self.leastRoom, false)
    }
  }

  /// Returns what to print and do now, once for each change, or nil.
  mutating func news(at now: Int64) -> News? {
    guard isFull, !hasGivenUp, let since else { return nil }
    if !isSaid {
      let failure = failure
      guard Self.isCurable(failure) else { return giveUp(failure) }
      isSaid = true
      due = now &+ Self.pause
      return .stop("the disk is full: nothing is fetched until there is room, because nothing can be stored")
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
    return .giveUp("the disk is still full: make room, then run again for the rest of the list")
  }

  private mutating func giveUp(_ number: Int32) -> News {
    hasGivenUp = true
    return .giveUp(
      "nothing can be stored: \(String(cString: strerror(number))): correct that, then run again for the rest of the list"
    )
  }

  /// The error number of an attempt to allocate a file of `wanted` bytes; 0 if it succeeds.
  private var failure: Int32 {
    let file = nhs_unlinked_file(folder)
    guard file >= 0 else { return errno }
    defer { close(file) }
    return posix_fallocate(file, 0, off_t(wanted))
  }

  /// Returns whether waiting can help: the disk, a quota, memory or the table of open files is full.
  private static func isCurable(_ number: Int32) -> Bool {
    [0, ENOSPC, EDQUOT, ENOMEM, EMFILE, ENFILE, EINTR].contains(number)
  }
}
