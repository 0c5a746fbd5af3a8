import NuthatchImaging
import NuthatchStore
import NuthatchTransport

/// The requests of a directory that wait for the network, and their outcomes.
///
/// They survive restarts and losses of power. Any process that has the directory open may send them (`Options.outbox`), in their order,
/// until a final answer is stored. They are never evicted: a full outbox refuses new requests. Calls may wait for the disk.
public struct Outbox: Sendable {
  /// The state of a request.
  public enum State: Int32, Sendable {
    /// It waits for the network, for the time of its next attempt, for earlier requests of its queue, or for a secret that isn't
    /// provided.
    case waiting = 1
    case sending = 2
    /// The server has refused its credentials (401, 403); it waits for others. Meanwhile nothing of its queue is sent.
    case paused = 3
    /// The server has accepted it (2xx); its outcome waits to be collected.
    case done = 4
    /// It was put aside, with a reason: `replay` sends it, `drop` removes it.
    case dead = 5
  }

  /// An attempt that didn't end the request.
  public struct Attempt: Sendable {
    /// Seconds since 1970.
    public let time: Int64
    /// The status of the answer; 0 for none.
    public let status: Int
    /// The reason why there was no answer; nil if there was one.
    public let code: ErrorCode?
    /// The reason in words.
    public let reason: String
  }

  /// A request in the outbox.
  public struct Item: Sendable {
    /// Its number. No other request of the directory ever gets it.
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
    /// Seconds since 1970 at which it was frozen.
    public let frozenAt: Int64
    /// The number of attempts since then.
    public let attempts: Int
    /// Seconds until the next attempt; nil if it doesn't depend on time.
    public let wait: Int64?
    /// The status of the last answer; 0 for none.
    public let status: Int
    /// The reason why it isn't done.
    public let reason: String?
    /// The reason as a stable word; nil if it is an answer's status. After an attempt without an answer it is that attempt's error. If
    /// the request was put aside without an attempt: `timeout` (too many attempts, too old, key expired) or `corrupt` (its body is
    /// damaged). `secret_needs_provider` while a secret isn't provided in this process.
    public let code: ErrorCode?
    /// The last attempts, oldest first, at most 32.
    public let history: [Attempt]
  }

  /// The outcome of a request.
  public struct Outcome: Sendable {
    /// The request's number.
    public let id: UInt64
    /// Whether the server has accepted it (2xx); else it was put aside.
    public let isDone: Bool
    /// The handler that gets it.
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
    /// Whether the body was longer.
    public let isCut: Bool
    /// The reason why it was put aside; nil if it is done.
    public let reason: String?
  }

  let cache: Cache
  private var directory: DirectoryOutbox { cache.shared.outbox }
  private var store: OutboxStore { directory.store }

  init(_ cache: Cache) { self.cache = cache }

  // MARK: Reading

  /// Returns all requests, in their order.
  public func list() throws(NuthatchError) -> [Item] {
    try cache.checkUsable()
    return try store.list()
  }

  /// The files that hold damaged parts of the log, while they exist.
  public var damage: [String] {
    // If the log can't be read at all, its readers report that.
    let names = try? store.look { $0.journal.asideFiles }
    return (names ?? nil ?? store.journal.damage).map { "\(cache.path)/outbox/\($0)" }
  }

  /// Returns the outcome of a request; nil while it hasn't ended. It stays until it is collected or dropped.
  public func outcome(_ id: UInt64) throws(NuthatchError) -> Outcome? {
    try cache.checkUsable()
    return try store.settlement(id).map { Outcome(id, $0, $1) }
  }

  /// Returns and removes the outcome of a request that is done. Returns nil while it isn't done; a request that was put aside stays. A
  /// program that must not lose the outcome to a kill calls `outcome` first, and `drop` after it has processed the outcome.
  public func collect(_ id: UInt64) throws(NuthatchError) -> Outcome? {
    guard let outcome = try outcome(id) else { return nil }
    if outcome.isDone { _ = try store.remove(id, isAsked: true) }
    return outcome
  }

  // MARK: Changing

