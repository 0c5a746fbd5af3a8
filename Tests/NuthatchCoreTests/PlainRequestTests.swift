import TestServer
import Testing

@testable import NuthatchCore

/// A plain request is described by its URL and size alone.
@Suite("Plain requests") struct PlainRequestTests {
  let bench: Bench
  let url: String

  init() throws {
    bench = try Bench()
    url = bench.server.url("/a.png")
    bench.server.on(
      "/a.png",
      Script(headers: ["Cache-Control": "max-age=60"], steps: [.bytes(Pictures.png(width: 9, height: 9))]))
    _ = try bench.thumbnail("/a.png", 8)
  }

  /// A request for the answer itself, and one for a picture of it.
  private var requests: [Request] {
    var picture = Request(url)
    picture.boxes = [ThumbnailBox(8)]
    return [Request(url), picture]
  }

  private func isRemembered(_ cache: Cache) -> [Bool] {
    requests.map { cache.instant.ticket(for: $0) != nil }
  }

  @Test("every field of a request is known as plain, special or not a request's own")
  func known() {
    let special = RequestFields.names(Options.Special()) + RequestFields.names(Request.Own())
    let known = Array(RequestFields.special.keys) + RequestFields.elsewhere.keys
    #expect(special.sorted() == known.sorted())
    let plain = RequestFields.names(Options()) + RequestFields.names(Request(url))
    let others = Array(RequestFields.plain.keys) + RequestFields.outsideTerms.keys
    #expect(plain.sorted() == (others + ["box", "box", "options"]).sorted())
  }

  @Test("a request can't have an option of caches or sites", arguments: RequestFields.elsewhere.keys.sorted())
  func elsewhere(field: String) throws {
    let change = try #require(RequestFields.elsewhere[field])
    var request = Request(url)
    try change(&request, bench.cache)
    let error = #expect(throws: NuthatchError.self) { try bench.cache.submit(request) }
    #expect(error?.code == .invalid)
    #expect(error?.message.hasSuffix(", not of a request: \(url)") == true, "\(error?.message ?? "")")
  }

  @Test(
    "a special request isn't remembered as a hit and gets no remembered hit",
    arguments: RequestFields.special.keys.sorted())
  func special(field: String) throws {
    let change = try #require(RequestFields.special[field])
    let cache = try Cache(path: bench.folder, options: bench.cache.options)
    defer { cache.close() }
    func changed() throws -> [Request] {
      try requests.map {
        var request = $0
        try change(&request, cache)
        #expect(!request.isPlain)
        return request
      }
    }
    for request in try changed() {
      _ = try? cache.peek(request, decode: true)
      (try? cache.submit(request))?.cancel()
    }
    #expect(isRemembered(cache) == [false, false])
    // Answers to the cancelled requests may still come, and replace the record that a hit was found by.
    var remembered = [false, false]
    for _ in 0..<1000 where remembered != [true, true] {
      for request in requests { _ = try cache.submit(request).final() }
      remembered = isRemembered(cache)
    }
    #expect(remembered == [true, true])
    for request in try changed() { #expect(cache.instant.ticket(for: request) == nil) }
  }

  @Test(
    "a plain request gets remembered hits, whichever limits it sets",
    arguments: RequestFields.plain.keys.sorted())
  func limits(field: String) throws {
    let change = try #require(RequestFields.plain[field])
    for request in requests { _ = try bench.cache.submit(request).final() }
    for original in requests {
      var request = original
      try change(&request, bench.cache)
      if field == "boxes" { request.boxes = original.boxes }
      // If a mapping fails in another test, a hit may be forgotten.
      var ticket = bench.cache.instant.ticket(for: request)
      for _ in 0..<20 where ticket == nil {
        _ = try bench.cache.submit(original).final()
        ticket = bench.cache.instant.ticket(for: request)
      }
      #expect(request.isPlain && ticket != nil)
    }
  }

  @Test("a request stays plain when defaults are set, and changes of a copy don't affect it")
  func copies() {
    var request = Request(url)
    request.method = "get"
    (request.headers, request.body, request.user, request.resume) = ([], [], nil, true)
    (request.policy, request.freezing, request.saveTo) = (nil, nil, [])
    request.headers.removeAll { $0.name == "X-A" }
    #expect(request.isPlain)
    let before = request
    request.headers.append(("X-A", "1"))
    var other = request
    other.headers[0].value = "2"
    #expect(before.isPlain && before.headers.isEmpty)
    #expect(request.headers.map(\.value) == ["1"] && other.headers.map(\.value) == ["2"])
  }
}
