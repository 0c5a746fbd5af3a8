import CSystem
import NuthatchHTTP
import NuthatchStore

/// A directory of stored answers, a memory tier, and a network client that fetches the answers that aren't stored.
///
/// Any thread may use it. `close` ends the requests that are under way; a cache that is released without `close` closes itself.
public final class Cache: Sendable {
  /// The path of the directory: the one that was passed, else the default.
  public let path: String
  /// The options that the cache was opened with.
  public let options: Options
  let runtime: Runtime
  let shared: SharedCache
  package let instant: InstantAnswers
  let notices = OutboxNotices()
  private let open = OpenTickets()
  package let closing: Closing
  private let epoch = nhs_fork_epoch()

  /// Opens the cache in a directory, which is created if it is missing.
  ///
  /// A directory that can't be written (a read-only file system, or no permission for this user) is opened for reading. Stored answers
  /// are found, answers from the network are delivered but not stored, and methods that would change the directory fail with `io`.
  ///
  /// - Parameter path: nil for `$NUTHATCH_CACHE`, else `$XDG_CACHE_HOME/nuthatch`, else `~/.cache/nuthatch`.
  /// - Throws: `io` if the directory can't be created or used; `denied` if it belongs to another user or other users may write to it;
  ///   `conflict` if it is open in this process with other options of the store; `no_space`.
  public convenience init(path: String? = nil, options: Options = Options()) throws(NuthatchError) {
    try self.init(path: path, options: options, seams: CacheSeams())
  }

  package init(path: String?, options: Options, seams: CacheSeams) throws(NuthatchError) {
    try options.check(.cache)
    let (named, options) = try Self.configured(path, options)
    try options.checkContents()
    let path = try CacheDirectory.prepare(named)
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
    if let hosts = options.hosts {
      hosts.keepCookies(in: shared.cookies)
      ProcessQueue.adopt(rates: hosts.rates)
    }
    shared.outbox.open(notices, options, shared)
    runtime.enlist(open) { [open, shared] error in
      open.end(error)
      shared.revalidations.close()
      shared.outbox.sender.inFlightChanges.ring()
    }
    Log.noteOpen(self)
  }

  /// Returns the path and the options with those of the config files that the program names.
  private static func configured(
    _ path: String?, _ options: Options
  ) throws(NuthatchError) -> (String?, Options) {
    guard let name = options.config else { return (path, options) }
    try Lengths.check(path: name, "the path of the config file")
    let config = try Config(named: name)
    let (result, process) = try config.under(options, process: ProcessQueue.options)
    ProcessQueue.adopt(ofFiles: process)
    return (path ?? config.cache?.text, result)
  }

  deinit { close() }

