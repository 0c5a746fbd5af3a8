import Glibc
import Testing

@testable import NuthatchCore
@testable import NuthatchStore

/// The state of the outbox that is read from its log, and the time that this takes.
@Suite("State of the outbox (OutboxContents)") struct OutboxBookTests {
  private static func request(_ queue: String, _ number: Int = 0) -> FrozenRequest {
    FrozenRequest(
      passedURL: "http://x/\(number)", address: "http://x/\(number)", method: "POST", headers: [],
      queue: queue,
      guardGrade: .guarded, silence: nil, maxBytes: 1, attempts: 25, longest: nil, keyLifetime: nil,
      frozen: DurableTime(wall: 0, running: 0, boot: 7), exposed: nil,
      body: .inline(Array("body \(number)".utf8)))
  }

  @Test("version 0.1's flag for late sending is read as an Idempotency-Key that is never forgotten")
  func resentLate() throws {
    var request = Self.request("q")
    request.keyLifetime = 5
    var encoder = RecordEncoder()
    request.encode(into: &encoder)
    for (flag, lifetime) in [(UInt8(0), Int64?(5)), (2, nil)] {
      var bytes = encoder.bytes
      bytes[0] |= flag
      let found = try bytes.withUnsafeBytes { (bytes) throws -> FrozenRequest in
        var decoder = RecordDecoder(bytes)
        return try FrozenRequest(&decoder, withBody: true)
      }
      #expect(found.keyLifetime == lifetime && found.address == request.address)
    }
  }

  private static func attempt(_ counted: Int) -> AttemptRecord {
    AttemptRecord(
      ended: DurableTime(wall: 0, running: 0, boot: 7), code: nil, status: 503, reason: "", counted: counted,
      exposed: nil, wait: 0, isUnreachable: false)
  }

  @Test("the outbox's counts match its entries after random records in random order")
  func counts() throws {
    let now = DurableTime(wall: 1, running: 1, boot: 7)
    for _ in 0..<(isSanitized ? 2 : 20) {
      let book = OutboxContents()
      book.begin()
      var sequence: UInt64 = 0
      var offset: Int64 = 128
      for _ in 0..<400 {
        let known = UInt64.random(in: 0...sequence + 1)
        let record: OutboxRecord =
          switch Int.random(in: 0..<9) {
          case 0, 1, 2: .frozen(Self.request("queue \(Int.random(in: 0..<4))", Int.random(in: 0..<1000)))
          case 3: .begun(known, now)
          case 4, 5: .ended(known, Self.attempt(3))
          case 6:
            .settled(
              known, OutboxSettlement(at: now, isDone: Bool.random(), code: nil, reason: "HTTP 400"))
          case 7: .replayed(known, now)
          default: .gone(known)
          }
        sequence += 1
        let payload = record.encoded()
        payload.withUnsafeBytes {
          book.take($0, at: JournalPlace(offset: offset, length: payload.count, sequence: sequence))
        }
        offset = JournalRecord.end(offset, payload.count)
        check(book)
      }
    }
  }

  private func check(_ book: OutboxContents) {
    let all = book.inOrder
    #expect(all.map(\.id) == book.entries.keys.sorted())
    #expect(book.bytes == all.reduce(0) { $0 + $1.bytes })
    #expect(book.wantedBytes == book.wanted.reduce(0) { $0 + JournalRecord.end(0, $1.length) })
    var seen: Set<String> = []
    let heads = all.filter { $0.standing == .waiting && seen.insert($0.request.queue).inserted }
    #expect(book.heads.map(\.id) == heads.map(\.id))
    #expect(book.settled.map(\.id) == all.filter { $0.standing != .waiting }.map(\.id))
    for queue in seen {
      let waiting = all.filter { $0.standing == .waiting && $0.request.queue == queue }
      #expect(book.waiting(in: queue).map(\.id) == waiting.map(\.id))
    }
  }

  @Test(
    "the cost of a request in the outbox hardly grows with the number of requests",
    .enabled(if: !isSanitized, "a sanitizer has costs of its own"), .timeLimit(.minutes(5)))
  func thousands() throws {
    _ = try costOfOne(among: 100)
    let (few, many) = (try costOfOne(among: 250), try costOfOne(among: 3000))
    // With a look at all of them for each of them it would be twelve times as much.
    #expect(many < 5 * few, "\(few) and \(many) s")
  }

  /// Returns the processor time, in seconds, to freeze, list and finish one request.
  private func costOfOne(among count: Int) throws -> Double {
    let folder = try Bench.makeFolder()
    defer { removeTree(folder) }
    let store = OutboxStore(folder, OutboxClock.system(.system), mostBytes: 1 << 30, mostItems: 10_000)
    var begun = processorTime()
    for number in 0..<count { _ = try store.freeze(Self.request("queue", number)) }
    var listed = 0
    var id: UInt64 = 0
    while let item = try store.item(after: id) {
      id = item.id
      listed += 1
    }
    #expect(listed == count)
    let frozen = (processorTime() - begun) / Double(count)
    begun = processorTime()
    let first = min(count, 500)
    for id in 1...UInt64(first) {
      #expect(
        try store.survey(sending: [], leases: true, isAwake: { _ in true })?.heads.first?.entry.id == id)
      #expect(try store.begin(id) != nil)
      let now = DurableTime(wall: 0, running: 0, boot: 7)
      try store.settle(id, OutboxSettlement(at: now, isDone: true, code: nil, reason: ""))
    }
    return frozen + (processorTime() - begun) / Double(first)
  }

  /// Returns the processor time of this thread, in seconds.
  private func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
