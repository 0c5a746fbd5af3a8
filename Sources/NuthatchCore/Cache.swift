import CSystem
import NuthatchHTTP
import NuthatchStore
import Synchronization

/// A directory, the memory in front of it, and the way to the network behind it.
///
/// Any thread may use it. `close` ends what is under way; a cache that is dropped unclosed closes itself.
public final class Cache: Sendable {
  /// The directory, as it was passed or as the default found it.
  public let path: String
  /// What it was opened with.
  public let options: Options
  let runtime: Runtime
  let shared: SharedCache
  /// The pictures and the answers that it has given of late; nil where the options have each plain request read something from
  /// outside (`OutsideReadings`): a netrc file may name another user the next time. Then each hit reads the file and its
  /// record, which takes 8 µs, not 0.1.
  let hits: HitTable?
  let notices = OutboxNotices()
  private let identity: CacheDirectory.Identity
  private let open = OpenTickets()
  let termsCache = TermsCache()
  /// Whether it takes no more questions.
  private let isShut = Atomic(false)
  private let isReleased = Atomic(false)
  /// Whether it was the last handle on the directory.
  private let wasLast = Atomic(false)
  /// Which steps of closing are done.
  private let closing = Atomic<UInt8>(0)
  private let epoch = nhs_fork_epoch()

  /// Opens the cache in a directory, which is made when it is missing.
  ///
  /// A directory on a file system that is mounted read-only, or to which this user may not write, is opened to be read: what is
  /// in it is found, answers of the network are delivered unstored, and whatever would change the directory fails with `io`.
  ///
  /// - Parameter path: nil for `$NUTHATCH_CACHE`, else `$XDG_CACHE_HOME/nuthatch`, else `~/.cache/nuthatch`.
  /// - Throws: `io` when the directory can't be made or used; `denied` when it belongs to somebody else or others may
  ///   write to it; `conflict` when it is open in this process with other options of the store; `no_space`.
  public init(path: String? = nil, options: Options = Options()) throws(NuthatchError) {
    try options.check()
    let path = try CacheDirectory.prepare(path)
    let identity = try CacheDirectory.identity(of: path)
    let runtime = try Runtime.acquire()
    do {
      shared = try OpenCaches.acquire(path, identity, options, runtime)
    } catch {
      runtime.release()
      throw error
    }
    hits = options.netrc == nil ? HitTable(shared.store, shared.clock) : nil
    self.path = path
    self.options = options
    self.identity = identity
    self.runtime = runtime
    shared.outbox.open(notices, options, shared)
    runtime.enlist(open) { [open, shared] error in
      open.end(error)
      shared.revalidations.close()
      shared.outbox.sender.bell.ring()
    }
    Log.noteOpen(self)
  }

  deinit { close() }

  /// Starts a request. A fresh stored answer is there when this returns.
  ///
  /// - Throws: `bad_url` or `bad_header` before any network is touched; `invalid`; `closed`; `forked`.
  public func submit(_ request: Request) throws(NuthatchError) -> Ticket {
    try checkUsable()
    if let ticket = given(for: request) { return ticket }
    guard request.saveTo.isEmpty else { return try submitDownload(request) }
    return try start(request)
  }

  private func submitDownload(_ request: Request) throws(NuthatchError) -> Ticket {
    var request = request
    request.download = try Download(request, options, runtime)
    request.delivery = .fresh
    return try start(request)
  }

  private func start(_ request: Request) throws(NuthatchError) -> Ticket {
    if let local = try LocalRequest(request, options) {
      let ticket = try register(request, RepeatableRequest(request))
      LocalTask(
        request: local, ticket: ticket, download: request.download, shared: shared, runtime: runtime
      ).start()
      return ticket
    }
    let plan = try RequestPlan(request.provided(by: shared.outbox.secrets), options, termsCache)
    return try submit(request, plan, stored(for: plan))
  }

  /// What is looked up on the caller's thread.
  func stored(for plan: RequestPlan) -> StoredAnswer? {
    plan.asksForHeaders ? nil : shared.reader.find(plan, .promptly)
  }

  func submit(
    _ request: Request, _ plan: RequestPlan, _ stored: StoredAnswer?
  ) throws(NuthatchError) -> Ticket {
    if let stored, let ticket = given(stored, plan, for: request) { return ticket }
    // Who signs in is looked up anew for another one: the file may name somebody else then.
    let hasNetrc = (request.netrc ?? request.site?.options.netrc ?? options.netrc) != nil
    let origin: AnyObject = plan.isOfOneUse || hasNetrc ? RepeatableRequest(request, plan) : plan
    return try begin(plan, stored, for: request, origin)
  }

  /// - Parameter origin: how to make the request again.
  private func begin(
    _ plan: RequestPlan, _ stored: StoredAnswer?, for request: Request, _ origin: AnyObject
  ) throws(NuthatchError) -> Ticket {
    let ticket = try register(request, origin)
    RequestTask.start(plan, ticket, shared, stored)
    return ticket
  }

