import Foundation
import TestServer
import Testing

@Suite("Folders that the test server serves")
struct FolderTests {
  let server: TestServer
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pictures-\(UUID().uuidString)")

  init() throws {
    server = try .start()
    let inner = folder.appendingPathComponent("inner")
    try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
    try Data(Pictures.png(width: 9, height: 5)).write(to: folder.appendingPathComponent("b ä.png"))
    try Data([0xff, 0xd8, 0xff]).write(to: inner.appendingPathComponent("a.JPG"))
    try Data("text".utf8).write(to: folder.appendingPathComponent("notes.txt"))
    server.serve(folder: folder.path, at: "/files/")
  }

  @Test("A served folder lists its pictures, answers conditions and ranges, and refuses paths outside")
  func serves() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let urls = server.urls(ofFolder: folder.path, at: "/files/")
    #expect(urls == [server.url("/files/b%20%C3%A4.png"), server.url("/files/inner/a.JPG")])
    let client = try RawClient(server)
    client.send("GET /files/ HTTP/1.1\nHost: 127.0.0.1:\(server.port)\n\n")
    #expect(client.answer().body == urls.map { $0 + "\n" }.joined())
    client.get("/files/inner/a.JPG")
    let head = client.answer().head
    #expect(head.contains("Content-Type: image/jpeg\n") && head.contains("Last-Modified: "))
    let etag = try #require(head.split(separator: "\n").first { $0.hasPrefix("ETag: ") }).dropFirst(6)
    client.get("/files/inner/a.JPG", headers: "If-None-Match: \(etag)\n")
    #expect(client.answer().head.hasPrefix("HTTP/1.1 304"))
    client.get("/files/notes.txt", headers: "Range: bytes=1-2\n")
    #expect(client.answer().body == "ex")
    for path in ["/files/../secret", "/files/%2e%2e/secret", "/files/none.png", "/files/inner"] {
      client.get(path)
      #expect(["403", "404"].contains(client.answer().head.dropFirst(9).prefix(3)))
    }
  }
}
