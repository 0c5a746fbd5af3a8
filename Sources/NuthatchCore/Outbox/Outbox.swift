import NuthatchImaging
import NuthatchStore
import NuthatchTransport

/// The requests of a directory that wait for the network, and what came of them.
///
/// They survive restarts and losses of power, and are sent by whatever process has the directory open (`Options.outbox`),
/// in their order, until a final answer has been written down. They are never evicted: an outbox that is full refuses new ones.
/// Calls may wait for the disk.
public struct Outbox: Sendable {
  /// Where a request stands.
  public enum State: Int32, Sendable {
    /// For the network, for its time, or for those before it.
    case waiting = 1
    case sending = 2
    /// For somebody: the server wants other credentials (401, 403). Nothing of its queue is sent meanwhile.
    case paused = 3
    /// Its outcome waits to be collected.
    case done = 4
    /// It was put aside, with a reason: `replay` sends it, `drop` forgets it.
    case dead = 5
  }

  /// An attempt that wasn't the last.
  public struct Attempt: Sendable {
    /// Seconds since 1970.
    public let time: Int64
    /// The status of the answer; 0 for none.
    public let status: Int
    /// Why there was none.
    public let code: ErrorCode?
    /// The same in words.
    public let reason: String
  }

  /// A request in the outbox.
  public struct Item: Sendable {
    /// Its number, which no other request ever has.
    public let id: UInt64
    /// Where it stands.
    public let state: State
    /// Its method.
    public let method: String
    /// Its URL, without password; that of a site's request from its beginning on.
    public let url: String
    /// The name of its queue, or its origin.
    public let queue: String
    /// Who gets the outcome.
    public let handler: String?
    /// The word that the request was given.
    public let tag: String?
    /// Its `Idempotency-Key`, the same for every attempt.
    public let key: String?
    /// Bytes of its body.
    public let bodyBytes: Int64
    /// When it was frozen, in seconds since 1970.
    public let frozenAt: Int64
    /// How often it was tried since.
    public let attempts: Int
    /// Seconds until it is tried again; nil when that doesn't depend on time.
    public let wait: Int64?
    /// The status of the last answer; 0 for none.
    public let status: Int
    /// Why it isn't done.
    public let reason: String?
    /// The same as a stable word, where it was put aside, or waits, for another reason than an answer's status: `timeout` for
    /// what was tried too often or too long, `secret_needs_provider` for a secret that nobody has provided in this process.
    public let code: ErrorCode?
    /// The last attempts, oldest first, up to 32.
    public let history: [Attempt]
  }

  /// What came of a request.
  public struct Outcome: Sendable {
    /// The request's number.
    public let id: UInt64
    /// Whether the server has done it (2xx); else it was put aside.
    public let isDone: Bool
    /// Who is to get it.
    public let handler: String?
    /// The word that the request was given.
    public let tag: String?
    /// As the URL was passed, without password; that of a site's request from its beginning on.
    public let url: String
    /// The request's method.
    public let method: String
    /// The request's `Idempotency-Key`.
    public let key: String?
    /// The answer's status; 0 for none.
    public let status: Int
    /// The URL that answered.
    public let finalURL: String
    /// The answer's header lines.
    public let headers: [(name: String, value: String)]
    /// The answer's body, up to 1 MiB.
    public let body: [UInt8]
    /// Whether the body was longer.
    public let isCut: Bool
    /// Why it was put aside; nil for what is done.
    public let reason: String?
  }

  let cache: Cache
  private var desk: DirectoryOutbox { cache.shared.outbox }
  private var store: OutboxStore { desk.store }

  init(_ cache: Cache) { self.cache = cache }

  // MARK: Looking

  /// All requests, in their order.
  public func list() throws(NuthatchError) -> [Item] {
    try cache.checkUsable()
    return try store.list()
  }

  /// The files in which damage of the log was set aside, as long as they are there.
  public var damage: [String] {
    // Where the log can't be read at all, its readers say so.
    let names = try? store.look { $0.journal.asideFiles }
    return (names ?? nil ?? store.journal.damage).map { "\(cache.path)/outbox/\($0)" }
  }

  /// What came of a request; nil while it hasn't ended. It stays until it is collected or dropped.
  public func outcome(_ id: UInt64) throws(NuthatchError) -> Outcome? {
    try cache.checkUsable()
    return try store.settlement(id).map { Outcome(id, $0, $1) }
  }

  /// What came of a request that is done, which is forgotten then. nil while it isn't; what was put aside stays. Who can't
  /// lose it to a kill before it was seen to takes `outcome`, and `drop` after.
  public func collect(_ id: UInt64) throws(NuthatchError) -> Outcome? {
    guard let outcome = try outcome(id) else { return nil }
    if outcome.isDone { _ = try store.remove(id, isAsked: true) }
    return outcome
  }

  // MARK: Deciding

  /// Sends a request that was put aside, or that waits, as soon as it is its turn; times and attempts count from now, and it
  /// may be sent again whatever its server may have forgotten. False when there is none of that number.
  @discardableResult
  public func replay(_ id: UInt64) throws(NuthatchError) -> Bool {
    try cache.checkUsable()
    return try desk.replay { $0.id == id } > 0
  }

  /// Sends all requests that were put aside, or that wait. How many.
  @discardableResult
  public func replayAll() throws(NuthatchError) -> Int {
    try cache.checkUsable()
    return try desk.replay { _ in true }
  }

