import NuthatchHTTP
import Testing

@testable import NuthatchCore
@testable import NuthatchStore

@Suite("Slots of remembered hits") struct HitSlotsTests {
  private static func hit(_ number: Int) throws -> RememberedHit {
    let url = "http://host.example/\(number)"
    let plan = try RequestPlan(Request(url), Options())
    var head = ResponseHead(status: 200)
    head.fields.append("Cache-Control", "max-age=60")
    let record = AnswerRecord(head: head, requestTime: 0, responseTime: 0, finalURL: url)
    let marks = AnswerMarks(key: RecordKey(.answer, url), mark: RecordMark(index: 1, pack: 1, offset: 0))
    let stored = StoredAnswer(
      record, marks: marks, second: 0, record.freshness(for: plan, now: 0), StoredAnswer.Parts())
    return try #require(RememberedHit(url, HitTable.answerSize, stored, plan))
  }

  @Test("the slots of a stripe hold as many hits as there is room for, always the last one")
  func room() throws {
    let (count, room) = (200, 40)
    var slots = HitSlots()
    let hits = try (0..<count).map { try Self.hit($0) }
    func isThere(_ hit: RememberedHit) -> Bool { slots.find(hit.hash)?.takeUnretainedValue() === hit }
    for hit in hits {
      slots.put(hit, room: room)?.release()
      #expect(isThere(hit))
    }
    // A hit takes the place of an older one of the same hash, and no other's.
    slots.put(hits[count - 1], room: room)?.release()
    var left = hits.filter(isThere)
    #expect(left.count == room)
    while let last = left.popLast() {
      #expect(slots.take(last.hash) { _ in false } == nil)
      slots.take(last.hash) { _ in true }?.release()
      #expect(!isThere(last) && left.allSatisfy(isThere))
    }
    slots.releaseAll()
  }

  @Test("the slots of a stripe release the hits that they held")
  func release() throws {
    var slots = HitSlots()
    weak var replaced: RememberedHit?
    weak var held: RememberedHit?
    do {
      let (first, second) = (try Self.hit(1), try Self.hit(1))
      (replaced, held) = (first, second)
      for hit in [first, second] { slots.put(hit, room: 2)?.release() }
    }
    #expect(replaced == nil && held != nil)
    slots.releaseAll()
    #expect(held == nil)
  }
}
