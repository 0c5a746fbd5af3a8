import NuthatchImaging
import NuthatchStore
import NuthatchTransport
import TestServer
import Testing

@testable import NuthatchCore

#if canImport(Glibc)
  import Glibc
#endif

/// Keeps what it is told, and answers as a test says.
private final class RecordingTier: FetchTier {
  typealias Done = @Sendable (TierAnswer) -> Void

  let found = Collected<String>()
  let offered = Collected<String>()
  let ended = Collected<FetchEnd>()
  /// Gets the closure that answers. If nil, the tier answers nothing at once.
  let finding: (@Sendable (RequestPlan, SharedCache, @escaping Done) -> Void)?
  /// Called before a call is noted.
  let whenOffered = Locked<@Sendable () -> Void>({})
  let whenEnded = Locked<@Sendable () -> Void>({})

  init(finding: (@Sendable (RequestPlan, SharedCache, @escaping Done) -> Void)? = nil) {
    self.finding = finding
  }

  func request(for fetch: Fetch) -> any TierRequest { Asked(self, fetch.plan, fetch.shared) }

  private final class Asked: TierRequest {
    let tier: RecordingTier
    let plan: RequestPlan
    let shared: SharedCache

    init(_ tier: RecordingTier, _ plan: RequestPlan, _ shared: SharedCache) {
      (self.tier, self.plan, self.shared) = (tier, plan, shared)
    }

    func find(besides base: StoredAnswer?, done: @escaping Done) -> Bool {
      tier.found.add(plan.url.address)
      guard let finding = tier.finding else { return false }
      finding(plan, shared) { [loop = shared.runtime.loop] answer in loop.post { done(answer) } }
      return true
    }

    func offer(_ record: AnswerRecord, _ body: SharedBytes) {
      tier.whenOffered.withLock { $0 }()
      tier.offered.add(body.withBytes { String(decoding: $0, as: UTF8.self) })
    }

    func ended(_ end: FetchEnd) {
      tier.whenEnded.withLock { $0 }()
      tier.ended.add(end)
    }
  }
}

@Suite("Fetch tiers") struct FetchTierTests {
  private func bench(_ tier: RecordingTier, _ change: (inout TestOptions) -> Void = { _ in }) throws
    -> Bench
  {
    try Bench {
      $0.tiers = [tier]
      change(&$0)
    }
  }

  /// Returns how the tier's fetches ended, once `count` have ended and none is under way.
  private func ends(_ tier: RecordingTier, _ bench: Bench, _ count: Int = 1) throws -> [FetchEnd] {
    for _ in 0..<60_000 where tier.ended.values.count < count { usleep(1000) }
    // The loop has done what it was given, and workers what they were.
    bench.server.on("/last", Script.ok("last").with("Cache-Control", "no-store"))
    _ = try bench.get("/last")
    for _ in 0..<60_000 where tier.ended.values.count < count + 1 { usleep(1000) }
    return Array(tier.ended.values.prefix(count)) + tier.ended.values.dropFirst(count + 1)
  }

  @Test("a tier is offered an answer before it is stored, and hears once that it was")
  func stored() throws {
    let tier = RecordingTier()
    let bench = try bench(tier)
    bench.server.on("/a", Script.ok("x").with("Cache-Control", "max-age=60"))
    #expect(try bench.get("/a").text == "x")
    #expect(try bench.get("/a").isInCache)
    #expect(tier.offered.values == ["x"])
    #expect(try ends(tier, bench) == [.stored])
    #expect(tier.found.values.count == 2)
  }

  @Test("a tier isn't offered an answer that isn't stored, and hears once of it")
  func notStored() throws {
    let tier = RecordingTier()
    let bench = try bench(tier)
    bench.server.on("/a", Script.ok("x").with("Cache-Control", "no-store"))
    #expect(try bench.get("/a").text == "x")
    #expect(try ends(tier, bench) == [.notStored])
    #expect(tier.offered.values == [])
  }

  @Test("a tier hears once of a failed fetch, after all attempts")
  func failed() throws {
    let tier = RecordingTier()
    let bench = try bench(tier) { $0.retryPolicy.base = 1_000_000 }
    bench.server.on("/a", Script(steps: [.reset], sendsHead: false))
    #expect(try bench.failure("/a") { $0.retries = 2 }.code == .reset)
    #expect(bench.server.count("/a") == 3)
    #expect(try ends(tier, bench) == [.failed])
    #expect(tier.found.values.count == 2)
  }

