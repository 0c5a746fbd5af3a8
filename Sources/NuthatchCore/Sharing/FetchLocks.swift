import CSystem
import Glibc
import NuthatchStore

/// One process of the machine fetches a URL at a time: byte locks of one file in the cache's directory, of which the kernel
/// frees those of a process that dies.
///
/// A process that was stopped holds its locks on, and does nothing. So each notes in the file, every second, which of its
/// fetches have shown a sign of life, and a process that waits believes in a lock no longer than its own patience lasts.
///
/// A fetch may end without leaving anything for others: its answer can't be kept, or there was none. Then it says so, too, and
/// the processes that waited for it ask the server all at once, instead of one after the other.
///
/// Two names whose hashes meet in one byte wait for each other, which costs time and nothing else. Where the file can't be
/// had, each process fetches.
final class FetchLocks: Sendable {
  private let file: Int32
  /// How many fetches of this process share a lock: they are told apart by the table of fetches, not here.
  private let held = Locked<[Int64: Int]>([:])

  /// Called before a note is read or written: a test's disk that doesn't answer.
  private let beforeNotes: (@Sendable () -> Void)?

  init(directory: String, beforeNotes: (@Sendable () -> Void)? = nil) {
    self.beforeNotes = beforeNotes
    file = (try? FileDoor.open(directory + "/flights", O_RDWR | O_CREAT)) ?? -1
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

  /// Of so many fetches the signs are told apart; where two meet, the later one counts.
  private static let signs: Int64 = 512

  /// Where the notes begin of fetches that left nothing.
  private static let vainNotes = Int(signs) * 8

  private static func offset(_ place: Int64) -> Int { Int(place & (signs - 1)) * 8 }

  // Notes are bytes of the file, and reading or writing them may wait for the disk: not on the loop's thread. Locks are taken
  // and released there: F_OFD_SETLK never waits for another owner, and on a file system of this machine the kernel keeps the
  // locks in memory. On one of another machine the call is a message to it; the store warns of those when it is opened.

  /// Notes that the fetch with this lock was alive at `time`, on the machine's monotonic clock.
  func noteSign(_ place: Int64, at time: Int64, now: Int64) {
    // Where it can't be written, the others wait for as long as for a silent one.
    if lastSign(place, now: now) ?? .min < time { write(time, at: Self.offset(place)) }
  }

  /// The last sign of the fetch with this lock; nil when there was none.
  func lastSign(_ place: Int64, now: Int64) -> Int64? { read(at: Self.offset(place), now: now) }

  /// Notes that the fetch with this lock leaves nothing for the processes that wait for it.
  func noteVain(_ place: Int64, at time: Int64) {
    // Where it can't be written they wait for each other.
    write(time, at: Self.offset(place) + Self.vainNotes)
  }

  /// Whether such a fetch has ended since. Of another one whose note has the same place as much is said, which costs a
  /// request where a fetch ended without a word.
  func wasVain(_ place: Int64, since: Int64, now: Int64) -> Bool {
    read(at: Self.offset(place) + Self.vainNotes, now: now) ?? .min >= since
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
    // What lies ahead was noted before the machine began anew.
    return count == 8 && time <= now ? time : nil
  }

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
