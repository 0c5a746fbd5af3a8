import Testing

@testable import NuthatchCore

@Suite("Notices of an outbox") struct OutboxNoticesTests {
  @Test("an ended request gets one notice, even if the outbox can't be read meanwhile")
  func ended() {
    let notices = OutboxNotices()
    let rings = Collected<Int>()
    notices.attach("handler")
    notices.listen { rings.add(1) }
    notices.take([(1, "handler")], [])
    notices.take(nil, [])
    notices.take([(1, "handler")], [])
    #expect(rings.values.count == 1)
    // It was replayed, and has ended again.
    notices.take([], [])
    notices.take([(1, "handler")], [])
    #expect(rings.values.count == 2)
  }
}
