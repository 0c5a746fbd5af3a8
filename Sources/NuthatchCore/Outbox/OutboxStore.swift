import CSystem
import NuthatchStore
import NuthatchTransport

/// The operations on the outbox of a directory. Any thread may call them; every call may wait for the disk.
// Mutable properties are used under the journal's lock only, hence Sendable.
final class OutboxStore: @unchecked Sendable {
  let journal: Journal
  // Used under the journal's lock only.
  private let contents: OutboxContents
  private let path: String
  let clock: OutboxClock
  let secrets = OutboxSecrets()
  /// Hosts that must not be asked for some time (Retry-After).
  private let paused: PausedHosts?
  private let mostBytes: Int64
  private let mostItems: Int
  private let hasSwept = Locked(false)
  /// The times at which this process first saw requests whose last attempt was before the last boot. Used under the journal's
  /// lock only.
  private var seen: [UInt64: DurableTime] = [:]

  init(
    _ path: String, _ clock: OutboxClock, mostBytes: Int64, mostItems: Int, paused: PausedHosts? = nil
  ) {
    let contents = OutboxContents()
    self.paused = paused
    self.contents = contents
    self.path = path
    self.clock = clock
    self.mostBytes = mostBytes
    self.mostItems = mostItems
    journal = Journal(path, contents)
  }

  /// Runs `body` with the lock that only one process of the machine can hold. Returns nil if there is no outbox.
  ///
  /// - Parameters:
  ///   - makes: whether to create the outbox if there is none.
  ///   - isAsked: whether the program has asked for this change. Then this call waits longer for another process: 5 s, not 1 s.
  func change<Result>(
    makes: Bool = false, isAsked: Bool = false, _ body: (OpenOutbox) throws(StoreFault) -> Result
  ) throws(NuthatchError) -> Result? {
    try naming { () throws(StoreFault) in
      try journal.changing(makes: makes, isAsked: isAsked) { (journal) throws(StoreFault) in
        try body(OpenOutbox(contents: contents, journal: journal))
      }
    }
  }

  /// Runs `body` to read the outbox, without waiting for other processes. Returns nil if there is no outbox.
  func look<Result>(
    _ body: (OpenOutbox) throws(StoreFault) -> Result
  ) throws(NuthatchError) -> Result? {
    try naming { () throws(StoreFault) in
      try journal.looking { (journal) throws(StoreFault) in
        try body(OpenOutbox(contents: contents, journal: journal))
      }
    }
  }

  /// Adds the path of the outbox to errors.
  private func naming<Result>(
    _ body: () throws(StoreFault) -> Result
  ) throws(NuthatchError) -> Result {
    do { return try body() } catch { throw NuthatchError(error, path: path + "/outbox") }
  }

  // MARK: Freezing

  /// Stores a request, and returns its number. The record then survives a loss of power.
  ///
  /// - Throws: `no_space` if the disk or the outbox is full; `io`; `busy`. Then the request isn't stored, unless a failed write couldn't be undone.
  func freeze(
    _ request: FrozenRequest, claiming: ((UInt64) -> Void)? = nil
  ) throws(NuthatchError) -> UInt64 {
    var request = request
    let file = request.needsFile ? try copyBody(of: request) : nil
    if let file {
      request.body = .file(name: file.body.name, count: file.body.count, checksum: file.checksum)
    }
    let payload = OutboxRecord.frozen(request).encoded()
    let count = request.bodyBytes
    let place = try change(makes: true) { (outbox) throws(StoreFault) in
      try checkRoom(outbox.contents, Int64(payload.count) + (file == nil ? 0 : count))
      if let claiming {
        // Do this before other processes can see the request.
        claiming(outbox.journal.next)
        _ = try outbox.journal.locks.tryTake(outbox.journal.next)
      }
      return try outbox.journal.append(payload)
    }
    guard let place else { throw .closed }
    file?.body.keep()
    return place.sequence
  }

