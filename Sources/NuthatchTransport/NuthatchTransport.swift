// # NuthatchTransport: requests in, streamed bytes out
//
// One thread with an event loop, two libcurl multi handles, any number of transfers. A transfer is one exchange with one
// server. The `TransferSink` that receives head and body decides about redirects, retries and caching. This room must not know
// of caches, tickets, files or pictures.
//
// Start at `Transport` and at `CurlTransport`, which implements it.

/// One request to one server.
package struct TransferRequest: Sendable {
  package var url: WebURL
  package var method = "GET"
  package var headers = HeaderFields()
  package var body: [UInt8] = []
  /// Options that few requests use.
  package var extras: TransferExtras?
  /// The longest time without a byte in either direction, in nanoseconds; nil: no limit.
  package var silence: Int64?
  /// The lowest speed, from the first byte of the answer on. Not checked without `silence`.
  package var slowness = Slowness()
  /// Sent as Basic credentials.
  package var credentials: (user: [UInt8], password: [UInt8])?
  /// Whether to ask for gzip and deflate. Answers in these codings are always decoded.
  package var acceptsCompressed = false
  /// The highest number of decoded bytes for the sink; one more ends the transfer with `tooLarge`.
  package var maxBytes: Int64?
  /// Whether a body that decodes to more than 64 MiB and to more than 1,000 times its received size ends the transfer with
  /// `tooLarge`.
  package var boundsExpansion = false
  /// Which addresses may be connected to.
  package var addressGuard = AddressGuard.guarded
  /// Whether an answer in an unknown transfer coding is passed on as it is, instead of refused.
  package var passesUnknownCodings = false
  /// Whether an earlier hop of the same fetch was answered from a public address (`AddressReach.countsAsPublic`).
  package var isSentByPublic = false
  package var proxy = ProxyChoice.environment
  /// Whether to connect and send nothing: the transfer ends without an error once there is a connection, and closes it. With a
  /// proxy, that is the connection to the proxy, and for https and SOCKS also the proxy's connection to the server. Without
  /// TLS.
  package var connectsOnly = false

  package init(url: WebURL) { self.url = url }

  /// If the average over a whole window is below this speed, the transfer is ended. A server that sends a byte now and then is
  /// never silent, but never done either.
  package struct Slowness: Sendable, Equatable {
    package var bytesPerSecond: Int64 = 16
    /// In nanoseconds, but at least twice the silence.
    package var window: Int64 = 60_000_000_000

    package init() {}
  }
}

/// How a sink wants the transfer to continue.
package enum TransferVerdict: Sendable {
  case goOn
  /// Pause until `Transport.resume`; bytes that were received already may still come.
  case hold
  /// End the transfer at this byte. `finished` follows with the fault `.stopped`.
  case stop
}

/// Receives one transfer's answer, on the loop's thread.
package protocol TransferSink: AnyObject, Sendable {
  /// The host name is being looked up, which may take long. Nothing is sent before `nameIsResolved`.
  func waitsForName()
  /// The name is resolved. Return false to end the transfer without another call.
  func nameIsResolved() -> Bool
  /// A 1xx answer, before the real one.
  func interim(_ head: ResponseHead)
  /// The number of bytes of the request's body that were sent; it starts again when the body is sent again.
  func sent(_ bytes: Int64)
  /// The head as received: `Content-Length` is that of the coded body, and `Content-Encoding` may name a coding that is
  /// decoded.
  func head(_ head: ResponseHead) -> TransferVerdict
  /// Some decoded bytes of the body, valid during the call only.
  func body(_ bytes: UnsafeRawBufferPointer) -> TransferVerdict
  /// The last call of a transfer, except of a cancelled one. `fault` is nil if the answer is complete.
  func finished(_ fault: TransportFault?, _ timings: TransferTimings)
}

extension TransferSink {
  package func waitsForName() {}
  package func nameIsResolved() -> Bool { true }
  package func sent(_ bytes: Int64) {}
}

/// The times of one transfer, in microseconds from its start (0: the phase didn't happen), and facts about its connection.
package struct TransferTimings: Sendable, Equatable {
  package var nameLookup: Int64 = 0
  package var connect: Int64 = 0
  package var tls: Int64 = 0
  package var firstByte: Int64 = 0
  package var total: Int64 = 0
  /// Whether only the close of the connection ended the body, so that it may be truncated.
  package var isCloseDelimited = false
  /// Whether an attacker may have truncated it: the server closed the connection without the closing alert of TLS.
  package var isCutOff = false
  package var connection = ConnectionFacts()

  package init() {}
}

/// The connection of a transfer.
package struct ConnectionFacts: Sendable, Equatable {
  package enum Version: UInt8, Sendable { case unknown, http10, http11, http2, http3 }

  package var version = Version.unknown
  /// The connected address; with a proxy, the proxy's. Nil without a connection.
  package var address: IPAddress?
  /// The class of the origin's address; nil if a proxy has resolved the name, because the address isn't visible here then.
  package var addressClass: AddressClass?
  package var isProxied = false
  /// Whether the connection was already open.
  package var isReused = false

  package init() {}

  /// How private the origin's address is.
  package var reach: AddressReach { addressClass?.reach ?? (isProxied ? .hidden : .open) }
}

@_exported import NuthatchHTTP
