import CSystem
import Glibc
import NuthatchStore
import NuthatchTransport
import Synchronization

/// The cookies of one site, shared by all its requests in this process. Any thread may use it.
///
/// Answers set cookies on the loop's thread, which must not wait for a disk. So the loop's thread stores them in memory, for
/// the next request. A writer's thread writes them to the file, and so does the worker that handles the answer, before the
/// answer is delivered (`AnswerProcessor`). If another thread uses the file for a second, the worker doesn't wait longer.
final class SiteCookies: Sendable {
  /// Cookies of one answer that aren't in the file yet.
  private struct Change {
    let lines: [String]
    let url: WebURL
    let time: Int64
  }

  private struct State {
    var jar = CookieJar()
    /// Changes that are in `jar` but not yet in the file.
    var pending: [Change] = []
    var isToBeWritten = false
    /// Inode, size and modification time of the file at the last read or write.
    var identity: [Int64] = []
  }

  /// The most changes that wait to be written. Further ones are in `jar` only.
  private static let mostPending = 1000

  /// Never held during a wait for the disk.
  private let state = Locked(State())
  /// Whether a thread reads or writes the file.
  private let isAtFile = Atomic(false)
  /// nil for cookies in memory only.
  private let path: String?
  private let clock: WallClock
  private let writers: WorkerPool
  /// The longest wait for another process's lock on the file, in nanoseconds.
  private let patience: Int64

  init(path: String?, _ clock: WallClock, _ writers: WorkerPool, patience: Int64 = 1_000_000_000) {
    self.path = path
    self.clock = clock
    self.writers = writers
    self.patience = patience
  }

  /// Returns the `Cookie` header for `url`; nil for none. First reads the file if another process has written it. That may wait
  /// for the disk.
  func header(for url: WebURL) -> String? {
    if let path, enter(patience: 0) {
      readIfChanged(path)
      leave()
    }
    return knownHeader(for: url)
  }

  /// Returns the `Cookie` header from memory, without reading the file.
  func knownHeader(for url: WebURL) -> String? {
    state.withLock { $0.jar.header(for: url, now: clock.seconds) }
  }

  /// Stores the cookies of an answer. A writer's thread then calls `settle`, which writes them to the file.
  func take(_ head: ResponseHead, from url: WebURL) {
    let lines = head.fields.values("Set-Cookie")
    guard !lines.isEmpty else { return }
    let mustWrite = state.withLock { state in
      let now = clock.seconds
      guard state.jar.take(lines, from: url, now: now), path != nil else { return false }
      if state.pending.count < Self.mostPending {
        state.pending.append(Change(lines: lines, url: url, time: now))
      }
      defer { state.isToBeWritten = true }
      return !state.isToBeWritten
    }
    if mustWrite, !writers.submit(priority: Priority.most, { self.settle() }) { settle() }
  }

  /// Writes new cookies to the file. Don't call it on the loop's thread.
  func settle() {
    guard let path, state.withLock({ !$0.pending.isEmpty }) else { return }
    state.withLock { $0.isToBeWritten = false }
    guard enter(patience: patience) else { return }
    defer { leave() }
    guard state.withLock({ !$0.pending.isEmpty }) else { return }
    let lock = lockedFile(path)
    defer { if lock >= 0 { close(lock) } }
    // Repeats, because cookies may come meanwhile whose thread has waited in vain for this one.
    while state.withLock({ !$0.pending.isEmpty }) {
      readIfChanged(path)
      let (text, count) = state.withLock { ($0.jar.file, $0.pending.count) }
      // Otherwise the cookies stay pending: another process's file may replace the jar.
      guard write(Array(text.utf8), path) else { return }
      let identity = Self.identity(of: path)
      state.withLock { state in
        state.pending.removeFirst(min(count, state.pending.count))
        state.identity = identity
      }
    }
  }

  /// Deletes all cookies. Don't call it on the loop's thread.
  func clear() {
    let isAlone = enter(patience: patience)
    defer { if isAlone { leave() } }
    let lock = path.map { lockedFile($0) } ?? -1
    defer { if lock >= 0 { close(lock) } }
    state.withLock { state in
      state.jar = CookieJar()
      state.pending = []
    }
    guard let path else { return }
    // A full disk has room for this, but none for an empty file.
    if unlink(path) != 0, errno != ENOENT { complain(path) }
    let identity = Self.identity(of: path)
    state.withLock { $0.identity = identity }
  }

  // MARK: The file

  /// Returns false if another thread has used the file for all of `patience`, in nanoseconds.
  private func enter(patience: Int64) -> Bool {
    let due = nhs_monotonic_ns() &+ patience
    while !isAtFile.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged {
      guard nhs_monotonic_ns() < due else { return false }
      usleep(1000)
    }
    return true
  }

  private func leave() { isAtFile.store(false, ordering: .releasing) }

  /// Reads the file if another process has written it.
  private func readIfChanged(_ path: String) {
    let identity = Self.identity(of: path)
    guard state.withLock({ $0.identity != identity }) else { return }
    var jar = CookieJar(file: SmallFile.read(path).map { String(decoding: $0, as: UTF8.self) } ?? "")
    state.withLock { state in
      for change in state.pending { _ = jar.take(change.lines, from: change.url, now: change.time) }
      state.identity = identity
      state.jar = jar
    }
  }

  /// Locks the cookies of the directory against other processes. Returns the descriptor of the lock file, also if another
  /// process keeps the lock for longer than `patience`, or -1 if the lock file can't be opened. Without the lock, two processes
  /// that write at once can lose a cookie.
  private func lockedFile(_ path: String) -> Int32 {
    let folder = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    mkdir(String(folder), 0o700)
    guard let lock = try? FileDoor.open("\(folder)/lock", O_RDWR | O_CREAT) else { return -1 }
    let due = nhs_monotonic_ns() &+ patience
    while flock(lock, LOCK_EX | LOCK_NB) != 0, nhs_monotonic_ns() < due { usleep(1000) }
    return lock
  }

  private func write(_ bytes: [UInt8], _ path: String) -> Bool {
    guard !SmallFile.replace(path, bytes) else { return true }
    complain(path)
    return false
  }

  /// Call it while `errno` has the error.
  private func complain(_ path: String) {
    Log.note(.warning, "cookies can't be saved: \(path): \(String(cString: strerror(errno)))")
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
final class CookieJars: Sendable {
  private let folder: String
  private let clock: WallClock
  private let writers: WorkerPool
  private let open = Locked<[String: SiteCookies]>([:])

  init(_ directory: String, _ clock: WallClock, _ writers: WorkerPool) {
    folder = "\(directory)/cookies"
    self.clock = clock
    self.writers = writers
  }

  /// Returns the cookies of a base URL, for one user and partition.
  func cookies(_ storage: CookieJarMode, of base: WebURL, for names: [String]) -> SiteCookies {
    let place = ([base.address] + names).joined(separator: "\n")
    return open.withLock { open in
      let key = "\(storage.rawValue) \(place)"
      if let known = open[key] { return known }
      let digest = Array(place.utf8).withUnsafeBytes { Digest(of: $0).bytes }
      let name = digest.prefix(16).hexadecimal
      let made = SiteCookies(path: storage == .disk ? "\(folder)/\(name).txt" : nil, clock, writers)
      open[key] = made
      return made
    }
  }
}
