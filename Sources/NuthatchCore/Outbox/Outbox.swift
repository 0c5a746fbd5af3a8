import NuthatchImaging
import NuthatchStore
import NuthatchTransport

/// The requests of a directory that wait for the network, and their outcomes.
///
/// The requests survive restarts and losses of power. Any process that has the directory open may send them (`Options.outbox`),
/// in the order of their queue, until a final answer is stored. They are never evicted: a full outbox refuses new requests.
/// Calls may wait for the disk.
public struct Outbox: Sendable {
  /// The state of a request.
  public enum State: Int32, Sendable {
    /// The request waits for the network, for the time of its next attempt, for earlier requests of its queue, or for a secret
    /// that isn't provided; or its first attempt is under way.
    case waiting = 1
    /// The outbox is sending the request, in this or another process.
    case sending = 2
    /// The server has refused the request's credentials (401, 403), and the request waits for others. Meanwhile no request of
    /// its queue is sent.
    case paused = 3
    /// The server has accepted the request (2xx). Its outcome waits to be collected.
    case done = 4
    /// The request was put aside, with a reason: `replay` sends it again, `drop` removes it.
    case dead = 5
  }

  /// An attempt that didn't end the request. After a replay, also the one that had ended it.
  public struct Attempt: Sendable {
    /// Seconds since 1970.
    public let time: Int64
    /// The status of the answer; 0 for none.
    public let status: Int
    /// The reason why there was no answer that could be read to its end; nil if there was one.
    public let code: ErrorCode?
    /// The reason why the attempt didn't end the request, in words.
    public let reason: String
  }

  /// A request in the outbox.
  public struct Item: Sendable {
    /// The request's number. No other request of the directory ever gets the same number.
    public let id: UInt64
    /// Its state.
    public let state: State
    /// Its method.
    public let method: String
    /// Its URL, without the password; for a site's request the resolved, absolute URL.
    public let url: String
    /// The name of its queue, or its origin.
    public let queue: String
    /// The handler that gets the outcome.
    public let handler: String?
    /// The tag of the request.
    public let tag: String?
    /// Its `Idempotency-Key`, the same for every attempt.
    public let key: String?
    /// Bytes of its body.
    public let bodyBytes: Int64
    /// The time at which the request was frozen, in seconds since 1970.
    public let frozenAt: Int64
    /// The number of attempts since the freeze.
    public let attempts: Int
    /// Seconds until its next attempt may begin; 0 if it waits only for earlier requests, the network or a secret; nil if it is
    /// paused or has ended.
    public let wait: Int64?
    /// The status of the last attempt; 0 if that had no answer.
    public let status: Int
    /// The reason why the request isn't done.
    public let reason: String?
    /// The reason as a stable code; nil if the reason is an answer's status. After an attempt without an answer: that attempt's
    /// error. If the request was put aside without an attempt: `timeout` (too many attempts, too old, key expired) or `corrupt`
    /// (its body is damaged). While a secret isn't provided in this process: `secret_needs_provider`.
    public let code: ErrorCode?
    /// The last attempts, oldest first, at most 32.
    public let history: [Attempt]
  }

  /// The outcome of a request.
  public struct Outcome: Sendable {
    /// The request's number.
    public let id: UInt64
    /// Whether the server has accepted the request (2xx). Otherwise the request was put aside.
    public let isDone: Bool
    /// The handler that gets the outcome.
    public let handler: String?
    /// The tag of the request.
    public let tag: String?
    /// The URL, without the password; for a site's request the resolved, absolute URL.
    public let url: String
    /// The request's method.
    public let method: String
    /// The request's `Idempotency-Key`.
    public let key: String?
    /// The answer's status; 0 for none.
    public let status: Int
    /// The URL of the answer.
    public let finalURL: String
    /// The answer's header lines.
    public let headers: [(name: String, value: String)]
    /// The answer's body, up to 1 MiB.
    public let body: [UInt8]
    /// Whether the answer's body was longer than `body`.
    public let isCut: Bool
    /// The reason why the request was put aside; nil if it is done.
    public let reason: String?
  }

  let cache: Cache
  private var directory: DirectoryOutbox { cache.shared.outbox }
  private var store: OutboxStore { directory.store }

  init(_ cache: Cache) { self.cache = cache }

  // MARK: Reading

  /// Returns all requests, in the order in which they were frozen.
  public func list() throws(NuthatchError) -> [Item] {
    try cache.checkUsable()
    return try store.list()
  }

  /// The paths of the existing files to which damaged parts of the log were moved.
  public var damage: [String] {
    // If the folder can't be read now, return the files that this process has made.
    let names = try? store.look { $0.journal.asideFiles }
    return (names ?? nil ?? store.journal.damage).map { "\(cache.path)/outbox/\($0)" }
  }

  /// Returns the outcome of a request; nil while the request hasn't ended. The outcome stays until it is collected or dropped.
  public func outcome(_ id: UInt64) throws(NuthatchError) -> Outcome? {
    try cache.checkUsable()
    return try store.settlement(id).map { Outcome(id, $0, $1) }
  }

