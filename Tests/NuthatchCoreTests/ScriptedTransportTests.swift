import NuthatchCore
import Synchronization
import Testing

@testable import NuthatchTransport

#if canImport(Glibc)
  import Glibc
#endif

/// Gives prepared answers; no socket is opened.
final class ScriptedTransport: Transport {
  struct Answer {
    var status = 200
    var headers: [(String, String)] = []
    /// The pieces that it comes in; nil for one that never comes.
    var body: [String]? = []
  }

  private let loop: EventLoop
  private let script: @Sendable (TransferRequest) -> Answer
  private let lastID = Atomic<UInt64>(0)
  private let log = Locked((requests: [TransferRequest](), underWay: Set<UInt64>(), cancelled: 0))

  init(_ loop: EventLoop, _ script: @escaping @Sendable (TransferRequest) -> Answer) {
    self.loop = loop
    self.script = script
  }

  var requests: [TransferRequest] { log.withLock { $0.requests } }
  var cancelled: Int { log.withLock { $0.cancelled } }

  func start(_ request: TransferRequest, sink: any TransferSink) -> UInt64 {
    let id = lastID.add(1, ordering: .relaxed).newValue
    log.withLock {
      $0.requests.append(request)
      $0.underWay.insert(id)
    }
    let answer = script(request)
    loop.post { self.play(answer, id, sink) }
    return id
  }

  private func play(_ answer: Answer, _ id: UInt64, _ sink: any TransferSink) {
    guard let body = answer.body else { return }
    var fields = HeaderFields()
    for (name, value) in answer.headers { fields.append(name, value) }
    var verdict = sink.head(ResponseHead(status: answer.status, fields: fields))
    for piece in body where verdict == .goOn {
      verdict = Array(piece.utf8).withUnsafeBytes { sink.body($0) }
    }
    guard log.withLock({ $0.underWay.remove(id) }) != nil else { return }
    sink.finished(verdict == .stop ? TransportFault(.stopped, "stopped") : nil, TransferTimings())
  }

  func cancel(_ id: UInt64) {
    log.withLock { if $0.underWay.remove(id) != nil { $0.cancelled += 1 } }
  }

  func resume(_ id: UInt64) {}
  func setSilence(_ silence: Int64?, of id: UInt64) {}
  func lastByteTime(of id: UInt64) -> Int64? { nil }
  func timings(of id: UInt64) -> TransferTimings? {
    log.withLock { $0.underWay.contains(id) } ? TransferTimings() : nil
  }
}

@Suite("Fetches over another transport") struct ScriptedTransportTests {
  /// A cache with a scripted transport in place of the network.
  private final class Stage {
    let cache: Cache
    private let folder: String
    private let made = Collected<ScriptedTransport>()

    init(_ script: @escaping @Sendable (TransferRequest) -> ScriptedTransport.Answer) throws {
      folder = try Bench.makeFolder()
      var options = TestOptions()
      options.retries = 0
      let made = made
      options.transport = { loop in
        let transport = ScriptedTransport(loop, script)
        made.add(transport)
        return transport
      }
      cache = try Cache(path: folder, options: options)
    }

    deinit {
      cache.close()
      removeTree(folder)
    }

    var transport: ScriptedTransport {
      get throws { try #require(made.values.first) }
    }

    func get(_ url: String) throws -> Response { try cache.submit(Request(url)).result() }
  }

  @Test("a fetch over another transport follows redirects and stores the answer")
  func answer() throws {
    let stage = try Stage { request in
      request.url.address.hasSuffix("/old")
        ? .init(status: 301, headers: [("Location", "/new")])
        : .init(headers: [("Cache-Control", "max-age=60")], body: ["Hello, ", "world"])
    }
    #expect(try stage.get("https://pictures.example/old").text == "Hello, world")
    let again = try stage.get("https://pictures.example/old")
    #expect(again.text == "Hello, world" && again.isInCache)
    let asked = try stage.transport.requests.map(\.url.address)
    #expect(asked == ["https://pictures.example/old", "https://pictures.example/new"])
  }

  @Test("a fetch over another transport revalidates a stored answer")
  func conditions() throws {
    let stage = try Stage { request in
      request.headers.contains("If-None-Match")
        ? .init(status: 304, headers: [("ETag", "\"1\"")])
        : .init(headers: [("ETag", "\"1\""), ("Cache-Control", "no-cache")], body: ["x"])
    }
    #expect(try stage.get("https://pictures.example/a").text == "x")
    var request = Request("https://pictures.example/a")
    request.policy = .rfc9111
    request.delivery = .fresh
    #expect(try stage.cache.submit(request).result().text == "x")
    #expect(try stage.transport.requests.last?.headers["If-None-Match"] == "\"1\"")
  }

  @Test("a fetch over another transport is cancelled with its last ticket")
  func cancel() throws {
    let stage = try Stage { _ in .init(body: nil) }
    let ticket = try stage.cache.submit(Request("https://pictures.example/a"))
    let transport = try stage.transport
    for _ in 0..<60_000 where transport.requests.isEmpty { usleep(1000) }
    ticket.cancel()
    for _ in 0..<60_000 where transport.cancelled == 0 { usleep(1000) }
    #expect(transport.cancelled == 1)
  }
}