  /// Starts the request of a ticket once more, whatever became of it; after a failure, for instance. The answer is another
  /// ticket's. A freezable request keeps its `Idempotency-Key`, so that a server that has had it doesn't do it twice; only where
  /// the ticket has had a success (2xx), it is another request, with another key, unless it was given one of its own.
  ///
  /// - Throws: `invalid` for a ticket that was answered at once, or is another cache's; as `submit`.
  public func resubmit(_ ticket: Ticket) throws(NuthatchError) -> Ticket {
    try checkUsable()
    switch ticket.origin {
    case let asked as RepeatableRequest:
      guard asked.key != nil, !ticket.hasSucceeded else { return try submit(asked.request) }
      let plan = try RequestPlan(asked.again.provided(by: shared.outbox.secrets), options, termsCache)
      return try begin(plan, stored(for: plan), for: asked.request, asked)
    case let plan as RequestPlan:
      let again = Ticket(url: ticket.url, tag: ticket.tag, site: ticket.site, origin: plan)
      try add(again)
      RequestTask.start(plan, again, shared, stored(for: plan))
      return again
    default:
      throw NuthatchError(.invalid, "the ticket was answered at once, and kept nothing: \(ticket.shownURL)")
    }
  }

  private func register(_ request: Request, _ origin: AnyObject) throws(NuthatchError) -> Ticket {
    let ticket = Ticket(url: request.url, tag: request.tag, site: request.site?.identity, origin: origin)
    try add(ticket)
    return ticket
  }

  private func add(_ ticket: Ticket) throws(NuthatchError) {
    guard open.add(ticket) else { throw open.refusal ?? .closed }
    Log.follow(ticket)
  }

  /// Fetches and waits, blocking the thread. Answers of any status are a success; what the server said is in the response.
  // Where top-level code awaits, it would be taken for the one of `Nuthatch`, if other packages saw it.
  package func get(_ url: String) throws(NuthatchError) -> Response {
    var request = Request(url)
    request.delivery = .fresh
    return try submit(request).result()
  }

  var counts: CacheCounts { shared.counts }

  /// How many requests are under way.
  public var activity: Int { isForked ? 0 : open.count }

  /// Has every turn of `activity` from or to 0 come as a notice (`nextNotice`), from now on.
  public func watchActivity() {
    guard notices.watchActivity() else { return }
    let (notices, open) = (notices, open)
    // Weak, because it keeps its watchers.
    open.watch { [weak open] in if let open { notices.noteActivity(open) } }
    notices.noteActivity(open)
  }

  /// Cancels the requests that are under way, or those of them with a tag.
  public func cancelAll(tag: String? = nil) {
    guard !isForked else { return }
    for ticket in open.all where tag == nil || ticket.tag == tag { ticket.cancel() }
  }

  func cancelAll(of site: Site.Identity) {
    guard !isForked else { return }
    for ticket in open.all where ticket.site === site { ticket.cancel() }
  }

  /// Forgets all that is stored of a URL, whoever it is kept for, and whatever it is called: its next request asks the
  /// server. Thumbnails that another URL has in common stay. When this returns, no process gets from the cache what was asked
  /// for before.
  ///
  /// - Returns: how many answers there were.
  /// - Throws: `bad_url`; `no_space` or `io` when it can't be done; `closed`; `forked`.
  @discardableResult
  public func remove(_ url: String) throws(NuthatchError) -> Int {
    try remove(RequestPlan(Request(url), options, termsCache), isNarrow: false)
  }

  /// The same for a request. Credentials, partition, key and whatever else makes its answer another than everybody's for that
  /// URL narrow it to that answer.
  @discardableResult
  public func remove(_ request: Request) throws(NuthatchError) -> Int {
    let plan = try RequestPlan(request, options, termsCache)
    return try remove(
      plan, isNarrow: !plan.name.partition.isEmpty || plan.name.address != plan.url.address)
  }

  private func remove(_ plan: RequestPlan, isNarrow: Bool) throws(NuthatchError) -> Int {
    try checkUsable()
    do throws(StoreFault) {
      return isNarrow ? try shared.forget(plan.name) : try shared.forget(plan.url, plan.name.partition)
    } catch {
      throw NuthatchError(error, path: path)
    }
  }

  /// Waits until no request is under way. False when that took longer than `milliseconds`; nil waits for ever.
  public func waitUntilIdle(within milliseconds: Int64? = nil) throws(NuthatchError) -> Bool {
    if isForked { throw .forked }
    return open.waitUntilEmpty(within: milliseconds)
  }

  /// Cancels every request that is under way, and takes no more: further calls throw `closed`. The events that say so can
  /// still be taken from the tickets.
  public func shutdown() {
    guard !isForked else { return }
    shut()
    for ticket in open.close() ?? [] { ticket.cancel() }
    // Some may just have ended on other threads: their events, too, are to be found by whoever looks now.
    open.waitUntilTold()
  }

