import CSystem
import Glibc
import NuthatchBase
import Synchronization

/// What a store has open, for its callers. When somebody deleted the directory, it opens the directory anew.
final class StoreDoor: Sendable {
  private let path: String
  private let options: Store.Options
  private let system: any SystemCalls
  private let following: Store.Following

  private struct State {
    var opened: OpenDirectory
    // What was open before. Who only looks at memory may be in it at this moment, and holds nothing (`seen`).
    var former: [DiskStore] = []
  }
  private let state: Locked<State>
  private let unretained: Atomic<Unmanaged<DiskStore>>
  private let reopening = WordLock()

  init(
    _ path: String, _ options: Store.Options, _ system: any SystemCalls,
    _ following: @escaping Store.Following
  ) throws(StoreFault) {
    self.path = absolute(path)
    self.options = options
    self.system = system
    self.following = following
    let opened = try OpenDirectory(path, options, system, following)
    state = Locked(State(opened: opened))
    unretained = Atomic(.passUnretained(opened.disk))
  }

  /// For calls that use files, or wait.
  var opened: OpenDirectory { state.withLock { $0.opened } }

  /// Looks at what is in memory: that may not use a file, nor keep what is passed. To hold it meanwhile would count on one counter
  /// for all threads.
  @inline(__always)
  func seen<Result>(_ body: (DiskStore) -> Result) -> Result {
    unretained.load(ordering: .acquiring)._withUnsafeGuaranteedRef { body($0) }
  }

  /// Does something with the records. Once more, if it shows that the directory was deleted.
  func using<Result>(
    _ body: (any RecordStore) throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result {
    let used = opened
    if !used.isDeleted {
      do throws(StoreFault) {
        let result = try body(used.records)
        if !used.isDeleted { return result }
      } catch {
        guard used.isDeleted else { throw error }
      }
    }
    do throws(StoreFault) { return try body(openAnew(insteadOf: used).records) } catch {
      guard opened === used else { throw error }
      throw StoreFault(error.kind, "the directory was deleted, and can't be opened anew: \(error.message)")
    }
  }

  /// The same for a lookup, which doesn't wait, and makes nothing.
  func lookup(_ key: RecordKey, checking most: Int) -> Lookup {
    let used = opened
    if !used.isDeleted {
      let found = used.records.lookup(key, checking: most)
      if !used.isDeleted { return found }
    }
    if OpenDirectory.isThere(path, system), let made = try? openAnew(insteadOf: used, atOnce: true) {
      return made.records.lookup(key, checking: most)
    }
    // Where only the lock is gone, the packs are those of before.
    return used.disk.directory.holdsItsPacks ? used.records.lookup(key, checking: most) : .nothing
  }

  private func openAnew(
    insteadOf old: OpenDirectory, atOnce: Bool = false
  ) throws(StoreFault) -> OpenDirectory {
    guard atOnce ? reopening.lock(until: { 0 }) : reopening.lock(until: Patience.deadline) else {
      throw StoreFault(.busy, "another thread is opening the directory, which was deleted, for too long")
    }
    defer { reopening.unlock() }
    let now = opened
    guard now === old else { return now }
    // This process must not seem to be another one that uses the directory.
    old.disk.locks.leave()
    let made = try OpenDirectory(path, options, system, following, after: old.disk, atOnce: atOnce)
    state.withLock {
      $0.opened = made
      $0.former.append(old.disk)
    }
    unretained.store(.passUnretained(made.disk), ordering: .releasing)
    return made
  }
}

/// A directory that is open, for as long as somebody uses its files. Then it is closed.
final class OpenDirectory: Sendable {
  let records: any RecordStore
  let disk: DiskStore
  private let epoch = nhs_fork_epoch()

  fileprivate init(
    _ path: String, _ options: Store.Options, _ system: any SystemCalls,
    _ following: @escaping Store.Following,
    after old: DiskStore? = nil, atOnce: Bool = false
  ) throws(StoreFault) {
    let directory = try StoreDirectory(path, trusts: options.trustsDirectory, system)
    disk = try DiskStore(directory, options, following, after: old, atOnce: atOnce)
    // What is in memory only could never be written to a directory that can only be read.
    records = options.spill == .pressure && !directory.isReading ? MemoryFirstStore(disk) : disk
  }

  deinit {
    // What a forked child has of it is its parent's.
    if epoch == nhs_fork_epoch() { disk.close() }
  }

  var isDeleted: Bool { disk.directory.isDeleted }

  /// Whether somebody made the directory again.
  fileprivate static func isThere(_ path: String, _ system: any SystemCalls) -> Bool {
    guard let fd = try? system.open(AT_FDCWD, path + "/" + LockFile.name, O_RDONLY) else { return false }
    system.close(fd)
    return true
  }
}
