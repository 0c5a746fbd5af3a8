import CSystem
import NuthatchHTTP
import NuthatchStore

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
  package let instant: InstantAnswers
  let notices = OutboxNotices()
  private let open = OpenTickets()
  package let closing: Closing
  private let epoch = nhs_fork_epoch()

  /// Opens the cache in a directory, which is made when it is missing.
  ///
  /// A directory on a file system that is mounted read-only, or to which this user may not write, is opened to be read: what is
  /// in it is found, answers of the network are delivered unstored, and whatever would change the directory fails with `io`.
  ///
  /// - Parameter path: nil for `$NUTHATCH_CACHE`, else `$XDG_CACHE_HOME/nuthatch`, else `~/.cache/nuthatch`.
  /// - Throws: `io` when the directory can't be made or used; `denied` when it belongs to somebody else or others may
  ///   write to it; `conflict` when it is open in this process with other options of the store; `no_space`.
  public convenience init(path: String? = nil, options: Options = Options()) throws(NuthatchError) {
    try self.init(path: path, options: options, seams: CacheSeams())
  }

  package init(path: String?, options: Options, seams: CacheSeams) throws(NuthatchError) {
    try options.check(.cache)
    try options.checkContents()
    let path = try CacheDirectory.prepare(path)
    let identity = try CacheDirectory.identity(of: path)
    let runtime = try Runtime.acquire()
    do {
      shared = try OpenCaches.acquire(path, identity, options, seams, runtime)
    } catch {
      runtime.release()
      throw error
    }
    instant = InstantAnswers(shared, options)
    closing = Closing(path, shared, open, notices, instant)
    self.path = path
    self.options = options
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

  /// Starts a request. A fresh stored answer is there when this returns, if it is short and needs no decoding.
  ///
  /// - Throws: `bad_url` or `bad_header` before any network is touched; `invalid`; `denied`, `unsafe_file` or `io` for a file that it
  ///   names; `secret_needs_provider`; `closed`; `forked`.
  public func submit(_ request: Request) throws(NuthatchError) -> Ticket {
    try checkUsable()
    // What was given before takes neither a plan nor a lookup.
    if let ticket = instant.ticket(for: request) { return ticket }
    var request = request
    if !request.saveTo.isEmpty {
      request.download = try Download(request, options, runtime)
      request.delivery = .fresh
    }
    if let local = try LocalRequest(request, options) { return try start(local, request) }
    let plan = try plan(for: request)
    return try submit(request, plan, storedAnswer(to: plan))
  }

  func submit(
    _ request: Request, _ plan: RequestPlan, _ stored: StoredAnswer?
  ) throws(NuthatchError) -> Ticket {
    if let stored, let ticket = instant.ticket(stored, plan, for: request) { return ticket }
    // Another one reads anew what this one has read from outside: a netrc may name another user then.
    let isOfOneUse = plan.isOfOneUse || !plan.isMemorable
    return try start(plan, stored, Ticket(request, isOfOneUse ? RepeatableRequest(request, plan) : plan))
  }

  private func start(
    _ plan: RequestPlan, _ stored: StoredAnswer?, _ ticket: Ticket
  ) throws(NuthatchError) -> Ticket {
    try add(ticket)
    RequestTask.start(plan, ticket, shared, stored)
    return ticket
  }

  private func start(_ local: LocalRequest, _ request: Request) throws(NuthatchError) -> Ticket {
    let ticket = Ticket(request, RepeatableRequest(request))
    try add(ticket)
    LocalTask(request: local, ticket: ticket, download: request.download, shared: shared, runtime: runtime)
      .start()
    return ticket
  }

  private func add(_ ticket: Ticket) throws(NuthatchError) {
    guard open.add(ticket) else { throw open.whyClosed ?? .closed }
    Log.follow(ticket)
  }

  private func plan(for request: Request) throws(NuthatchError) -> RequestPlan {
    try RequestPlan(request.provided(by: shared.outbox.secrets), options, instant.termsCache)
  }

  /// What is looked up on the caller's thread.
  func storedAnswer(to plan: RequestPlan) -> StoredAnswer? {
    plan.asksForHeaders ? nil : shared.reader.readAdmitted(plan, .promptly)
  }

  /// Starts the request of a ticket once more, whatever became of it; after a failure, for instance. The answer is another
  /// ticket's. A freezable request keeps its `Idempotency-Key`, so that a server that has had it doesn't do it twice; only where
  /// the program has taken the ticket's success (2xx), it is another request, with another key, unless it was given one.
  ///
  /// - Throws: `invalid` for a ticket that was answered at once, or is another cache's; as `submit`.
  public func resubmit(_ ticket: Ticket) throws(NuthatchError) -> Ticket {
    try checkUsable()
    switch ticket.repeatable {
    case let repeatable as RepeatableRequest:
      guard repeatable.key != nil, !ticket.hasSucceeded else { return try submit(repeatable.request) }
      let plan = try plan(for: repeatable.again)
      return try start(plan, storedAnswer(to: plan), Ticket(repeatable.request, repeatable))
    case let plan as RequestPlan:
      let again = Ticket(url: ticket.url, tag: ticket.tag, site: ticket.site, repeatable: plan)
      return try start(plan, storedAnswer(to: plan), again)
    default:
      throw NuthatchError(.invalid, "the ticket was answered at once, and kept nothing: \(ticket.shownURL)")
    }
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
    try remove(RequestPlan(Request(url), options, instant.termsCache), isNarrow: false)
  }

  /// The same for a request. Credentials, partition, key and whatever else makes its answer another than everybody's for that
  /// URL narrow it to that answer.
  @discardableResult
  public func remove(_ request: Request) throws(NuthatchError) -> Int {
    let plan = try RequestPlan(request, options, instant.termsCache)
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
    instant.shut()
    for ticket in open.close() ?? [] { ticket.cancel() }
    // Some may just have ended on other threads: their events, too, are to be found by whoever looks now.
    open.waitUntilTold()
  }

  /// Whether it takes no more requests.
  package var isShutDown: Bool { isForked || open.whyClosed != nil }

  /// Ends every request that is under way with the error `closed`; further calls throw it. Waits for the
  /// network only where a stale answer was given that is being revalidated behind: two seconds at most.
  ///
  /// - Parameter milliseconds: how long what is under way, and what the outbox is sending, may take to end before that. 0.
  public func close(drain milliseconds: Int64 = 0) {
    if milliseconds > 0 { _ = try? closing.drain(within: milliseconds) }
    closing.begin()
    closing.waitForRevalidations(within: 2000)
    closing.end()
  }

  /// Says something in the log.
  package func note(_ words: String) { Log.note(.warning, "\(words): \(path)") }

  /// Something done to the store itself.
  func upkeep<Result>(_ body: (Store) throws(StoreFault) -> Result) throws(NuthatchError) -> Result {
    try closing.checkOpen()
    do {
      return try body(shared.store)
    } catch {
      throw NuthatchError(error, path: path)
    }
  }

  func forgetFailures() { shared.rememberedFailures.forgetAll() }

  var isForked: Bool { nhs_fork_epoch() != epoch }

  /// - Throws: `closed`; `forked`.
  package func checkUsable() throws(NuthatchError) {
    if isForked { throw .forked }
    if let error = open.whyClosed { throw error }
  }
}

/// The version of the library.
public enum Version {
  /// Such as `0.1.0`.
  public static let string = "0.1.0"
  /// The same to be compared: a million of the first, a thousand of the second, and the third.
  public static let number = string.split(separator: ".").reduce(0) { $0 * 1000 + (Int($1) ?? 0) }
}

extension Cache {
  /// What pictures are asked for with: what is decoded first.
  public static let pictureAccept = "image/jpeg,image/png;q=0.9,*/*;q=0.1"
}