  /// Returns the outcome of a request, and removes the request if it is done. A request that was put aside stays. Returns nil
  /// while the request hasn't ended. If a kill must not lose the outcome, call `outcome` instead, and `drop` after the outcome
  /// was processed.
  public func collect(_ id: UInt64) throws(NuthatchError) -> Outcome? {
    guard let outcome = try outcome(id) else { return nil }
    if outcome.isDone { _ = try store.remove(id, isAsked: true) }
    return outcome
  }

  // MARK: Changing

  /// Sends a request that was put aside, or that waits, as soon as it is its turn. Its age and its attempts count from now on,
  /// and its key lifetime no longer prevents the attempt. Returns false if no such request has that number.
  @discardableResult
  public func replay(_ id: UInt64) throws(NuthatchError) -> Bool {
    try cache.checkUsable()
    return try directory.replay { $0.id == id } > 0
  }

  /// Does the same for all requests that were put aside, or that wait. Returns their number.
  @discardableResult
  public func replayAll() throws(NuthatchError) -> Int {
    try cache.checkUsable()
    return try directory.replay { _ in true }
  }

  /// Removes a request, or its outcome. The request isn't sent after this. Returns false if there is no request with that
  /// number.
  ///
  /// - Throws: `conflict` while another process sends it, or while this process makes its first attempt.
  @discardableResult
  public func drop(_ id: UInt64) throws(NuthatchError) -> Bool {
    try cache.checkUsable()
    let directory = directory
    defer { _ = directory.runtime.loop.post { directory.sender.unbar(id) } }
    try directory.stopSending(id)
    return try store.remove(id, isAsked: true)
  }

  // MARK: Handlers and secrets

  /// Subscribes to the outcomes of requests with this handler (`Cache.nextNotice`), earlier ones included.
  public func attach(_ handler: String) throws(NuthatchError) {
    try cache.checkUsable()
    cache.notices.attach(handler)
    directory.look()
  }

  /// Ends the subscription.
  public func detach(_ handler: String) { cache.notices.detach(handler) }

  /// Sets the secret of a provider; nil removes it. The secret is kept in memory only. Queues that wait for it continue.
  public func provide(_ provider: String, _ secret: String?) throws(NuthatchError) {
    try cache.checkUsable()
    let (notices, directory) = (cache.notices, directory)
    directory.secrets.provide(provider, secret)
    // On the loop's thread, where surveys report missing secrets. A survey that didn't see this secret has reported it before
    // this job runs; later surveys see it.
    _ = directory.runtime.loop.post { notices.forgetAsked(provider) }
    guard secret != nil else { return }
    directory.serialQueue.submit {
      // If the replays can't be written now, the program can call `replay` later.
      _ = try? directory.replay { $0.isPaused && $0.request.providers.contains(provider) }
    }
  }
}

extension Outbox {
  /// Returns the first request with a greater number than `id`; nil if there is none.
  package func item(after id: UInt64) throws(NuthatchError) -> Item? {
    try cache.checkUsable()
    return try store.item(after: id)
  }

  /// Returns a request; nil if there is none with that number.
  public func item(_ id: UInt64) throws(NuthatchError) -> Item? {
    try cache.checkUsable()
    return try store.item(id)
  }

  /// Repeats the notice `secretWanted` of a provider, if its secret is still wanted. The first notice may have found no
  /// listener. nil: does this for all providers.
  ///
  /// - Parameter listen: starts the listener.
  package func ask(for provider: String?, _ listen: @escaping @Sendable () -> Void) throws(NuthatchError) {
    try cache.checkUsable()
    let (notices, directory) = (cache.notices, directory)
    // On the serial queue, which also delivers notices. So no notice that `askAgain` removes can be delivered at the same time.
    directory.serialQueue.submit {
      listen()
      notices.askAgain(provider)
      directory.look()
    }
  }
}

extension Cache {
  /// The outbox of this cache's directory.
  public var outbox: Outbox { Outbox(self) }

  /// Calls `deliver` for each notice, instead of `nextNotice`, on a thread of the library. `deliver` must not block.
  package func whenNews(_ deliver: @escaping @Sendable (Notice) -> Void) {
    let (notices, directory) = (notices, shared.outbox)
    notices.listen { directory.serialQueue.submit { notices.handOver(directory.store, deliver) } }
  }

  /// Waits for the next notice: an outcome for an attached handler, a wanted secret, a site's reachability, a change of the
  /// activity. Returns nil if no notice came in time.
  ///
  /// - Parameter milliseconds: nil: no limit.
  /// - Throws: `closed`, also if the cache is closed during the wait; `forked`.
  public func nextNotice(within milliseconds: Int64? = nil) throws(NuthatchError) -> Notice? {
    try checkUsable()
    return try notices.next(until: EventCount.deadline(milliseconds), shared.outbox.store)
  }
}

