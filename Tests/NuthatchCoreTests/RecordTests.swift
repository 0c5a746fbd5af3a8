import NuthatchImaging
import NuthatchStore
import NuthatchTransport
import Testing

@testable import NuthatchCore

/// Records come from files, so every value is possible.
@Suite("Thumbnail records") struct RecordTests {
  @Test("a thumbnail record whose source has an overflowing number of pixels is beyond every limit")
  func pixels() throws {
    // The product, cut to 64 bits, is negative, and less than any limit.
    let side = Int(UInt32.max)
    #expect(side.multipliedReportingOverflow(by: side).partialValue < 0)
    #expect(ImageSize(width: side, height: side).area == .max)

    let folder = try Bench.makeFolder()
    defer { removeTree(folder) }
    let store = try Store.open(folder)
    defer { store.close() }
    let content = try #require(Digest((0..<32).map { UInt8($0) }))
    let recipe = Recipe(ThumbnailBox(2), allowsDamage: false)
    let pixels = try [UInt8](repeating: 7, count: 16).withUnsafeBytes {
      try PixelBuffer(size: ImageSize(width: 2, height: 2), rgba: $0)
    }
    let claimed = Picture(
      pixels, originalSize: ImageSize(width: side, height: side), facts: PictureFacts(), isPartial: false)
    try ThumbRecord.write(claimed, ThumbRecord.key(content, recipe), keeping: .raw, in: store)
    let workers = WorkerPool(width: 1, memory: 1 << 20)
    defer { workers.stop() }
    let maker = PictureMaker(
      workers: workers, thumbnails: Thumbnails(store: store), keeping: .raw, limits: ImageLimits(),
      counts: CacheCounts())
    maker.makeHere(PictureSource(content: content, url: "x"), [recipe], priority: 0) { pictures in
      // Not that one, and there is no body to make another from.
      #expect(throws: NuthatchError.self) { try pictures[recipe]?.get() }
    }
    let stored = try #require(
      try store.lookup(ThumbRecord.key(content, recipe)).flatMap { ThumbRecord.Stored($0) })
    var thumbnails = StoredThumbnails()
    thumbnails[recipe] = .record(stored)
    let source = PictureSource(content: content, url: "x", thumbnails: thumbnails)
    maker.makeHere(source, [recipe], priority: 0) { pictures in
      #expect(throws: NuthatchError.self) { try pictures[recipe]?.get() }
      if case .failure(let error)? = pictures[recipe] { #expect(error.code == .tooManyPixels) }
    }
    var request = Request("http://example.org/")
    request.boxes = [recipe.box]
    let plan = try RequestPlan(request, Options())
    var record = AnswerRecord(
      head: ResponseHead(status: 200), requestTime: 0, responseTime: 0, finalURL: "x")
    record.content = content
    var parts = StoredAnswer.Parts()
    parts.thumbnails[recipe] = .inMemory(MemoryPicture(claimed))
    let found = StoredAnswer(record, marks: nil, second: 0, record.freshness(for: plan, now: 0), parts)
    #expect(found.isAnswer(to: plan))
    #expect(found.immediateAnswer(to: plan, "x", .fromStore(found)) == nil)
  }
}