  /// Copies a body into its own file, which is deleted unless `keep` is called.
  private func copyBody(
    of request: FrozenRequest
  ) throws(NuthatchError) -> (body: JournalBody, checksum: UInt64) {
    let made = try change(makes: true) { (outbox) throws(StoreFault) in
      try checkRoom(outbox.contents, request.bodyBytes)
      return try outbox.journal.newBody()
    }
    guard let made else { throw .closed }
    return try naming { () throws(StoreFault) in
      switch request.body {
      case .inline(let bytes):
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(StoreFault) in try made.append(bytes) }
      case .source(let source): try copy(source, into: made)
      case .unread, .file: break
      }
      return (made, try made.finish())
    }
  }

  /// Copies the bytes of `source`. Throws `io` if a file has changed since the submission, because other bytes must not be
  /// sent.
  private func copy(_ source: BodySource, into body: JournalBody) throws(StoreFault) {
    let reader = BodyReader(source)
    var bytes = [UInt8](repeating: 0, count: Int(min(max(1, source.count), Self.copiedAtOnce)))
    while true {
      let count: Int
      do throws(TransportFault) {
        var room = bytes.mutableSpan
        count = try room.withUnsafeMutableBytes { (room) throws(TransportFault) in
          try reader.read(into: room)
        }
      } catch {
        throw StoreFault(error.kind == .outOfMemory ? .outOfMemory : .io, error.message)
      }
      guard count > 0 else { return }
      try bytes.span.bytes.extracting(..<count).withUnsafeBytes { (bytes) throws(StoreFault) in
        try body.append(bytes)
      }
    }
  }

  private static let copiedAtOnce: Int64 = 1 << 18

  private func checkRoom(_ contents: OutboxContents, _ more: Int64) throws(StoreFault) {
    guard contents.count < mostItems else {
      throw StoreFault(.noSpace, "the outbox is full: it holds \(contents.count) requests")
    }
    guard contents.bytes &+ more <= mostBytes else {
      throw StoreFault(.noSpace, "the outbox is full: it holds \(contents.bytes) bytes of \(mostBytes)")
    }
  }

  /// Returns whether a new request of a queue must wait for other requests in the outbox. Requests whose first attempt is under
  /// way, in any process, don't count.
  ///
  /// - Parameter own: returns whether this process makes the first attempt of a request.
  func isBehind(_ queue: String, own: (UInt64) -> Bool) throws(NuthatchError) -> Bool {
    try look { (outbox) throws(StoreFault) -> Bool in
      for entry in outbox.contents.waiting(in: queue) {
        guard entry.isLive else { return true }
        if own(entry.id) { continue }
        // If the lock is free, the process of the first attempt has died.
        guard try outbox.journal.locks.tryTake(entry.id) else { continue }
        outbox.journal.locks.giveBack(entry.id)
        return true
      }
      return false
    } ?? false
  }

  // MARK: Sending

  /// Records the start of an attempt, and returns the request to send. Returns nil if the request must not be sent any more.
  func begin(_ id: UInt64) throws(NuthatchError) -> FrozenRequest? {
    guard try isBodyWhole(id) else {
      try settle(
        id,
        OutboxSettlement(
          at: clock.now(), isDone: false, code: .corrupt, reason: "its body is damaged on disk"))
      return nil
    }
    return try change { (outbox) throws(StoreFault) -> FrozenRequest? in
      guard let entry = outbox.contents.entries[id], entry.standing == .waiting else { return nil }
      let now = clock.now()
      if let reason = OutboxRules.hindrance(entry, now) {
        try outbox.putAside(id, reason, now)
        return nil
      }
      // Never nil: the same record was decoded when the log was read.
      guard case .frozen(let request)? = try outbox.read(entry.place) else { return nil }
      try outbox.write(.begun(id, clock.now()))
      return request
    } ?? nil
  }

  /// Returns false if the body of a request is in a file, and the file is damaged. Reads the file without a lock.
  private func isBodyWhole(_ id: UInt64) throws(NuthatchError) -> Bool {
    let found = try change { (outbox) throws(StoreFault) -> (JournalBody, UInt64)? in
      guard let entry = outbox.contents.entries[id], entry.standing == .waiting,
        case .file(let name, let count, let checksum) = entry.request.body
      else { return nil }
      return (try outbox.journal.body(name, count: count), checksum)
    }
    guard let (body, checksum) = found ?? nil else { return true }
    return try naming { () throws(StoreFault) in try body.isWhole(checksum) }
  }

  /// Records the end of an attempt that didn't end the request.
  func end(_ id: UInt64, _ attempt: AttemptRecord) throws(NuthatchError) {
    _ = try change { (outbox) throws(StoreFault) in
      if outbox.contents.entries[id] != nil { try outbox.write(.ended(id, attempt)) }
    }
  }

  /// Records the end of a request. If it is done, the file of its body is deleted.
  func settle(_ id: UInt64, _ settlement: OutboxSettlement) throws(NuthatchError) {
    _ = try change { (outbox) throws(StoreFault) in
      guard let entry = outbox.contents.entries[id] else { return }
      try outbox.write(.settled(id, settlement))
      if settlement.isDone { outbox.removeBody(of: entry) }
    }
  }

  // MARK: Calls of the program

  /// Removes a request. Returns false if there is none with that number.
  func remove(_ id: UInt64, isAsked: Bool = false) throws(NuthatchError) -> Bool {
    try change(isAsked: isAsked) { (outbox) throws(StoreFault) -> Bool in
      guard let entry = outbox.contents.entries[id] else { return false }
      try outbox.write(.gone(id))
      outbox.removeBody(of: entry)
      return true
    } ?? false
  }

  /// Marks requests to be sent again. Returns their number, and the providers of their secrets.
  func replay(
    where isWanted: (OutboxContents.Entry) -> Bool
  ) throws(NuthatchError) -> (count: Int, providers: Set<String>) {
    try change(isAsked: true) { (outbox) throws(StoreFault) in
      let chosen = outbox.contents.inOrder.filter { $0.standing != .done && isWanted($0) }
      for entry in chosen { try outbox.write(.replayed(entry.id, clock.now())) }
      return (chosen.count, Set(chosen.flatMap(\.request.providers)))
    } ?? (0, [])
  }

  /// Returns the end of a request, with the answer's body; nil while it hasn't ended.
  func settlement(_ id: UInt64) throws(NuthatchError) -> (FrozenRequest, OutboxSettlement)? {
    try look { (outbox) throws(StoreFault) -> (FrozenRequest, OutboxSettlement)? in
      guard let entry = outbox.contents.entries[id], let known = entry.settlement else { return nil }
      // Never nil: the same record was decoded when the log was read.
      guard case .settled(_, let settlement)? = try outbox.read(known.place) else { return nil }
      return (entry.request, settlement)
    } ?? nil
  }

  // MARK: Reading

  /// The facts that the sender needs about the outbox.
  struct Survey {
    struct Head {
      let entry: OutboxContents.Entry
      /// Nanoseconds until the request may be sent; nil if it waits for other credentials.
      let delay: Int64?
      /// Nanoseconds until the request is too old; nil if it has no such limit.
      let expiry: Int64?
    }

    var heads: [Head] = []
    /// Requests that have ended and whose outcome wasn't collected.
    var settled: [(id: UInt64, handler: String?)] = []
    var isLeaseTaken = false
    var damage: [String] = []
  }

  /// Takes the lease (the right to send, which one process of the machine has) if a request is due, puts aside the requests that must not be sent any more, and returns the first request
  /// of each queue. Returns nil if there is no outbox.
  ///
  /// - Parameters:
  ///   - sending: requests that this process is sending.
  ///   - isAwake: whether a request whose connection failed may be tried before its time.
  ///   - leases: whether this process may take the lease.
  func survey(
    sending: Set<UInt64>, leases: Bool, isAwake: (OutboxContents.Entry) -> Bool
  ) throws(NuthatchError) -> Survey? {
    try change { (outbox) throws(StoreFault) -> Survey in
      sweepOnce(outbox.journal)
      var survey = Survey()
      let now = clock.now()
      func delay(_ entry: OutboxContents.Entry) -> Int64? {
        if let last = entry.last, last.ended.boot != now.boot, seen[entry.id] == nil { seen[entry.id] = now }
        if entry.last?.isUnreachable == true, isAwake(entry) { return 0 }
        return OutboxRules.delay(entry, now, seen: seen[entry.id])
      }
      survey.isLeaseTaken = !sending.isEmpty
      // Whether a request may be sent now, or must be put aside now. The latter can be true before its wait is over.
      func isDue(_ entry: OutboxContents.Entry) -> Bool {
        delay(entry) == 0 || (!entry.isLive && OutboxRules.hindrance(entry, now) != nil)
      }
      if leases, sending.isEmpty, outbox.contents.heads.contains(where: isDue) {
        survey.isLeaseTaken = try outbox.journal.locks.tryLease()
      }
      if survey.isLeaseTaken { try putAside(outbox, except: sending, now) }
      // The sender releases a lease that it doesn't need (`releaseLeaseIfIdle`).
      survey.isLeaseTaken = outbox.journal.locks.hasLease
      survey.heads = outbox.contents.heads.map {
        Survey.Head(entry: $0, delay: delay($0), expiry: OutboxRules.expiry($0, now))
      }
      survey.settled = outbox.contents.settled
      survey.damage = outbox.journal.damage
      return survey
    }
  }

  /// Puts aside the first requests of queues that must not be sent any more, so that the next ones can be sent.
  private func putAside(
    _ outbox: OpenOutbox, except sending: Set<UInt64>, _ now: DurableTime
  ) throws(StoreFault) {
    while true {
      let late = outbox.contents.heads.filter { !sending.contains($0.id) && !$0.isLive }.compactMap { entry in
        OutboxRules.hindrance(entry, now).map { (entry.id, $0) }
      }
      guard !late.isEmpty else { return }
      for (id, reason) in late { try outbox.putAside(id, reason, now) }
    }
  }

  private func sweepOnce(_ journal: OpenJournal) {
    let isFirst = hasSwept.withLock { hasSwept in
      defer { hasSwept = true }
      return !hasSwept
    }
    if isFirst { journal.sweep() }
  }

  /// Returns the nanoseconds for which the host of a request must not be asked, as far as this process knows.
  func pause(_ request: FrozenRequest) -> Int64 {
    paused?.left(of: request.origin, now: nhs_monotonic_ns()) ?? 0
  }

  /// Returns all requests, in order.
  func list() throws(NuthatchError) -> [Outbox.Item] {
    try look { (outbox) throws(StoreFault) in
      let isFree = try outbox.journal.locks.isLeaseFree()
      let now = clock.now()
      return outbox.contents.inOrder.map { item($0, isSending: $0.begun != nil && !isFree, now) }
    } ?? []
  }
}