  /// Starts a request. A fresh stored answer is ready when this returns, if it is short and needs no decoding.
  ///
  /// - Throws: `bad_url` or `bad_header` before the network is used; `invalid`; `denied`, `unsafe_file` or `io` for a file that
  ///   the request names; `secret_needs_provider`; `closed`; `forked`.
  public func submit(_ request: Request) throws(NuthatchError) -> Ticket {
    try checkUsable()
    // An answer that was returned before needs neither a plan nor a look-up.
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
    // Resubmitting such a request makes a new plan. Files such as a netrc are then read again, because they may have changed.
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

  /// Returns the plan of a request. If a command signs in at its host, waits for the command.
  func signedInPlan(for request: Request) throws(NuthatchError) -> RequestPlan {
    let plan = try RequestPlan(request, options, instant.termsCache)
    guard let command = plan.awaited, let context = plan.questionContext else { return plan }
    return try context.plan(after: plan, signedInWith: try command.wait())
  }

  /// Looks up an answer on the caller's thread.
  func storedAnswer(to plan: RequestPlan) -> StoredAnswer? {
    plan.asksForHeaders ? nil : shared.reader.readAdmitted(plan, .promptly)
  }

  /// Submits the request of a ticket again, for instance after a failure, and returns a new ticket. A freezable request keeps
  /// its `Idempotency-Key`, so that a server that has already processed it doesn't process it twice. If the program has taken
  /// the ticket's success (2xx), the new request gets a new key, unless the program has set the key itself.
  ///
  /// - Throws: `invalid` for a ticket that was answered at once, because it keeps no request; also like `submit`.
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
      throw NuthatchError(
        .invalid, "the ticket was answered at once and has no request to repeat: \(ticket.shownURL)")
    }
  }

  var counts: CacheCounts { shared.counts }

  /// The number of requests under way.
  public var activity: Int { isForked ? 0 : open.count }

  /// From now on, sends a notice (`nextNotice`) whenever `activity` changes from or to 0. If it isn't 0 now, also sends one
  /// now.
  public func watchActivity() {
    guard notices.watchActivity() else { return }
    let (notices, open) = (notices, open)
    // Weak, because `open` keeps its watchers.
    open.watch { [weak open] in if let open { notices.noteActivity(open) } }
    notices.noteActivity(open)
  }

  /// Cancels the requests under way, or those of them with a tag.
  public func cancelAll(tag: String? = nil) {
    guard !isForked else { return }
    for ticket in open.all where tag == nil || ticket.tag == tag { ticket.cancel() }
  }

  func cancelAll(of site: Site.Identity) {
    guard !isForked else { return }
    for ticket in open.all where ticket.site === site { ticket.cancel() }
  }

  /// Removes all stored answers of a URL, for all partitions and cache keys: the next request asks the server. Thumbnails that another
  /// URL shares stay. When this returns, no process gets an older answer from the cache.
  ///
  /// - Returns: the number of removed answers.
  /// - Throws: `bad_url`; `no_space`, `io` or `busy` if the removal fails; `closed`; `forked`.
  @discardableResult
  public func remove(_ url: String) throws(NuthatchError) -> Int {
    // The credentials of config files would limit it.
    var options = options
    options.hosts = nil
    return try remove(RequestPlan(Request(url), options), isNarrow: false)
  }

  /// Removes the stored answers of a request. Credentials, partition, key and other options that select an answer limit the removal to
  /// that answer.
  @discardableResult
  public func remove(_ request: Request) throws(NuthatchError) -> Int {
    let plan = try signedInPlan(for: request)
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

  /// Waits until no request is under way. Returns false if that takes longer than `milliseconds`; nil: no limit.
  public func waitUntilIdle(within milliseconds: Int64? = nil) throws(NuthatchError) -> Bool {
    if isForked { throw .forked }
    return open.waitUntilEmpty(within: milliseconds)
  }

  /// Cancels every request under way, and accepts no more requests: later calls throw `closed`. The final events can still be
  /// taken from the tickets.
  public func shutdown() {
    guard !isForked else { return }
    instant.shut()
    for ticket in open.close() ?? [] { ticket.cancel() }
    // Other threads may be ending requests now. Their final events must also be there when this returns.
    open.waitUntilTold()
  }

  /// Whether the cache accepts no more requests.
  package var isShutDown: Bool { isForked || open.whyClosed != nil }

  /// Ends every request under way with the error `closed`; later calls throw it. If stale answers that were delivered are being
  /// revalidated in the background, waits for that, at most two seconds.
  ///
  /// - Parameter milliseconds: how long to wait first until the requests under way, and those that the outbox is sending, have
  ///   ended. Default: 0.
  public func close(drain milliseconds: Int64 = 0) {
    if milliseconds > 0 { _ = try? closing.drain(within: milliseconds) }
    closing.begin()
    closing.waitForRevalidations(within: 2000)
    closing.end()
  }

  /// Writes a warning to the log.
  package func note(_ words: String) { Log.note(.warning, "\(words): \(path)") }

  /// Runs an operation on the store itself.
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
  /// Such as `0.2.0`.
  public static let string = "0.2.0"
  /// The same as a number that can be compared: major * 1,000,000 + minor * 1,000 + patch.
  public static let number = string.split(separator: ".").reduce(0) { $0 * 1000 + (Int($1) ?? 0) }
}

extension Cache {
  /// The `Accept` header of requests for pictures: formats that are decoded come first.
  public static let pictureAccept = "image/jpeg,image/png;q=0.9,image/gif;q=0.8,*/*;q=0.1"

  /// The same with `accept` `modern`: formats with fewer bytes come first.
  public static let modernPictureAccept =
    "image/avif,image/webp,image/jpeg;q=0.9,image/png;q=0.8,image/gif;q=0.7,*/*;q=0.1"

  /// The value of the option `accept` that stands for `modernPictureAccept`. No media type has this form.
  static let modern = "modern"

  /// Returns the `Accept` header of a request with the option `accept`. Nil: the usual one.
  package static func accept(_ said: String?, forPictures: Bool) -> String? {
    guard said == modern else { return said }
    return forPictures ? modernPictureAccept : nil
  }
}
