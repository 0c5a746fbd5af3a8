import Glibc
import Nuthatch
import TestServer
import Testing

@Suite("Swift programs") struct AsyncTests {
  private func open() throws -> Cache {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/nuthatch-test-XXXXXX".utf8CString)
    return try Cache(path: String(cString: try #require(mkdtemp(&template))))
  }

  @Test("await an answer")
  func answer() async throws {
    let (server, cache) = (try TestServer.start(), try open())
    server.on("/a", .ok("x"))
    let response = try await cache.response(for: Request(server.url("/a")))
    #expect(response.status == 200)
    await #expect(throws: NuthatchError.self) { try await cache.response(for: Request("no URL")) }
    cache.close()
    rmdir(cache.path)
  }

  @Test("cancel the request with the task")
  func cancel() async throws {
    let (server, cache) = (try TestServer.start(), try open())
    server.on("/a", Script.ok("x").after(.wait("never")))
    let request = Request(server.url("/a"))
    let task = Task { try await cache.response(for: request) }
    #expect(await Task.detached { server.gate("never").waitUntilReached(1) }.value)
    task.cancel()
    let result = await task.result
    #expect(throws: NuthatchError(.cancelled, "the request was cancelled")) { try result.get() }
    #expect(await Task.detached { server.waitForDisconnect() }.value)
    cache.close()
    rmdir(cache.path)
  }
}
