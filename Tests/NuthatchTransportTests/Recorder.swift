import CSystem
import Dispatch
@testable import NuthatchTransport
import NuthatchBase
import TestServer
import Testing

/// A sink that keeps what it gets, for a test to wait for.
final class Recorder: TransferSink {
  struct Record {
    var interims: [ResponseHead] = []
    var head: ResponseHead?
    var body: [UInt8] = []
    var bytes = 0
    var largestPiece = 0
    var fault: TransportFault?
    var timings = TransferTimings()
    var endings = 0
  }

  private let record = Locked(Record())
  private let keepsBody: Bool
  private let atHead: @Sendable () -> Void
  private let done = DispatchlessSignal()
  private let headCame = DispatchlessSignal()

  /// - Parameter atHead: called on the loop's thread, which reads nothing more meanwhile.
  init(keepsBody: Bool = true, atHead: @escaping @Sendable () -> Void = {}) {
    self.keepsBody = keepsBody
    self.atHead = atHead
  }

  var current: Record { record.withLock { $0 } }

  func interim(_ head: ResponseHead) { record.withLock { $0.interims.append(head) } }

  func head(_ head: ResponseHead) -> TransferVerdict {
    record.withLock { $0.head = head }
    headCame.raise()
    atHead()
    return .goOn
  }

  func body(_ bytes: UnsafeRawBufferPointer) -> TransferVerdict {
    record.withLock {
      if keepsBody { $0.body += bytes }
      $0.bytes += bytes.count
      $0.largestPiece = max($0.largestPiece, bytes.count)
    }
    return .goOn
  }

  func finished(_ fault: TransportFault?, _ timings: TransferTimings) {
    record.withLock {
      $0.fault = fault
      $0.timings = timings
      $0.endings += 1
    }
    done.raise()
  }

  func waitForHead() -> Bool { headCame.wait() }

  /// All of it, once the transfer has ended.
  func result() throws -> Record {
    try #require(done.wait(), "the transfer did not end")
    return current
  }
}

/// A transport and a server to ask.
final class Wire {
  private static let readers = DispatchQueue(label: "readers")
  let transport: CurlTransport
  let server: TestServer

  init(ipv6: Bool = false, environment: [String: String] = [:]) throws {
    transport = try CurlTransport(environment: TransportEnvironment { environment[$0] }) {
      Self.readers.async(execute: $0)
      return true
    }
    server = try TestServer.start(ipv6: ipv6)
  }

  deinit {
    transport.stop()
    server.stop()
  }

  /// Asks for a path of the server, or for a whole URL.
  func start(_ place: String, _ change: (inout TransferRequest) -> Void = { _ in }) throws -> Recorder {
    let recorder = Recorder()
    try start(place, sink: recorder, change)
    return recorder
  }

  @discardableResult
  func start(
    _ place: String, sink: any TransferSink, _ change: (inout TransferRequest) -> Void = { _ in }
  ) throws -> UInt64 {
    var request = TransferRequest(url: try WebURL(place.hasPrefix("/") ? server.url(place) : place))
    request.silence = 30_000_000_000
    change(&request)
    return transport.start(request, sink: sink)
  }

  func get(_ place: String, _ change: (inout TransferRequest) -> Void = { _ in }) throws -> Recorder.Record {
    try start(place, change).result()
  }

  func fault(_ place: String, _ change: (inout TransferRequest) -> Void = { _ in }) throws -> TransportFault {
    try #require(try get(place, change).fault)
  }
}

extension Recorder.Record {
  var text: String { String(decoding: body, as: UTF8.self) }
}
