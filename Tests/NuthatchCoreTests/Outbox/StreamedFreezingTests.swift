import TestServer
import Testing

@testable import NuthatchCore

#if canImport(Glibc)
  import Glibc
#endif

@Suite("Freezing of streamed bodies", .serialized) struct StreamedFreezingTests {
  let bench: OutboxBench
  let file: String

  init() throws {
    bench = try OutboxBench()
    file = bench.folder + "/seeds.bin"
    write(3_000_000, of: 0x61)
  }

  private func write(_ count: Int, of byte: UInt8) {
    let fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    let bytes = (0..<count).map { byte &+ UInt8(truncatingIfNeeded: $0 % 251) }
    var done = 0
    while done < count {
      done += bytes[done...].withUnsafeBytes { Glibc.write(fd, $0.baseAddress, $0.count) }
    }
    close(fd)
  }

  private var bodyFiles: [String] { names(in: bench.folder + "/outbox").filter { $0.hasPrefix("body-") } }

  @Test("a file is copied when its request is frozen, and the same bytes are sent each time")
  func copied() throws {
    let bytes = (0..<3_000_000).map { 0x61 &+ UInt8(truncatingIfNeeded: $0 % 251) }
    let id = try bench.freeze("/a", "") {
      $0.upload = .file(file)
      $0.headers = [("Content-Type", "application/x-seeds")]
    }
    #expect(try bench.list().first?.bodyBytes == 3_000_000 && bodyFiles.count == 1)
    unlink(file)
    // Also by another process, or after a restart.
    bench.close()
    bench.server.on("/a", sequence: [.status(503), .ok("thanks")])
    try bench.server.goUp()
    try bench.open()
    #expect(try bench.waitUntilEnded(id).isDone)
    let sent = bench.server.requests("/a")
    #expect(sent.count == 2 && Set(sent.map { $0.headers["Idempotency-Key"] }).count == 1)
    for request in sent {
      let isEqual = request.body == bytes
      #expect(isEqual && request.headers["Content-Type"] == "application/x-seeds")
    }
    #expect(bodyFiles.isEmpty)
  }

  @Test("a form is frozen with the bytes that would have been sent", arguments: [false, true])
  func form(_ isDurable: Bool) throws {
    let upload = Upload.form([
      FormPart("kind", "hazel"), FormPart("seeds", file: file, type: "application/x-seeds"),
    ])
    bench.server.on("/live", .ok(""))
    try bench.server.goUp()
    var live = bench.request("/live", "") { $0.upload = upload }
    live.freezing = nil
    _ = try bench.cache?.submit(live).result()
    bench.server.goDown()
    let id = try bench.freeze("/a", "") {
      $0.upload = upload
      $0.freezing?.isDurable = isDurable
    }
    write(10, of: 0)
    bench.server.on("/a", .ok(""))
    try bench.server.goUp()
    #expect(try bench.waitUntilEnded(id).isDone)
    let (wanted, sent) = (
      try #require(bench.server.requests("/live").first), try #require(bench.server.requests("/a").first)
    )
    let isEqual = wanted.body == sent.body
    #expect(isEqual && wanted.body.count > 3_000_000)
    #expect(wanted.headers["Content-Type"] == sent.headers["Content-Type"])
    #expect(sent.headers["Content-Type"]?.hasPrefix("multipart/form-data; boundary=") == true)
  }

  @Test("freezing is `io` if the file has changed since the submit")
  func changed() throws {
    bench.server.on("/a", Script(steps: [.wait("g"), .reset], sendsHead: false))
    try bench.server.goUp()
    let ticket = try #require(bench.cache).submit(
      bench.request("/a", "") {
        write(1000, of: 1)
        $0.upload = .file(file)
      })
    #expect(bench.server.waitForRequests(1, path: "/a"))
    write(1001, of: 2)
    bench.server.gate("g").open()
    #expect(try ticket.final(within: 20_000)?.error?.code == .io)
    #expect(try bench.list().isEmpty && bodyFiles.isEmpty)
  }

  @Test("freezing a body beyond outbox_bytes is `no_space`, and leaves no file")
  func full() throws {
    bench.close()
    try bench.open { $0.outboxBytes = 2_000_000 }
    let ticket = try #require(bench.cache).submit(bench.request("/a", "") { $0.upload = .file(file) })
    #expect(try ticket.final(within: 20_000)?.error?.code == .noSpace)
    #expect(try bench.list().isEmpty && bodyFiles.isEmpty)
  }

  @Test(
    "a frozen request signs in with its signIn and the password of its provider",
    arguments: [SignIn.digest, .any])
  func digest(_ signIn: SignIn) throws {
    let id = try bench.freeze("/a", "") {
      $0.upload = .file(file)
      $0.user = ("ann", "hush-pw")
      $0.signIn = signIn
      $0.freezing?.passwordProvider = "password"
    }
    #expect(try !contains("hush-pw", in: bench.folder))
    bench.server.on("/a") { request in
      request.headers["Authorization"]?.hasPrefix("Digest username=\"ann\"") == true
        ? .ok("welcome")
        : .status(
          401,
          headers: ["WWW-Authenticate": "Digest realm=\"nuts\", qop=\"auth\", nonce=\"abc\", algorithm=MD5"])
    }
    bench.close()
    try bench.server.goUp()
    try bench.open()
    try bench.cache?.outbox.provide("password", "hush-pw")
    #expect(try bench.waitUntilEnded(id).body == Array("welcome".utf8))
    #expect(bench.server.requests("/a").last?.body.count == 3_000_000)
    #expect(try !contains("hush-pw", in: bench.folder))
  }

  @Test("freezing keeps a certificate's absolute path, and refuses a certificate's password")
  func certificate() throws {
    _ = try bench.freeze("/a") { $0.cert = ClientCertificate("/none.pem", key: "/key.pem") }
    bench.close()
    try bench.open { $0.outbox = .off }
    let id = try #require(try bench.list().first?.id)
    let kept = try #require(try bench.cache?.shared.outbox.store.begin(id))
    #expect(kept.certificate == ClientCertificate("/none.pem", key: "/key.pem"))
    // The process that sends it may have another working directory.
    let here = try #require(getcwd(nil, 0))
    defer { free(here) }
    let later = try bench.freeze("/a") { $0.cert = ClientCertificate("none.pem", key: "keys/key.pem") }
    let absolute = try #require(try bench.cache?.shared.outbox.store.begin(later)).certificate
    let folder = String(cString: here)
    #expect(absolute == ClientCertificate("\(folder)/none.pem", key: "\(folder)/keys/key.pem"))
    let error = #expect(throws: NuthatchError.self) {
      try bench.cache?.submit(
        bench.request("/a") { $0.cert = ClientCertificate("/none.pem", password: "hush") })
    }
    #expect(error?.code == .secretNeedsProvider)
  }

  @Test("a freezable request with saveTo is `invalid`")
  func saved() throws {
    let error = #expect(throws: NuthatchError.self) {
      try bench.cache?.submit(bench.request("/a") { $0.saveTo = [.file(file)] })
    }
    #expect(error?.code == .invalid)
  }
}