  @Test(
    "a tier hears once of a cancelled fetch, before or after the server was asked",
    arguments: [false, true])
  func cancelled(isAsking: Bool) throws {
    let tier = RecordingTier(finding: isAsking ? Self.silentBefore : nil)
    let bench = try bench(tier)
    bench.server.on("/a", Script.ok("x").after(.wait("never")))
    let tickets = try (0..<3).map { _ in try bench.cache.submit(Request(bench.server.url("/a"))) }
    for _ in 0..<60_000 where tier.found.values.isEmpty { usleep(1000) }
    if !isAsking { #expect(bench.server.gate("never").waitUntilReached(1)) }
    for ticket in tickets { ticket.cancel() }
    #expect(try ends(tier, bench) == [.cancelled])
    #expect(bench.server.count("/a") == (isAsking ? 0 : 1))
  }

  /// Answers nothing but the last question of a test.
  private static let silentBefore:
    @Sendable (RequestPlan, SharedCache, @escaping RecordingTier.Done) -> Void = {
      plan, _, done in
      if plan.url.address.hasSuffix("/last") { done(.nothing) }
    }

  @Test("a tier is asked once and hears once of a fetch whose 304 leads to a whole answer")
  func anew() throws {
    let tier = RecordingTier()
    let bench = try bench(tier)
    bench.server.on("/a", Script.ok("old").with("ETag", "\"1\"").with("Cache-Control", "max-age=0"))
    #expect(try bench.get("/a").text == "old")
    bench.server.on("/a", sequence: [.status(304, headers: ["ETag": "\"2\""]), .ok("new")])
    #expect(try bench.get("/a") { $0.delivery = .fresh }.text == "new")
    #expect(bench.server.count("/a") == 3)
    #expect(try ends(tier, bench, 2).count == 2)
    #expect(tier.found.values.count == 3)
  }

  @Test("a tier hears of an answer before its picture is decoded")
  func beforeDecoding() throws {
    let tier = RecordingTier()
    let bench = try bench(tier)
    bench.server.on("/a.png", .ok(Pictures.png(width: 40, height: 30), type: "image/png"))
    let decodes = Collected<Int>()
    let cache = bench.cache
    tier.whenEnded.withLock { $0 = { decodes.add(cache.statistics.decodes) } }
    #expect(try bench.thumbnail("/a.png", 16).width == 16)
    #expect(decodes.values == [0] && tier.ended.values == [.stored])
    tier.whenEnded.withLock { $0 = {} }
  }

  @Test(
    "a tier is asked under the machine's fetch lock, which is free when the tier hears of the end")
  func lock() throws {
    let tier = RecordingTier()
    let bench = try bench(tier)
    bench.server.on("/a", Script.ok("x").with("Cache-Control", "max-age=60"))
    let plan = try RequestPlan(Request(bench.server.url("/a")), Options(), TermsCache())
    let place = FetchLocks.place(of: plan.name.key.hash.low)
    let others = FetchLocks(directory: bench.folder)
    let isFree = Collected<Bool>()
    let look: @Sendable () -> Void = {
      let isTaken = others.tryTake(place)
      isFree.add(isTaken)
      if isTaken { others.release(place) }
    }
    tier.whenOffered.withLock { $0 = look }
    tier.whenEnded.withLock { $0 = look }
    #expect(try bench.get("/a").text == "x")
    #expect(isFree.values == [false, true])
    #expect(!others.storedNothing(place, since: 1, now: .max))
    bench.server.on("/a", Script.ok("y").with("Cache-Control", "no-store"))
    #expect(try bench.get("/a") { $0.policy = .reload }.text == "y")
    #expect(isFree.values == [false, true, true])
    #expect(others.storedNothing(place, since: 1, now: .max))
  }

  @Test("a tier may answer later, and then the server isn't asked")
  func answersLater() throws {
    let tier = RecordingTier { plan, shared, done in
      shared.runtime.workers.submit {
        let bytes = Array("from the tier".utf8)
        let content = bytes.withUnsafeBytes { Digest(of: $0) }
        let now = shared.clock.seconds
        var fields = HeaderFields()
        fields.append("Cache-Control", "max-age=60")
        var record = AnswerRecord(
          head: ResponseHead(status: 200, fields: fields), requestTime: now, responseTime: now,
          finalURL: plan.url.address)
        record.content = content
        record.bodyLength = Int64(bytes.count)
        _ = bytes.withUnsafeBytes { try? shared.store.commit(RecordKey(.body, content.bytes), parts: [$0]) }
        _ = shared.write(record, plan, began: shared.moment(plan))
        done(.storeNowHas(shared.reader.readAdmitted(plan)))
      }
    }
    let bench = try bench(tier)
    #expect(try bench.get("/a").text == "from the tier")
    #expect(bench.server.count("/a") == 0)
    for _ in 0..<60_000 where tier.ended.values.isEmpty { usleep(1000) }
    #expect(tier.ended.values == [.stored])
  }

  @Test("a tier isn't offered an answer that belongs to one user")
  func ownAnswers() throws {
    let tier = RecordingTier()
    let bench = try bench(tier)
    bench.server.on("/a", Script.ok("x").with("Cache-Control", "private, max-age=60"))
    bench.server.on("/b", Script.ok("y").with("Cache-Control", "max-age=60"))
    #expect(try bench.get("/a").text == "x")
    #expect(try bench.get("/b") { $0.headers.append(("Authorization", "Bearer secret")) }.text == "y")
    #expect(tier.offered.values == [] && tier.ended.values == [.stored, .stored])
  }
}
