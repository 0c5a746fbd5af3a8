import NuthatchHTTP
import NuthatchStore
import Testing

@testable import NuthatchCore

/// Records with arbitrary bytes, as if their checksums were right.
@Suite("Damaged records") struct DamagedRecordTests {
  private static func damaged(_ bytes: [UInt8], _ random: inout SoakRandom) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      bytes[Int.random(in: 0..<bytes.count, using: &random)] =
        [0, 1, 0x7F, 0x80, 0xFF, UInt8(truncatingIfNeeded: random.next())].randomElement(using: &random) ?? 0
    }
    if random.chance(30) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
    return bytes
  }

  @Test("a damaged answer record is read or refused, and its freshness never traps")
  func meta() {
    var head = ResponseHead(status: 200, reason: "OK")
    head.fields.append("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
    head.fields.append("Age", "100")
    head.fields.append("ETag", "\"1\"")
    head.fields.append("Cache-Control", "max-age=600, stale-if-error=900")
    head.fields.append("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")
    var whole = AnswerRecord(
      head: head, requestTime: 784_111_777, responseTime: 784_111_778, finalURL: "http://a/")
    whole.varied = ["accept"]
    whole.content = Digest([UInt8](repeating: 7, count: Digest.size))
    whole.bodyLength = 1000
    whole.sizes = [
      Recipe(ThumbnailBox(200), allowsDamage: false), Recipe(ThumbnailBox(320), allowsDamage: true),
    ]
    let bytes = whole.encoded()
    #expect(bytes.withUnsafeBytes { AnswerRecord($0) }?.encoded() == bytes)
    var random = SoakRandom(UInt64.random(in: 0...UInt64(UInt32.max)))
    var read = 0
    for _ in 0..<4000 {
      let damaged = Self.damaged(bytes, &random)
      guard let meta = damaged.withUnsafeBytes({ AnswerRecord($0) }) else { continue }
      read += 1
      let written = meta.encoded()
      #expect(written.withUnsafeBytes { AnswerRecord($0) }?.encoded() == written, "\(damaged)")
      for rules in [Policy.kit, .rfc9111, .offline] {
        var options = Options()
        options.policy = rules
        for now in [0, 784_112_000, Int64.max] {
          let verdict = meta.answer.freshness(
            for: HeaderFields(), FreshnessRules(options), now: now)
          #expect(verdict.age >= 0, "\(damaged)")
        }
      }
      _ = StorageRules.conditionalFields(meta.head)
      _ = Caching.renewed(
        meta, by: meta.head, requestTime: meta.requestTime, responseTime: meta.responseTime)
    }
    #expect(read > 100)
  }

  @Test(
    "a damaged thumbnail record gives a picture of the size that it says, or none",
    arguments: [0, 1, 2, 3, 4] as [UInt8])
  func thumb(form: UInt8) throws {
    let folder = try Bench.makeFolder()
    defer { removeTree(folder) }
    let store = try Store.open(folder, Store.Options(diskBytes: 4 << 20))
    defer { store.close() }
    var random = SoakRandom(UInt64.random(in: 0...UInt64(UInt32.max)))
    let whole = [1, 0, 64, 0, 0, 0, 48, 0, 0, 0] + [UInt8](repeating: 0, count: 54 + 8 * 6 * 4)
    for round in 0..<300 {
      let bytes = round == 0 ? whole : Self.damaged(whole, &random)
      let side = random.chance(20) ? UInt32.max : 8
      let shape = PayloadShape(form: form, width: round == 0 ? 8 : side, height: 6)
      let lease = try store.commit(RecordKey(.thumb, [1]), shape: shape, bytes)
      let picture = ThumbRecord.Stored(lease).flatMap { try? $0.picture() }
      if round == 0 { #expect((picture != nil) == (form == 1)) }
      guard let picture else { continue }
      #expect(picture.payload.count == picture.width * picture.height * 4, "\(shape) \(bytes)")
    }
  }
}