  /// Forgets a request, or its outcome: it is never sent after this. False when there is none of that number.
  ///
  /// - Throws: `conflict` while another process is sending it.
  @discardableResult
  public func drop(_ id: UInt64) throws(NuthatchError) -> Bool {
    try cache.checkUsable()
    let desk = desk
    defer { _ = desk.runtime.loop.post { desk.sender.unbar(id) } }
    try desk.stopSending(id)
    return try store.remove(id, isAsked: true)
  }

  // MARK: Handlers and secrets

  /// Outcomes of requests with this handler come to this cache's program from now on (`Cache.nextNotice`), those from before
  /// among them.
  public func attach(_ handler: String) throws(NuthatchError) {
    try cache.checkUsable()
    cache.notices.attach(handler)
    desk.look()
  }

  /// They don't any more.
  public func detach(_ handler: String) { cache.notices.detach(handler) }

  /// What a provider knows; kept in memory only. nil takes it back. Queues that wait for it go on.
  public func provide(_ provider: String, _ secret: String?) throws(NuthatchError) {
    try cache.checkUsable()
    let (notices, desk) = (cache.notices, desk)
    desk.secrets.provide(provider, secret)
    // On the loop's thread: a look that missed the secret has told so then, and isn't news once more.
    _ = desk.runtime.loop.post { notices.forgetAsked(provider) }
    guard secret != nil else { return }
    desk.lane.submit {
      // What can't be written now can be replayed by hand.
      _ = try? desk.replay { $0.isPaused && $0.request.providers.contains(provider) }
    }
  }
}

extension Outbox {
  /// The first request after a number, in their order; nil when there is none.
  package func item(after id: UInt64) throws(NuthatchError) -> Item? {
    try cache.checkUsable()
    return try store.item(after: id)
  }

  /// A request; nil when there is none of that number.
  public func item(_ id: UInt64) throws(NuthatchError) -> Item? {
    try cache.checkUsable()
    return try store.item(id)
  }

  /// Has it told once more that a provider's secret is wanted, where it is; nil: that of any. Once, though it was wanted, and
  /// nobody listened, before.
  ///
  /// - Parameter listen: From when on somebody does.
  package func ask(for provider: String?, _ listen: @escaping @Sendable () -> Void) throws(NuthatchError) {
    try cache.checkUsable()
    let (notices, desk) = (cache.notices, desk)
    // On the lane, where notices are handed over: none is in between, on its way from those that are forgotten to a listener.
    desk.lane.submit {
      listen()
      notices.askAgain(provider)
      desk.look()
    }
  }
}

extension Cache {
  /// The requests that wait for the network.
  public var outbox: Outbox { Outbox(self) }

  /// Hands notices over as they come, in the place of `nextNotice`, on a thread of the library's, which must not be held up.
  package func whenNews(_ deliver: @escaping @Sendable (Notice) -> Void) {
    let (notices, desk) = (notices, shared.outbox)
    notices.listen { desk.lane.submit { notices.handOver(desk.store, deliver) } }
  }

  /// Waits for the next notice: an outcome for an attached handler, a secret that is wanted, a site's reachability, a turn of
  /// the activity. nil when none came in time.
  ///
  /// - Parameter milliseconds: nil waits for ever.
  /// - Throws: `closed`, also when the cache is closed meanwhile; `forked`.
  public func nextNotice(within milliseconds: Int64? = nil) throws(NuthatchError) -> Notice? {
    try checkUsable()
    return try notices.next(until: EventCount.deadline(milliseconds), shared.outbox.store)
  }
}

extension OutboxContents.Entry {
  /// Whether it waits for somebody.
  var isPaused: Bool { standing == .waiting && last.map { $0.wait == nil } ?? false }
}

extension DirectoryOutbox {
  /// Has requests sent, with secrets that a server may have refused before: whoever says so knows that it is worth it, and of
  /// several secrets it may have been another one. How many.
  func replay(where isWanted: (OutboxContents.Entry) -> Bool) throws(NuthatchError) -> Int {
    defer { look() }
    let (count, providers) = try store.replay(where: isWanted)
    secrets.forgive(providers)
    return count
  }

  /// Makes sure that nobody sends a request any more.
  func stopSending(_ id: UInt64) throws(NuthatchError) {
    let done = EventCount()
    let seen = done.current
    if runtime.loop.post({
      self.sender.bar(id)
      // What the end of its ticket has posted comes before this.
      self.runtime.loop.post { self.runtime.loop.post { done.ring() } }
    }) {
      done.wait(after: seen, until: EventCount.deadline(5000))
    }
    let isSent = try store.look { (outbox) throws(StoreFault) -> Bool in
      guard let entry = outbox.book.entries[id] else { return false }
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
        .conflict, "request \(id) is being sent at this moment; it can be dropped after that")
    }
  }
}

// MARK: - Values

extension Outbox.Item {
  /// - Parameter pause: nanoseconds for which its host wants to be left alone.
  init(
    _ entry: OutboxContents.Entry, isSending: Bool, _ now: Stamp, _ secrets: OutboxSecrets, pause: Int64
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
      reason = "nobody here has provided: " + lacking.joined(separator: ", ")
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
  /// The answer; nil where there was none.
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
