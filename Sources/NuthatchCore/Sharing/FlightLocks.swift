import CSystem
import Glibc
import NuthatchTransport

/// One process of the machine fetches a URL at a time: byte locks of one file in the cache's directory, of which the kernel
/// frees those of a process that dies.
///
/// Two names whose hashes meet in one byte wait for each other, which costs time and nothing else. Where the file can't be
/// had, everybody fetches.
final class FlightLocks: Sendable {
  private let file: Int32
  /// How many flights of this process share a lock: they are told apart by the table of fetches, not here.
  private let held = Locked<[Int64: Int]>([:])

  init(directory: String) {
    file = nhs_openat(
      AT_FDCWD, directory + "/flights", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
    // A child that held them open would hold its dead parent's locks.
    if file >= 0 { _ = nhs_close_in_child(file) }
  }

  deinit {
    guard file >= 0 else { return }
    nhs_keep_in_child(file)
    close(file)
  }

  /// Where the lock of a record's hash lies.
  static func place(of hash: UInt64) -> Int64 { Int64(truncatingIfNeeded: hash >> 2) }

  /// False while another process has it.
  func tryTake(_ place: Int64) -> Bool {
    guard file >= 0 else { return true }
    return held.withLock { held in
      if held[place] == nil, nhs_lock_byte(file, place, Int8(UInt8(ascii: "w")), 0) == -EAGAIN {
        return false
      }
      held[place, default: 0] += 1
      return true
    }
  }

  func release(_ place: Int64) {
    guard file >= 0 else { return }
    held.withLock { held in
      guard let users = held[place] else { return }
      held[place] = users > 1 ? users - 1 : nil
      if users == 1 { _ = nhs_lock_byte(file, place, Int8(UInt8(ascii: "u")), 0) }
    }
  }
}
