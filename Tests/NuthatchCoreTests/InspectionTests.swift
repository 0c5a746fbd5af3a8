import NuthatchCore
import TestServer
import Testing

@Suite("Inspection") struct InspectionTests {
  private let bench: Bench
  private let picture = Pictures.png(width: 400, height: 200)

  init() throws { bench = try Bench() }

  private func request(_ path: String, _ sizes: Int..., policy: Policy? = nil) -> Request {
    var request = Request(bench.server.url(path))
    request.boxes = sizes.map { ThumbnailBox($0) }
    request.policy = policy
    request.delivery = .fresh
    return request
  }

  @Test("inspecting a URL that was never asked for finds nothing and stores nothing")
  func nothing() throws {
    #expect(try bench.cache.inspect(request("/a", 64)) == nil)
    #expect(try bench.cache.storeStatistics().meta == 0)
    #expect(bench.server.count("/a") == 0)
    #expect(throws: NuthatchError.self) { try bench.cache.inspect(Request("no URL")) }
  }

  @Test("inspecting a picture tells its rule, age, size and thumbnails")
  func told() throws {
    bench.server.on("/a", Script(headers: ["ETag": "\"1\"", "X-Note": "n"], steps: [.bytes(picture)]))
    _ = try bench.cache.submit(request("/a", 64, 32)).final()
    let info = try #require(try bench.cache.inspect(request("/a", 64, 32)))
    #expect(info.prospect == .hit && info.isPicture && info.status == 200)
    #expect((info.rule, info.lifetime, info.mustRevalidate) == ("validator", 86_400, false))
    #expect(info.age < 60 && info.freshUntil >= info.storedAt + 86_400 - 60)
    #expect(info.finalURL == bench.server.url("/a"))
    #expect(info.bodyBytes == Int64(picture.count) && info.header("x-note") == "n")
    #expect(info.thumbs.map { [$0.width, $0.height] } == [[64, 32], [32, 16]])
    let original = try #require(info.originalSize)
    #expect(original == (400, 200))
    #expect(info.content?.count == 64 && info.record.count == 32)
    // Nothing was asked, and nothing decoded.
    #expect(bench.server.count("/a") == 1 && bench.cache.statistics.decodes == 1)
  }

  @Test("inspecting a picture with more pixels than the request allows says `refuse`")
  func tooManyPixels() throws {
    bench.server.on("/a", .ok(picture))
    _ = try bench.cache.submit(request("/a", 64)).final()
    var request = request("/a", 64)
    for (pixels, prospect) in [(80_000, StoredAnswerInfo.Prospect.hit), (79_999, .refuse)] {
      request.maxPixels = pixels
      let info = try #require(try bench.cache.inspect(request))
      #expect(info.prospect == prospect)
      #expect(info.refusal == (prospect == .hit ? nil : .tooManyPixels))
      let event = try #require(try bench.cache.submit(request).final())
      #expect(event.error?.code == (prospect == .hit ? nil : .tooManyPixels))
    }
    #expect(bench.server.count("/a") == 1)
  }

  @Test("the inspected prospect is what the request then does")
  func prospects() throws {
    bench.server.on("/fresh", Script(headers: ["Cache-Control": "max-age=600"], steps: [.bytes(picture)]))
    bench.server.on(
      "/stale", Script(headers: ["Cache-Control": "max-age=0", "ETag": "\"1\""], steps: [.bytes(picture)]))
    bench.server.on("/never", Script(headers: ["Cache-Control": "no-store"], steps: [.bytes(picture)]))
    bench.server.on("/text", .ok("text"))
    for path in ["/fresh", "/stale", "/never"] { _ = try bench.cache.submit(request(path, 64)).final() }
    _ = try bench.get("/text")
    func prospect(_ request: Request) throws -> StoredAnswerInfo.Prospect {
      try bench.cache.inspect(request)?.prospect ?? .fetch
    }
    #expect(try prospect(request("/fresh", 64)) == .hit)
    // Of the stored original.
    #expect(try prospect(request("/fresh", 100)) == .hit)
    #expect(try prospect(request("/fresh")) == .hit)
    #expect(try prospect(request("/stale", 64)) == .revalidate)
    #expect(try prospect(request("/stale", 64, policy: .offline)) == .hit)
    #expect(try prospect(request("/fresh", 64, policy: .reload)) == .fetch)
    #expect(try prospect(request("/never", 64)) == .fetch)
    #expect(try prospect(request("/text")) == .revalidate)
    var first = request("/stale", 64)
    first.delivery = .first
    let asked = try #require(try bench.cache.inspect(first))
    #expect(asked.prospect == .hit && asked.revalidates)
    let alone = try #require(try bench.cache.inspect(request("/fresh", 64)))
    #expect(!alone.revalidates)
    // Nothing is stored for this URL.
    let (none, why) = try bench.cache.prospect(of: request("/none", policy: .offline))
    #expect(none == .refuse && why == .offline)
    #expect(try bench.cache.prospect(of: request("/none")).0 == .fetch)
    // Another partition doesn't see the answer.
    var private_ = request("/fresh", 64)
    private_.partition = "somebody"
    #expect(try prospect(private_) == .fetch)
  }

