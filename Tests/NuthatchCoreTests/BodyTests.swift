import Glibc
import NuthatchCore
import TestServer
import Testing

/// Bodies that requests send: bytes, files, forms.
@Suite("Request bodies") struct BodyTests {
  let bench: Bench

  init() throws { bench = try Bench { $0.retries = 2 } }

  private func file(_ name: String, _ bytes: [UInt8]) throws -> String {
    let path = "\(bench.folder)/\(name)"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    try #require(write(descriptor, bytes, bytes.count) == bytes.count)
    return path
  }

  private func send(_ path: String, _ change: (inout Request) -> Void) throws -> Response {
    try bench.get(path) { request in
      request.method = "POST"
      change(&request)
    }
  }

  private static let many = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }

  @Test("a file is sent as a request's body, with its length")
  func files() throws {
    let path = try file("upload", Self.many)
    bench.server.on("/a", .ok("thanks"))
    for method in ["POST", "PUT", "PATCH"] {
      _ = try send("/a") {
        $0.method = method
        $0.upload = .file(path)
      }
      let request = try #require(bench.server.requests("/a").last)
      #expect(request.method == method)
      #expect(request.body == Self.many)
      #expect(request.headers["Content-Length"] == "3000000")
      #expect(request.headers["Content-Type"] == nil)
    }
    let empty = try file("empty", [])
    _ = try send("/a") { $0.upload = .file(empty) }
    #expect(bench.server.requests("/a").last?.headers["Content-Length"] == "0")
  }

  @Test("a file that can't be read is refused before anything is sent")
  func unreadable() throws {
    for path in ["/does/not/exist", "/dev/zero", "/tmp"] {
      #expect(try bench.failure("/a") { $0.upload = .file(path) }.code == .io)
      #expect(try bench.failure("/a") { $0.addToForm(FormPart("f", file: path)) }.code == .io)
    }
    #expect(bench.server.count() == 0)
  }

  @Test("a file that changes between submit and sending isn't sent")
  func changed() throws {
    let path = try file("upload", [1, 2, 3])
    let gate = bench.server.gate("g")
    bench.server.on(
      "/first", Script(status: 307, headers: ["Location": "/second"]).after(.wait("g")))
    bench.server.on("/second", .ok("thanks"))
    var request = Request(bench.server.url("/first"))
    request.method = "POST"
    request.upload = .file(path)
    let ticket = try bench.cache.submit(request)
    #expect(gate.waitUntilReached())
    _ = try file("upload", [1, 2, 3, 4])
    gate.open()
    #expect(throws: NuthatchError.self) { try ticket.result() }
    #expect(bench.server.requests("/second").allSatisfy { $0.body.isEmpty })
  }

  @Test("a file is sent again behind a redirect that keeps the method, not behind others")
  func redirects() throws {
    let path = try file("upload", Self.many)
    bench.server.on("/307", .redirect(to: "/b", status: 307))
    bench.server.on("/303", .redirect(to: "/b", status: 303))
    bench.server.on("/b", .ok("thanks"))
    for (first, sent) in [("/307", Self.many), ("/303", [])] {
      _ = try send(first) { $0.upload = .file(path) }
      #expect(bench.server.requests("/b").last?.body == sent)
    }
  }

  @Test("a file is sent again from the beginning when an attempt failed")
  func retried() throws {
    let path = try file("upload", Self.many)
    bench.server.on("/a", sequence: [.status(503), .ok("thanks")])
    _ = try send("/a") {
      $0.method = "PUT"
      $0.upload = .file(path)
    }
    #expect(bench.server.requests("/a").map(\.body) == [Self.many, Self.many])
  }

  @Test("a large body waits for 100 Continue, but not for ever, and is resent without Expect after a 417")
  func expecting() throws {
    let path = try file("upload", Self.many)
    var silent = Script.ok("thanks")
    silent.answersExpect = false
    var refusing = Script.status(417)
    refusing.readsBody = false
    bench.server.on("/answers", .ok("thanks"))
    bench.server.on("/silent", silent)
    bench.server.on("/refuses", sequence: [refusing, .ok("thanks")])
    for path in ["/answers", "/silent", "/refuses"] {
      #expect(try send(path) { $0.upload = .file("\(bench.folder)/upload") }.text == "thanks")
      let request = try #require(bench.server.requests(path).last)
      #expect(request.body == Self.many)
      #expect(request.headers["Expect"] == (path == "/refuses" ? nil : "100-continue"))
    }
    #expect(bench.server.count("/refuses") == 2)
    // A body that the server refuses before it is sent isn't sent.
    var unwelcome = Script.status(413, body: "no")
    unwelcome.readsBody = false
    bench.server.on("/413", unwelcome)
    #expect(try send("/413") { $0.upload = .file(path) }.status == 413)
    refusing.headers.add("X", "final")
    bench.server.on("/417", refusing)
    #expect(try send("/417") { $0.upload = .file(path) }.header("X") == "final")
  }

  @Test("a form is sent with fields and files, and odd names don't break its parts")
  func forms() throws {
    let path = try file("a \"b\"\r\n.txt", Array("file's bytes".utf8))
    bench.server.on("/a", .ok("thanks"))
    _ = try send("/a") {
      $0.addToForm(FormPart("te\"x\r\nt", "va\r\nlue"))
      $0.addToForm(FormPart("file", file: path))
      $0.addToForm(FormPart("data", bytes: [0, 255], fileName: "d", type: "x/y"))
    }
    let request = try #require(bench.server.requests("/a").last)
    let type = try #require(request.headers["Content-Type"])
    let mark = try #require(type.split(separator: "=").last)
    #expect(type.hasPrefix("multipart/form-data; boundary="))
    let start = """
      --\(mark)\r
      Content-Disposition: form-data; name="te%22x%0D%0At"\r
      \r
      va\r
      lue\r
      --\(mark)\r
      Content-Disposition: form-data; name="file"; filename="a %22b%22%0D%0A.txt"\r
      Content-Type: application/octet-stream\r
      \r
      file's bytes\r
      --\(mark)\r
      Content-Disposition: form-data; name="data"; filename="d"\r
      Content-Type: x/y\r
      \r

      """
    #expect(request.body == Array(start.utf8) + [0, 255] + Array("\r\n--\(mark)--\r\n".utf8))
    #expect(
      try bench.failure("/a") { $0.addToForm(FormPart("a", bytes: [], type: "x\r\nY: z")) }.code == .badHeader
    )
  }

  @Test("a plain form is encoded as browsers do")
  func urlEncoded() {
    let body = Upload.urlEncoded([("a b", "ü&="), ("c*-._", "~\n")])
    #expect(String(decoding: body, as: UTF8.self) == "a+b=%C3%BC%26%3D&c*-._=%7E%0A")
  }

  @Test("progress events tell how much of a body has been sent")
  func progress() throws {
    let path = try file("upload", Self.many)
    bench.server.on("/a", Script.ok("thanks").after(.wait("g")))
    var request = Request(bench.server.url("/a"))
    request.method = "POST"
    request.upload = .file(path)
    request.progressEvents = true
    let ticket = try bench.cache.submit(request)
    let gate = bench.server.gate("g")
    #expect(gate.waitUntilReached())
    var last: Event?
    while last?.bytesDone != 3_000_000, let event = try ticket.next() { last = event }
    #expect(last?.kind == .progress && last?.isUpload == true && last?.bytesTotal == 3_000_000)
    gate.open()
    while let event = try ticket.next(), !event.isFinal { last = event }
    #expect(last?.isUpload == false || last?.bytesDone == 3_000_000)
  }
}
