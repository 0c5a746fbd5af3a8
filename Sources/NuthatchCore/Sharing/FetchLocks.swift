import CSystem
import Glibc
import NuthatchStore

/// Lets only one process of this machine fetch a URL at a time. Each fetch locks one byte of a file in the cache's directory. The
/// kernel releases the locks of a process that ends.
///
/// A stopped process (SIGSTOP) keeps its locks. So each process writes a heartbeat for its active fetches once a second, and a
/// waiting process ignores a lock whose heartbeat is too old (`FetchLock.hasStalled`).
///
/// A fetch may store no answer (`no-store`, an error). It notes that, too. The processes that waited for it then ask the server
/// all at once, not one after the other.
///
/// Two URLs whose hashes give the same byte wait for each other, which costs only time. If the file can't be opened, every
/// process fetches.
final class FetchLocks: Sendable {
  private let file: Int32
  /// The number of fetches of this process that share a lock, by offset. `FetchTable` tells these fetches apart.
  private let held = Locked<[Int64: Int]>([:])

  /// Called before a heartbeat or note is read or written. Tests use it to simulate a disk that doesn't answer.
  private let beforeNotes: (@Sendable () -> Void)?

  init(directory: String, beforeNotes: (@Sendable () -> Void)? = nil) {
    self.beforeNotes = beforeNotes
    file = (try? FileDoor.open(directory + "/flights", O_RDWR | O_CREAT)) ?? -1
    // A child that inherits the descriptor would keep the locks of a dead parent.
    if file >= 0 { _ = nhs_close_in_child(file) }
  }

  deinit {
    guard file >= 0 else { return }
    nhs_keep_in_child(file)
    close(file)
  }

  /// Returns the offset of the byte that stands for a hash.
  static func place(of hash: UInt64) -> Int64 { Int64(truncatingIfNeeded: hash >> 2) }

  /// The number of heartbeat cells. If two fetches share a cell, the later heartbeat counts.
  private static let heartbeats: Int64 = 512

  /// The offset of the first note of a fetch that stored nothing.
  private static let nothingStoredNotes = Int(heartbeats) * 8

  private static func offset(_ place: Int64) -> Int { Int(place & (heartbeats - 1)) * 8 }

  // Heartbeats and notes are bytes of the file. Reading or writing them may wait for the disk, so don't do that on the loop's
  // thread. Locks may be taken and released there: F_OFD_SETLK never waits for another holder, and on a local file system the
  // kernel keeps locks in memory. On a network file system the call is a message to its server; the store warns of such file
  // systems when it is opened.

  /// Writes the heartbeat of the fetch with this lock. `time` and `now` are monotonic, in ns.
  func noteHeartbeat(_ place: Int64, at time: Int64, now: Int64) {
    // If the write fails, waiting processes see a stalled fetch.
    if lastHeartbeat(place, now: now) ?? .min < time { write(time, at: Self.offset(place)) }
  }

  /// Returns the last heartbeat of the fetch with this lock, or nil.
  func lastHeartbeat(_ place: Int64, now: Int64) -> Int64? { read(at: Self.offset(place), now: now) }

  /// Notes that the fetch with this lock stored no answer for the waiting processes.
  func noteNothingStored(_ place: Int64, at time: Int64) {
    // If the write fails, the waiting processes ask one after the other.
    write(time, at: Self.offset(place) + Self.nothingStoredNotes)
  }

  /// Returns whether a fetch with this lock has noted since `since` that it stored no answer. A fetch in the same cell can make
  /// this true, which costs one extra request.
  func storedNothing(_ place: Int64, since: Int64, now: Int64) -> Bool {
    read(at: Self.offset(place) + Self.nothingStoredNotes, now: now) ?? .min >= since
  }

  private func write(_ time: Int64, at offset: Int) {
    guard file >= 0 else { return }
    beforeNotes?()
    withUnsafeBytes(of: time) { _ = pwrite(file, $0.baseAddress, 8, offset) }
  }

  private func read(at offset: Int, now: Int64) -> Int64? {
    guard file >= 0 else { return nil }
    beforeNotes?()
    var time: Int64 = 0
    let count = withUnsafeMutableBytes(of: &time) { nhs_pread(file, $0.baseAddress, 8, Int64(offset)) }
    // A time after `now` was written before the machine's last boot.
    return count == 8 && time <= now ? time : nil
  }

  /// Locks the byte without waiting. Returns false if another process holds it. If the file couldn't be opened, returns true.
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
