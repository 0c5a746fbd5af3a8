import Glibc
import SlowDisk
import Testing

/// A folder on a disk that doesn't answer until a test lets it.
final class HeldFolder: Sendable {
  private let path: String

  init(_ path: String) throws {
    let real = try #require(realpath(path, nil))
    self.path = String(cString: real)
    free(real)
    slow_disk_hold(self.path)
  }

  deinit {
    goOn()
    slow_disk_forget(path)
  }

  func waitUntilReached() -> Bool {
    for _ in 0..<60_000 where slow_disk_waiting(path) == 0 { usleep(1000) }
    return slow_disk_waiting(path) > 0
  }

  /// - Parameter error: the number of the error that every call has.
  func goOn(error: Int32 = 0) { slow_disk_release(path, error) }
}