extension OutboxStore {
  func item(_ id: UInt64) throws(NuthatchError) -> Outbox.Item? {
    try look { (outbox) throws(StoreFault) in try item(outbox.contents.entries[id], outbox) } ?? nil
  }

  /// Returns the first request with a greater number than `id`.
  func item(after id: UInt64) throws(NuthatchError) -> Outbox.Item? {
    try look { (outbox) throws(StoreFault) in try item(outbox.contents.first(after: id), outbox) } ?? nil
  }

  private func item(_ entry: OutboxContents.Entry?, _ outbox: OpenOutbox) throws(StoreFault) -> Outbox.Item? {
    guard let entry else { return nil }
    let isSending = entry.begun != nil ? try !outbox.journal.locks.isLeaseFree() : false
    return item(entry, isSending: isSending, clock.now())
  }

  private func item(_ entry: OutboxContents.Entry, isSending: Bool, _ now: DurableTime) -> Outbox.Item {
    Outbox.Item(entry, isSending: isSending, now, secrets, pause: pause(entry.request))
  }
}

/// The outbox during one change or read.
struct OpenOutbox {
  let contents: OutboxContents
  let journal: OpenJournal

  /// Writes a record. When this returns, the record survives a loss of power.
  func write(_ record: OutboxRecord) throws(StoreFault) { try journal.append(record.encoded()) }

  /// Returns a record with its body; nil if it can't be read.
  func read(_ place: JournalPlace) throws(StoreFault) -> OutboxRecord? {
    let payload = try journal.read(place)
    return payload.withUnsafeBytes { try? OutboxRecord($0, withBody: true) }
  }

  /// Records why a request must not be sent any more.
  func putAside(_ id: UInt64, _ reason: String, _ now: DurableTime) throws(StoreFault) {
    try write(.settled(id, OutboxSettlement(at: now, isDone: false, code: nil, reason: reason)))
  }

  func removeBody(of entry: OutboxContents.Entry) {
    if case .file(let name, _, _) = entry.request.body { journal.remove(body: name) }
  }
}
