import Glibc
import NuthatchBase
import Synchronization

/// Holds the open parts of a store for its callers. Reopens the directory if it was deleted.
final class StoreDoor: Sendable {
  /// The arguments for opening a directory.
  struct Opening: Sendable {
    let path: String
    let options: Store.Options
    let system: any SystemCalls
    let following: Store.Following

    fileprivate func open(
      after old: (any RecordStore)? = nil, atOnce: Bool = false
    ) throws(StoreFault) -> any RecordStore {
      let directory = try StoreDirectory(path, trusts: options.trustsDirectory, system)
      let disk = try DiskStore(directory, options, following, after: old?.disk, atOnce: atOnce)
      // In a directory that can only be read, records that are only in memory could never be written.
      let spillsLate =
        old.map { $0 is MemoryFirstStore } ?? (options.spill == .pressure && !directory.isReading)
      return spillsLate ? MemoryFirstStore(disk) : disk
    }

    /// Whether another process has made the directory again. Doesn't block, even if a pipe has the name.
    fileprivate var isThere: Bool {
      for name in [LockFile.name, "packs"] {
        let path = path + "/" + name
        guard let fd = try? system.open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW) else {
          return false
        }
        system.close(fd)
      }
      return true
    }
  }

  private struct State {
    var opened: any RecordStore
    // The earlier ones are kept: a call may still be reading one without holding a reference.
    var former: [Glance] = []
    var isOver = false
  }
  private let opening: Opening
  private let state: Locked<State>
  private let glance: Atomic<Unmanaged<Glance>>
  private let reopening = WordLock()

  init(_ opening: Opening) throws(StoreFault) {
    self.opening = opening
    let opened = try opening.open()
    state = Locked(State(opened: opened))
    glance = Atomic(.passUnretained(opened.disk.glance))
  }

  /// The open store, for calls that use files or wait. While a call holds a reference, the files stay open.
  var opened: any RecordStore { state.withLock { $0.opened } }

  /// Runs `body`, which only reads memory for a moment. It retains no object: otherwise all threads would change one counter.
  @inline(__always)
  func seen<Result>(_ body: (Glance) -> Result) -> Result {
    glance.load(ordering: .acquiring)._withUnsafeGuaranteedRef { body($0) }
  }

  /// Runs `body`. If the directory turns out to be deleted, reopens it and runs `body` again.
  func using<Result>(
    _ body: (any RecordStore) throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result {
    let used = opened
    if !used.disk.directory.isDeleted {
      do throws(StoreFault) {
        let result = try body(used)
        if !used.disk.directory.isDeleted { return result }
      } catch {
        used.disk.current.follow(error)
        // The error may have come because the folder of the file was deleted.
        if error.kind == .io { used.disk.lookForDeletion() }
        guard used.disk.directory.isDeleted else { throw error }
      }
    }
    return try body(openAnew(after: used))
  }

  /// Looks something up without waiting and without creating a directory. Returns `none` if the directory was deleted.
  func looking<Result, Failure>(
    else none: Result, _ body: (any RecordStore) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let old = opened
    if !old.disk.directory.isDeleted {
      let result = try body(old)
      if !old.disk.directory.isDeleted { return result }
    }
    // Each lookup would try this again if it fails, so try it only at intervals.
    if old.disk.current.broken.mayTry(), opening.isThere, let made = try? openAnew(after: old, atOnce: true) {
      return try body(made)
    }
    // If only the lock file is missing, the packs are the same.
    return old.disk.directory.holdsItsPacks ? try body(old) : none
  }

  private func openAnew(
    after old: any RecordStore, atOnce: Bool = false
  ) throws(StoreFault) -> any RecordStore {
    guard atOnce ? reopening.lock(until: { 0 }) : reopening.lock(until: WaitLimit.deadline) else {
      throw StoreFault(.busy, "another thread of this process has been opening the directory for too long")
    }
    defer { reopening.unlock() }
    let now = opened
    guard now === old else { return now }
    // While it is registered, the old store looks like another process that uses the directory.
    old.disk.locks.leave()
    let made: any RecordStore
    do throws(StoreFault) { made = try opening.open(after: old, atOnce: atOnce) } catch {
      throw StoreFault(error.kind, "the directory was deleted and can't be reopened: \(error.message)")
    }
    try state.withLock { (state) throws(StoreFault) in
      guard !state.isOver else { throw .closed }
      state.opened = made
      state.former.append(old.disk.glance)
    }
    glance.store(.passUnretained(made.disk.glance), ordering: .releasing)
    return made
  }

  /// Closes the open parts. The directory is not reopened after that.
  func finish(flushes: Bool) {
    state.withLock { $0.isOver = true }
    opened.finish(flushes: flushes)
  }
}

/// The parts of a store that a call may use without holding a reference, because it only reads memory. They outlive the store;
/// they are empty then.
final class Glance: Sendable {
  let directory: StoreDirectory
  let current: CurrentIndex
  let reader: RecordReader
  let moments: Moments

  init(_ directory: StoreDirectory, _ current: CurrentIndex, _ reader: RecordReader, _ moments: Moments) {
    self.directory = directory
    self.current = current
    self.reader = reader
    self.moments = moments
  }
}
