import Foundation
import Nuthatch
import TestServer
import Testing

/// A server, and a cache in a folder that goes with it.
final class Bench: Sendable {
  let server: TestServer
  let cache: Cache

  init() throws {
    server = try TestServer.start()
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/nuthatch-test-XXXXXX".utf8CString)
    cache = try Cache(path: String(cString: try #require(mkdtemp(&template))))
  }

  deinit {
    cache.close()
    try? FileManager.default.removeItem(atPath: cache.path)  // what remains lies in /tmp
  }

  /// Waits on a detached task. That blocks one of the threads that tasks run on; a call that blocks the others would show.
  func reached(_ gate: String, _ count: Int = 1) async -> Bool {
    await Task.detached { [server] in server.gate(gate).waitUntilReached(count) }.value
  }
}

@Suite("Swift programs with async calls", .timeLimit(.minutes(10))) struct AsyncTests {
  @Test("`response(for:)` awaits an answer, and throws for a request with sizes")
  func answer() async throws {
    let bench = try Bench()
    bench.server.on("/a", .ok("x"))
    let response = try await bench.cache.response(for: Request(bench.server.url("/a")))
    #expect(response.status == 200 && !response.isInCache)
    #expect(try await bench.cache.get(bench.server.url("/missing")).status == 404)
    await #expect(throws: NuthatchError.self) { try await bench.cache.get("no URL") }
    var pictures = Request(bench.server.url("/a"))
    pictures.boxes = [ThumbnailBox(8)]
    await #expect(
      throws: NuthatchError(.invalid, "the request has sizes, so that it has images: images(for:)")
    ) {
      try await bench.cache.response(for: pictures)
    }
    await #expect(throws: NuthatchError(.invalid, "the request has no sizes: response(for:)")) {
      try await bench.cache.images(for: Request(bench.server.url("/a")))
    }
  }