  /// Whether it takes no more requests.
  package var isShutDown: Bool { isForked || open.refusal != nil }

  /// Ends every request that is under way with the error `closed`; further calls throw it. Waits for the
  /// network only where a stale answer was given that is being revalidated behind: two seconds at most.
  ///
  /// - Parameter milliseconds: how long what is under way, and what the outbox is sending, may take to end before that. 0.
  public func close(drain milliseconds: Int64 = 0) {
    // In a forked child there is nothing under way.
    if milliseconds > 0 { _ = try? drain(within: milliseconds) }
    beginToClose()
    _ = waitForRevalidations(within: 2000)
    endClosing()
  }

  /// As `close`, and says when what was in memory only is lost, or a removal that no other process knows of.
  ///
  /// - Throws: `busy`.
  package func closeOrSayWhy() throws(NuthatchError) {
    beginToClose()
    _ = waitForRevalidations(within: 2000)
    defer { endClosing() }
    try settle()
  }

  /// Before the last step: the last handle on the directory does the removals that are due, and writes what is in memory only.
  /// Where another process holds the lock, that isn't done.
  ///
  /// - Throws: `busy`.
  package func settle() throws(NuthatchError) {
    guard !isForked, wasLast.load(ordering: .acquiring) else { return }
    do {
      try shared.store.flushAtEnd()
    } catch {
      // Whatever else keeps it from being written was counted.
      guard error.kind == .busy else { return }
      let what =
        shared.store.losesRemovals
        ? "what was to be removed is still there" : "what was in memory only is lost"
      throw NuthatchError(.busy, "the cache is closed, and \(what): \(error.message): \(path)")
    }
  }

  /// Says something in the log.
  package func note(_ words: String) { Log.note(.warning, "\(words): \(path)") }

  /// The first step of a close, after which nothing is under way but revalidations. May be repeated, as the others may.
  package func beginToClose() {
    guard !isForked, !isReleased.exchange(true, ordering: .acquiringAndReleasing) else { return }
    Log.note(.info, "closing \(path)")
    shut()
    open.end(.closed)
    notices.close()
    shared.outbox.close(notices, shared)
    wasLast.store(OpenCaches.release(shared, identity), ordering: .releasing)
    noteClosing(1)
  }

  /// The second: waits for those that only the last handle on the directory has to wait for. False when that took longer;
  /// nil waits for ever.
  package func waitForRevalidations(within milliseconds: Int64?) -> Bool {
    isForked || !wasLast.load(ordering: .acquiring) || shared.revalidations.wait(within: milliseconds)
  }

  /// The last: ends those that are left.
  package func endClosing() {
    if !isForked { noteClosing(2) }
  }

  /// Lets go when both the first and the last step are done, whatever threads do them.
  private func noteClosing(_ step: UInt8) {
    let before = closing.bitwiseOr(step, ordering: .acquiringAndReleasing).oldValue
    guard before != 3, before | step == 3 else { return }
    runtime.delist(open)
    if wasLast.load(ordering: .acquiring) { shared.revalidations.close() }
    runtime.release()
  }

  /// Lets what is under way end, and what the outbox is sending, which begins nothing else any more: for who closes it then.
  /// False when that took longer.
  ///
  /// - Parameter milliseconds: nil waits for ever.
  /// - Throws: `forked`.
  package func drain(within milliseconds: Int64?) throws(NuthatchError) -> Bool {
    if isForked { throw .forked }
    guard !isReleased.load(ordering: .acquiring) else { return true }
    let deadline = EventCount.deadline(milliseconds)
    let isIdle = open.waitUntilEmpty(within: milliseconds)
    return shared.outbox.waitUntilQuiet(until: deadline) && isIdle
  }

  /// Something done to the store itself.
  func upkeep<Result>(_ body: (Store) throws(StoreFault) -> Result) throws(NuthatchError) -> Result {
    if isForked { throw .forked }
    if isReleased.load(ordering: .acquiring) { throw .closed }
    do {
      return try body(shared.store)
    } catch {
      throw NuthatchError(error, path: path)
    }
  }

  func forgetFailures() { shared.failures.forgetAll() }

  var isForked: Bool { nhs_fork_epoch() != epoch }

  func checkPeekable() throws(NuthatchError) {
    if isForked { throw .forked }
    if isShut.load(ordering: .relaxed) { throw .closed }
  }

  private func shut() {
    isShut.store(true, ordering: .relaxed)
    hits?.shut()
  }

  /// - Throws: `closed`; `forked`.
  package func checkUsable() throws(NuthatchError) {
    if isForked { throw .forked }
    if let refusal = open.refusal { throw refusal }
  }
}

/// The version of the library.
public enum Version {
  /// Such as `0.1.0`.
  public static let string = "0.1.0"
}