  /// Sends a request again that was put aside, or that waits, as soon as it is its turn. Its age and its attempts count from now on,
  /// and its key lifetime no longer prevents the attempt. Returns false if there is none with that number.
  @discardableResult
  public func replay(_ id: UInt64) throws(NuthatchError) -> Bool {
    try cache.checkUsable()
    return try directory.replay { $0.id == id } > 0
  }

  /// Sends all requests again that were put aside, or that wait. Returns their number.
  @discardableResult
  public func replayAll() throws(NuthatchError) -> Int {
    try cache.checkUsable()
    return try directory.replay { _ in true }
  }

  /// Removes a request, or its outcome; the request isn't sent after this. Returns false if there is none with that number.
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

  /// Sets the secret of a provider; it is kept in memory only. nil removes it. Queues that wait for it continue.
  public func provide(_ provider: String, _ secret: String?) throws(NuthatchError) {
    try cache.checkUsable()
    let (notices, directory) = (cache.notices, directory)
    directory.secrets.provide(provider, secret)
    // On the loop's thread, where surveys report missing secrets: one that missed this secret has reported it before this job, and
    // later ones see it.
    _ = directory.runtime.loop.post { notices.forgetAsked(provider) }
    guard secret != nil else { return }
    directory.serialQueue.submit {
      // If this can't be written now, the program can call `replay` later.
      _ = try? directory.replay { $0.isPaused && $0.request.providers.contains(provider) }
    }
  }
}

extension Outbox {
  /// Returns the first request after a number, in their order; nil if there is none.
  package func item(after id: UInt64) throws(NuthatchError) -> Item? {
    try cache.checkUsable()
    return try store.item(after: id)
  }

  /// Returns a request; nil if there is none with that number.
  public func item(_ id: UInt64) throws(NuthatchError) -> Item? {
    try cache.checkUsable()
    return try store.item(id)
  }

  /// Sends the notice again that a provider's secret is wanted, if it is; nil: for any provider. It is sent once more, because the
  /// first one may have found no listener.
  ///
  /// - Parameter listen: starts the listener.
  package func ask(for provider: String?, _ listen: @escaping @Sendable () -> Void) throws(NuthatchError) {
    try cache.checkUsable()
    let (notices, directory) = (cache.notices, directory)
    // On the serial queue, which also delivers notices: so no forgotten notice can still be on its way to the listener.
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

  /// Delivers notices as they come, instead of `nextNotice`, on a thread of the library, which must not be blocked.
  package func whenNews(_ deliver: @escaping @Sendable (Notice) -> Void) {
    let (notices, directory) = (notices, shared.outbox)
    notices.listen { directory.serialQueue.submit { notices.handOver(directory.store, deliver) } }
  }

  /// Waits for the next notice: an outcome for an attached handler, a wanted secret, a site's reachability, a change of the activity.
  /// Returns nil if none came in time.
  ///
  /// - Parameter milliseconds: nil: no limit.
  /// - Throws: `closed`, also if the cache is closed during the wait; `forked`.
  public func nextNotice(within milliseconds: Int64? = nil) throws(NuthatchError) -> Notice? {
    try checkUsable()
    return try notices.next(until: EventCount.deadline(milliseconds), shared.outbox.store)
  }
}

extension OutboxContents.Entry {
  /// Whether it waits for other credentials.
  var isPaused: Bool { standing == .waiting && last.map { $0.wait == nil } ?? false }
}

extension DirectoryOutbox {
  /// Marks requests to be sent again, also with secrets that a server has refused before: the caller knows that it makes sense, and of
  /// several secrets another one may have been wrong. Returns their number.
  func replay(where isWanted: (OutboxContents.Entry) -> Bool) throws(NuthatchError) -> Int {
    defer { look() }
    let (count, providers) = try store.replay(where: isWanted)
    secrets.forgive(providers)
    return count
  }

  /// Cancels this process's attempt to send a request. Throws `conflict` if it is still being sent.
  func stopSending(_ id: UInt64) throws(NuthatchError) {
    let done = EventCount()
    let seen = done.current
    if runtime.loop.post({
      self.sender.bar(id)
      // After the jobs that the end of its ticket has posted.
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
  /// - Parameter pause: nanoseconds for which its host must not be asked (Retry-After).
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