  @Test("`thumbnail` awaits one size, `images(for:)` several")
  func thumbnails() async throws {
    let bench = try Bench()
    bench.server.on("/a.png", .ok(Pictures.png(width: 64, height: 48), type: "image/png"))
    let url = bench.server.url("/a.png")
    let image = try await bench.cache.thumbnail(url, size: 32)
    #expect(image.width == 32 && image.height == 24 && !image.isInCache)
    #expect(try await bench.cache.thumbnail(url, size: 32).isInCache)
    #expect(bench.cache.statistics.hits == 1)
    var request = Request(url)
    request.boxes = [ThumbnailBox(16), ThumbnailBox(8)]
    #expect(try await bench.cache.images(for: request).map(\.width) == [16, 8])
    #expect(
      try await bench.cache.thumbnail(Request(url), ThumbnailBox(width: 10, height: 10, fit: .cover)).height
        == 10)
    #expect(try await bench.cache.site(bench.server.url("/")).thumbnail("a.png", size: 32).isInCache)
    bench.server.on("/text", .ok("hello"))
    do {
      _ = try await bench.cache.thumbnail(bench.server.url("/text"), size: 32)
      Issue.record("text is no picture")
    } catch {
      #expect(error.code == .notAnImage)
    }
  }

  @Test("an async call gets the stale answer with delivery `.first`, else the one that holds now")
  func delivery() async throws {
    let bench = try Bench()
    let headers: HeaderLines = ["ETag": "\"1\"", "Cache-Control": "max-age=0"]
    bench.server.on("/a", Script(headers: headers, steps: [.text("x")], answersConditions: true))
    bench.server.on(
      "/a.png",
      Script(headers: headers, steps: [.bytes(Pictures.png(width: 64, height: 48))], answersConditions: true))
    var text = Request(bench.server.url("/a"))
    var picture = Request(bench.server.url("/a.png"))
    picture.boxes = [ThumbnailBox(8)]
    _ = try await bench.cache.response(for: text)
    _ = try await bench.cache.images(for: picture)
    for (delivery, isStale): (Delivery, Bool) in [(.twice, false), (.fresh, false), (.first, true)] {
      (text.delivery, picture.delivery) = (delivery, delivery)
      let response = try await bench.cache.response(for: text)
      #expect(response.isInCache && response.isStale == isStale)
      #expect((response.source == .revalidated) == !isStale)
      let image = try await bench.cache.thumbnail(picture, ThumbnailBox(8))
      #expect(image.isInCache && image.isStale == isStale)
    }
  }

  @Test("cancelling a task cancels its request")
  func cancel() async throws {
    let bench = try Bench()
    bench.server.on("/a", Script.ok("x").after(.wait("never")))
    let request = Request(bench.server.url("/a"))
    let task = Task { try await bench.cache.response(for: request) }
    #expect(await bench.reached("never"))
    task.cancel()
    let result = await task.result
    #expect(throws: NuthatchError(.cancelled, "the request was cancelled")) { try result.get() }
    #expect(await Task.detached { bench.server.waitForDisconnect() }.value)
    let late = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await bench.cache.response(for: request)
    }
    await #expect(throws: NuthatchError(.cancelled, "the request was cancelled")) { try await late.value }
  }

  @Test("a thousand waiting calls hold no thread, so that another one goes on")
  func waiting() async throws {
    let bench = try Bench()
    bench.server.on("/slow", Script.ok("x").after(.wait("gate")))
    bench.server.on("/quick", .ok("y"))
    let slow = bench.server.url("/slow")
    try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<1000 {
        group.addTask {
          if number % 2 == 0 { return try await bench.cache.get(slow).bodySize }
          for await event in try bench.cache.events(for: Request(slow)) where event.isFinal {
            return event.response?.bodySize ?? 0
          }
          return 0
        }
      }
      #expect(await bench.reached("gate"))
      let quick = try await bench.cache.get(bench.server.url("/quick"))
      #expect(quick.bodySize == 1)
      bench.server.gate("gate").open()
      let bytes = try await group.reduce(0, +)
      #expect(bytes == 1000)
    }
  }

  @Test("events come in order: the stale answer, then the new one")
  func events() async throws {
    let bench = try Bench()
    bench.server.on(
      "/a",
      sequence: [.ok("old").withValidators(etag: "\"1\""), .ok("new").withValidators(etag: "\"2\"")])
    let request = Request(bench.server.url("/a"))
    _ = try await bench.cache.response(for: request)
    var kinds: [Event.Kind] = []
    for await event in try bench.cache.events(for: request) {
      kinds.append(event.kind)
      #expect(event.isFinal == (event.kind == .fresh) && event.status == 200)
    }
    #expect(kinds == [.cached, .fresh])
    #expect(throws: NuthatchError.self) { try bench.cache.events(for: Request("no URL")) }
  }

  @Test("two iterators of one request's events get one end between them, and none after it")
  func severalIterators() async throws {
    let bench = try Bench()
    bench.server.on("/a", Script.ok("x").after(.wait("gate")))
    let events = try bench.cache.events(for: Request(bench.server.url("/a")))
    async let one = events.reduce(0) { count, _ in count + 1 }
    async let other = events.reduce(0) { count, _ in count + 1 }
    #expect(await bench.reached("gate"))
    bench.server.gate("gate").open()
    #expect(await one + other == 1)
    let after = await events.makeAsyncIterator().next()
    #expect(after?.kind == nil)
  }

  @Test("cancelling a task that waits for events cancels the request")
  func cancelledEvents() async throws {
    let bench = try Bench()
    bench.server.on("/a", Script.ok("x").after(.wait("never")))
    let events = try bench.cache.events(for: Request(bench.server.url("/a")))
    let task = Task { await events.reduce(into: []) { $0.append($1.kind) } }
    #expect(await bench.reached("never"))
    task.cancel()
    #expect(await task.value == [.cancelled])
    #expect(events.ticket.state == .cancelled)
  }

  @Test("a program answers the questions of an async call, and without its answers the request goes on")
  func questions() async throws {
    let bench = try Bench()
    bench.server.echo("/echo")
    var request = Request(bench.server.url("/echo"))
    request.asks = [.headers, .verdict]
    let answer = try await bench.cache.response(for: request) { question in
      await Task.yield()
      return question.kind == .headers ? .headers([("X-Seed", "hazel")]) : .accept
    }
    #expect(answer.withBody { String(decoding: $0, as: UTF8.self) }.contains("hazel"))
    // Without an answer, or with one of another kind, the request goes on.
    #expect(try await bench.cache.response(for: request).status == 200)
    #expect(
      try await bench.cache.response(for: request) { _ in .credentials(name: "u", password: "p") }.status
        == 200)
    await #expect(throws: NuthatchError.self) {
      try await bench.cache.response(for: request) { $0.kind == .headers ? .pass : .reject("too sweet") }
    }
  }

  @Test("async calls end when the cache is shut down")
  func close() async throws {
    let bench = try Bench()
    bench.server.on("/a", Script.ok("x").after(.wait("never")))
    let url = bench.server.url("/a")
    let task = Task { try await bench.cache.get(url) }
    #expect(await bench.reached("never"))
    bench.cache.shutdown()
    await #expect(throws: NuthatchError.self) { try await task.value }
    await #expect(throws: NuthatchError(.closed, "the cache has been closed")) {
      try await bench.cache.get(url)
    }
  }
}
