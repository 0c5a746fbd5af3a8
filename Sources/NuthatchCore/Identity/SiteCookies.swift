import CSystem
import Glibc
import NuthatchTransport

/// Where a site's cookies are kept.
public enum CookieStorage: Int32, Sendable {
  /// In memory, as long as the directory is open in this process.
  case memory = 1
  /// In the cache's directory, too, for other processes and later ones: readable for its owner only, and in clear.
  case disk = 2
}

/// The cookies of one site, which all its requests in this process share. Any thread may use it.
final class SiteCookies: Sendable {
  private struct State {
    var jar = CookieJar()
    /// The file as it was read or written last.
    var identity: [Int64] = []
  }

  private let state = Locked(State())
  /// Nil in memory only.
  private let path: String?
  private let clock: WallClock

  init(path: String?, _ clock: WallClock) {
    self.path = path
    self.clock = clock
  }

  /// What a request for `url` sends; nil for nothing.
  func header(for url: WebURL) -> String? {
    state.withLock { state in
      refresh(&state)
      return state.jar.header(for: url, now: clock.seconds)
    }
  }

  /// Takes what an answer sets. It is in the file when this returns.
  func take(_ head: ResponseHead, from url: WebURL) {
    let lines = head.fields.values("Set-Cookie")
    guard !lines.isEmpty else { return }
    change { $0.take(lines, from: url, now: clock.seconds) }
  }

  func clear() {
    change { jar in
      jar = CookieJar()
      return true
    }
  }

  /// - Parameter body: false when nothing is different.
  private func change(_ body: (inout CookieJar) -> Bool) {
    let lock = lockedFile()
    defer { if lock >= 0 { close(lock) } }
    state.withLock { state in
      refresh(&state)
      guard body(&state.jar), let path else { return }
      write(Array(state.jar.file.utf8), path)
      state.identity = Self.identity(of: path)
    }
  }

  // MARK: The file

  /// Reads what another process has written.
  private func refresh(_ state: inout State) {
    guard let path else { return }
    let identity = Self.identity(of: path)
    guard identity != state.identity else { return }
    state.identity = identity
    state.jar = CookieJar(file: SmallFile.read(path).map { String(decoding: $0, as: UTF8.self) } ?? "")
  }

  /// Holds other processes off for a moment; -1 where there is nothing to hold, or somebody is at it for longer: the loop's
  /// thread waits for nobody, and what is lost then is a cookie that two processes were given at the same time.
  private func lockedFile() -> Int32 {
    guard let path else { return -1 }
    let folder = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    mkdir(String(folder), 0o700)
    let lock = open("\(folder)/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0 else { return -1 }
    for _ in 0..<100 {
      if flock(lock, LOCK_EX | LOCK_NB) == 0 { return lock }
      sched_yield()
    }
    return lock
  }

  private func write(_ bytes: [UInt8], _ path: String) {
    let draft = "\(path)-\(getpid())"
    let file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { return Log.note(.warning, "cookies can't be kept: \(path)") }
    let isWritten = bytes.withUnsafeBytes { NewFile.write($0, to: file, at: 0) }
    close(file)
    guard isWritten, rename(draft, path) == 0 else {
      unlink(draft)
      return Log.note(.warning, "cookies can't be kept: \(path)")
    }
  }

  private static func identity(of path: String) -> [Int64] {
    var status = stat()
    guard stat(path, &status) == 0 else { return [] }
    return [
      Int64(bitPattern: UInt64(status.st_ino)), Int64(status.st_size), Int64(status.st_mtim.tv_sec),
      Int64(status.st_mtim.tv_nsec),
    ]
  }
}

/// The cookies of all sites of a directory in this process.
final class CookieShelf: Sendable {
  private let folder: String
  private let clock: WallClock
  private let open = Locked<[String: SiteCookies]>([:])

  init(_ directory: String, _ clock: WallClock) {
    folder = "\(directory)/cookies"
    self.clock = clock
  }

  /// Those of a base URL, of whoever asks there.
  func cookies(_ storage: CookieStorage, of base: WebURL, for names: [String]) -> SiteCookies {
    let place = ([base.address] + names).joined(separator: "\n")
    return open.withLock { open in
      let key = "\(storage.rawValue) \(place)"
      if let known = open[key] { return known }
      let digest = Array(place.utf8).withUnsafeBytes { Digest(of: $0)?.bytes } ?? []
      let name = digest.prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      let made = SiteCookies(path: storage == .disk ? "\(folder)/\(name).txt" : nil, clock)
      open[key] = made
      return made
    }
  }
}