  @Test("without the stored original another size of a picture has to be fetched")
  func withoutOriginal() throws {
    let bench = try Bench { $0.keepSource = false }
    bench.server.on("/a", Script(headers: ["Cache-Control": "max-age=600"], steps: [.bytes(picture)]))
    var request = Request(bench.server.url("/a"))
    request.boxes = [ThumbnailBox(64)]
    _ = try bench.cache.submit(request).final()
    #expect(try bench.cache.inspect(request)?.prospect == .hit)
    request.boxes = [ThumbnailBox(200)]
    let info = try #require(try bench.cache.inspect(request))
    #expect(info.prospect == .fetch && !info.hasBody && info.thumbs.isEmpty)
  }

  @Test("answers that vary are found by their varying fields, and listed one by one")
  func varied() throws {
    bench.server.on(
      "/v", Script(headers: ["Cache-Control": "max-age=60", "Vary": "Accept-Language"], steps: [.text("x")]))
    for language in ["de", "en"] { _ = try bench.get("/v") { $0.headers = [("Accept-Language", language)] } }
    var german = Request(bench.server.url("/v"))
    german.headers = [("Accept-Language", "de")]
    let info = try #require(try bench.cache.inspect(german))
    #expect(info.prospect == .hit && info.varied.map { $0.lowercased() } == ["accept-language"])
    german.headers = [("Accept-Language", "fr")]
    #expect(try bench.cache.inspect(german) == nil)
    var listed: [String] = []
    try bench.cache.forEachAnswer { answer in
      listed.append(answer.address)
      return true
    }
    #expect(listed == [bench.server.url("/v"), bench.server.url("/v")])
  }

  @Test("forEachAnswer lists all answers, fresh or stale, private or not, until it is stopped")
  func list() throws {
    bench.server.on("/a", Script(headers: ["Cache-Control": "max-age=60"], steps: [.text("a")]))
    bench.server.on("/b", Script(headers: ["Cache-Control": "max-age=0"], steps: [.text("b")]))
    _ = try bench.get("/a")
    _ = try bench.get("/b")
    _ = try bench.get("/a") { $0.headers = [("Authorization", "secret")] }
    var found: [String: [Bool]] = [:]
    try bench.cache.forEachAnswer { answer in
      found[answer.address, default: []].append(answer.isFresh)
      #expect(!answer.isPrivate || answer.address.hasSuffix("/a"))
      return true
    }
    #expect(found == [bench.server.url("/a"): [true, true], bench.server.url("/b"): [false]])
    var count = 0
    try bench.cache.forEachAnswer { _ in
      count += 1
      return false
    }
    #expect(count == 1)
    try bench.cache.remove(Request(bench.server.url("/b")))
    #expect(try bench.cache.inspect(Request(bench.server.url("/b"))) == nil)
    bench.cache.close()
    #expect(throws: NuthatchError.self) { try bench.cache.inspect(Request(bench.server.url("/a"))) }
    #expect(throws: NuthatchError.self) { try bench.cache.forEachAnswer { _ in true } }
  }
}

/// The numbers are those of any SHA-256: they never change, or machines that share a list would do parts of it twice.
@Suite("Shards") struct ShardTests {
  @Test(
    "a URL's shard is the first eight bytes of its host's SHA-256 modulo the number of shards",
    arguments: [
      ("http://example.org/a", [0, 4, 862]), ("https://EXAMPLE.org:8443/b?x#y", [0, 4, 862]),
      ("http://user:pass@example.org/", [0, 4, 862]), ("http://b\u{fc}cher.example/", [0, 3, 160]),
      ("http://xn--bcher-kva.example/", [0, 3, 160]), ("http://192.0.2.7/x", [1, 4, 127]),
      // A text that isn't a URL goes by its whole text.
      ("not a URL", [0, 5, 744]),
    ])
  func byHost(url: String, numbers: [Int]) {
    #expect([2, 7, 1000].map { Shard.number(of: url, by: .host, among: $0) } == numbers)
  }

  @Test("shards go by the whole URL if that is wanted")
  func byURL() {
    let number = Shard.number(of: "http://example.org/a", by: .url, among: 1000)
    #expect(number == 512)
    #expect(Shard.number(of: "http://example.org/b", by: .url, among: 1000) != number)
  }

  @Test("every URL is in exactly one shard, and the shards are much alike in size")
  func shares() {
    for by in [Shard.By.host, .url] {
      var counts = [Int](repeating: 0, count: 8)
      for number in 0..<4000 { counts[Shard.number(of: "http://h\(number).example/", by: by, among: 8)] += 1 }
      #expect(counts.reduce(0, +) == 4000)
      #expect(counts.allSatisfy { (400...600).contains($0) })
    }
    #expect(Shard.number(of: "http://example.org/", by: .host, among: 1) == 0)
    #expect(Shard.number(of: "", by: .host, among: 3) < 3)
  }
}