extension OutboxContents.Entry {
  /// Whether the request waits for other credentials.
  var isPaused: Bool { standing == .waiting && last.map { $0.wait == nil } ?? false }
}

extension DirectoryOutbox {
  /// Marks requests to be sent again. Secrets that a server has refused may be used again: if a request has several secrets,
  /// perhaps only another one was wrong. Returns the number of requests.
  func replay(where isWanted: (OutboxContents.Entry) -> Bool) throws(NuthatchError) -> Int {
    defer { look() }
    let (count, providers) = try store.replay(where: isWanted)
    secrets.forgive(providers)
    return count
  }

  /// Cancels this process's attempt to send a request. Throws `conflict` if the request is still being sent, by this or another
  /// process.
  func stopSending(_ id: UInt64) throws(NuthatchError) {
    let done = EventCount()
    let seen = done.current
    if runtime.loop.post({
      self.sender.bar(id)
      // After the jobs that the end of the request's ticket has posted.
      self.runtime.loop.post { self.runtime.loop.post { done.ring() } }
    }) {
      done.wait(after: seen, until: EventCount.deadline(5000))
    }
    let isSent = try store.look { (outbox) throws(StoreFault) -> Bool in
      guard let entry = outbox.contents.entries[id] else { return false }
      let locks = outbox.journal.locks
      if entry.isLive {
        if self.sender.live.withLock({ $0.contains(id) }) { return true }
        guard try locks.tryTake(id) else { return true }
        locks.giveBack(id)
        return false
      }
      guard entry.begun != nil, !locks.hasLease else { return false }
      return try !locks.isLeaseFree()
    }
    if isSent == true {
      throw NuthatchError(
        .conflict, "request \(id) is being sent; drop it when this attempt has ended")
    }
  }
}

// MARK: - Values

extension Outbox.Item {
  /// - Parameter pause: nanoseconds for which the request's host must not be asked (Retry-After).
  init(
    _ entry: OutboxContents.Entry, isSending: Bool, _ now: DurableTime, _ secrets: OutboxSecrets, pause: Int64
  ) {
    let request = entry.request
    let delay = OutboxRules.delay(entry, now, seen: nil)
    let settlement = entry.settlement?.settlement
    let state: Outbox.State =
      switch entry.standing {
      case .done: .done
      case .dead: .dead
      case .waiting: isSending ? .sending : delay == nil ? .paused : .waiting
      }
    let lacking = state == .waiting ? entry.request.providers.filter { secrets.value(of: $0) == nil } : []
    self.state = state
    id = entry.id
    method = request.method
    url = WebURL.redacted(request.passedURL)
    queue = request.queue
    handler = request.handler
    tag = request.tag
    key = request.key
    bodyBytes = request.bodyBytes
    frozenAt = request.frozen.wall / 1_000_000_000
    attempts = entry.attempts
    let longer = state == .waiting ? pause : 0
    wait = entry.standing == .waiting ? delay.map { (max($0, longer) + 999_999_999) / 1_000_000_000 } : nil
    let own = settlement?.status ?? 0
    status = own > 0 ? own : entry.history.last?.attempt.status ?? 0
    if lacking.isEmpty {
      reason = entry.standing == .done ? nil : settlement?.reason ?? entry.last?.reason
      if let settlement {
        code = settlement.isOfAttempt ? settlement.code : settlement.code ?? .timeout
      } else {
        code = entry.last?.code
      }
    } else {
      reason = "this process has no secret of the provider: " + lacking.joined(separator: ", ")
      code = .secretNeedsProvider
    }
    history = entry.history.map {
      Outbox.Attempt(
        time: $0.attempt.ended.wall / 1_000_000_000, status: $0.attempt.status, code: $0.attempt.code,
        reason: $0.attempt.reason)
    }
  }
}

extension Outbox.Outcome {
  /// The answer; nil if there was none.
  public var response: Response? {
    guard status > 0 else { return nil }
    var head = ResponseHead(status: status)
    for field in headers { head.fields.append(field.name, field.value) }
    let buffer = ByteBuffer()
    guard body.withUnsafeBytes({ buffer.append($0) }) == 0 else { return nil }
    let provenance = Provenance(finalURL: finalURL, source: .network, isInCache: false, isStored: false)
    return Response(
      url: url, head: head, body: SharedBytes(buffer), provenance, limits: ImageLimits(Options()),
      isCut: isCut)
  }

  init(_ id: UInt64, _ request: FrozenRequest, _ settlement: OutboxSettlement) {
    self.id = id
    isDone = settlement.isDone
    handler = request.handler
    tag = request.tag
    url = WebURL.redacted(request.passedURL)
    method = request.method
    key = request.key
    status = settlement.status
    finalURL = settlement.finalURL
    headers = settlement.headers
    body = settlement.body
    isCut = settlement.isCut
    reason = settlement.isDone ? nil : settlement.reason
  }
}
