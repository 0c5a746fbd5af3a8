import CSystem
import Glibc
import NuthatchTransport

/// The outbox of a directory in this process, shared by all its handles.
// Properties outside its lock are confined to the loop's thread, hence Sendable.
final class DirectoryOutbox: @unchecked Sendable {
  private struct State {
    /// The handles that send from the outbox, with their options.
    var senders: [(owner: ObjectIdentifier, options: Options)] = []
    var subscribers: [OutboxNotices] = []
    var reported: Set<String> = []
  }

  let store: OutboxStore
  let serialQueue: SerialQueue
  var secrets: OutboxSecrets { store.secrets }
  let sender: OutboxSender
  let runtime: Runtime
  private let path: String
  private let state: Locked<State>
  // Confined to the loop's thread.
  var freezeOrders: [String: FreezeOrder] = [:]
  private var watch: NameWatch?
  private var watchesFolder = false
  private var changes: (any ReachabilitySource)?

  init(
    _ path: String, _ settings: SharedCache.Settings, _ seams: CacheSeams, _ runtime: Runtime
  ) {
    self.path = path
    self.runtime = runtime
    let clock = seams.outboxClock ?? OutboxClock.system(seams.clock)
    store = OutboxStore(
      path, clock, mostBytes: settings.outboxBytes, mostItems: settings.outboxItems,
      paused: runtime.queue.paused)
    serialQueue = SerialQueue(runtime.workers)
    let state = Locked(State())
    self.state = state
    sender = OutboxSender(store, serialQueue, runtime, seams.outboxRules) { survey, wanted in
      let subscribers = state.withLock { $0.subscribers }
      for subscriber in subscribers { subscriber.take(survey?.settled, wanted) }
      let new = state.withLock { state in
        (survey?.damage ?? []).filter { state.reported.insert($0).inserted }
      }
      for name in new {
        Log.note(.error, "the outbox's log was damaged; the damaged part was moved to \(path)/outbox/\(name)")
      }
    }
    changes = seams.reachabilitySource
  }

  /// Call it when a handle was opened.
  func open(_ owner: OutboxNotices, _ options: Options, _ shared: SharedCache) {
    state.withLock { state in
      state.subscribers.append(owner)
      if sends(options, shared) { state.senders.append((ObjectIdentifier(owner), options)) }
    }
    guard sends(options, shared) else { return }
    run(shared)
  }

  /// Returns whether a handle sends from the outbox. It doesn't if the directory is read-only, because attempts must be
  /// recorded.
  private func sends(_ options: Options, _ shared: SharedCache) -> Bool {
    options.outbox == .auto && !shared.store.isReading
  }

  /// Call it when a handle was closed.
  func close(_ owner: OutboxNotices, _ shared: SharedCache) {
    let wasSending = state.withLock { state in
      state.subscribers.removeAll { $0 === owner }
      let count = state.senders.count
      state.senders.removeAll { $0.owner == ObjectIdentifier(owner) }
      return state.senders.count < count
    }
    if wasSending {
      // Wait until this process has stopped sending (at most 2 s), so that it doesn't send when the directory is opened again.
      let ended = EventCount()
      let seen = ended.current
      if run(shared, done: { ended.ring() }) { ended.wait(after: seen, until: EventCount.deadline(2000)) }
    }
    if state.withLock({ $0.subscribers.isEmpty }) { runtime.loop.post { self.stopWatching() } }
  }

  /// Tells the sender which options to use, or to stop. Returns false if the loop has ended.
  @discardableResult
  private func run(_ shared: SharedCache, done: @escaping @Sendable () -> Void = {}) -> Bool {
    let options = state.withLock { $0.senders.first?.options }
    return runtime.loop.post {
      if options != nil { self.startWatching() }
      self.sender.run(options.map(Self.bare), for: shared, done: done)
    }
  }

  /// Returns the options for sending, without those that would change a frozen request or the key of its answer.
  private static func bare(_ options: Options) -> Options {
    var bare = options
    bare.headers = []
    bare.accept = nil
    bare.partition = nil
    bare.netrc = nil
    return bare
  }

  /// Call it after a write, or when a subscription was added.
  func look() {
    runtime.loop.post {
      // Don't start the watch again after the last close, which has stopped it.
      if !self.state.withLock({ $0.subscribers.isEmpty }) { self.startWatching() }
      self.sender.look()
    }
  }

  // MARK: What wakes the sender, on the loop's thread

  private func startWatching() {
    guard watch == nil else { return }
    watch = NameWatch()
    runtime.reachability.subscribe(self) { [weak self] news in
      guard let self else { return }
      switch news {
      case .network: self.sender.wake()
      case .host(let origin, let isReachable):
        if isReachable { self.sender.wake(origin) }
        for subscriber in self.state.withLock({ $0.subscribers }) {
          subscriber.take(origin, isReachable: isReachable)
        }
      }
    }
    let (loop, sender) = (runtime.loop, sender)
    changes?.start { [weak sender] in
      guard let sender else { return }
      loop.post { sender.wake() }
    }
    guard let watch else { return }
    // This is submitted to the serial queue before the first survey, so that no change between the two is missed.
    watchNames(watch) {}
    runtime.loop.watch(watch.descriptor, UInt32(EPOLLIN.rawValue)) { [weak self, weak watch] _ in
      guard let self, let watch else { return }
      watch.takeNews()
      if self.watchesFolder { return self.sender.look() }
      self.watchNames(watch) { if self.watchesFolder { self.sender.look() } }
    }
  }

  /// Watches the outbox's folder for writes of other processes, or the directory while the folder doesn't exist. Runs on the
  /// serial queue, because the disk may not answer.
  private func watchNames(_ watch: NameWatch, then: @escaping @Sendable () -> Void) {
    serialQueue.submit { [path, loop = runtime.loop] in
      let watchesFolder = watch.add(path + "/outbox", IN_MODIFY | IN_MOVED_TO | IN_CREATE)
      if !watchesFolder { _ = watch.add(path, IN_CREATE | IN_MOVED_TO) }
      loop.post {
        guard self.watch === watch else { return }
        self.watchesFolder = watchesFolder
        then()
      }
    }
  }

  private func stopWatching() {
    runtime.reachability.unsubscribe(self)
    changes?.stop()
    if let watch { runtime.loop.unwatch(watch.descriptor) }
    watch = nil
    watchesFolder = false
  }

  /// Starts no more attempts, and waits until no attempt is under way. Returns false if one still is at `deadline`.
  func waitUntilQuiet(until deadline: Int64) -> Bool {
    runtime.loop.post { self.sender.drain() }
    while true {
      let ring = sender.inFlightChanges.current
      if sender.inFlight.withLock({ $0 }) == 0 || runtime.loop.fault != nil { return true }
      if EventCount.deadline(0) >= deadline { return false }
      sender.inFlightChanges.wait(after: ring, until: deadline)
    }
  }
}

/// An inotify descriptor, closed with the last reference.
private final class NameWatch: Sendable {
  let descriptor: Int32

  init?() {
    descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard descriptor >= 0 else { return nil }
    _ = nhs_close_in_child(descriptor)
  }

  deinit {
    guard descriptor >= 0 else { return }
    nhs_keep_in_child(descriptor)
    Glibc.close(descriptor)
  }

  /// Watches a path; waits for its disk. Returns false if the path doesn't exist or can't be watched.
  func add(_ path: String, _ events: Int32) -> Bool {
    inotify_add_watch(descriptor, path, UInt32(events)) >= 0
  }

  func takeNews() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while read(descriptor, &bytes, bytes.count) > 0 {}
  }
}
