// # NuthatchTransport: requests in, streamed bytes out
//
// One thread with an event loop, two libcurl multi handles on it, any number of transfers. A transfer is one exchange
// with one server: redirects, retries, caching and what the bytes mean are decided above, by the `TransferSink` that
// gets head and body while they arrive. This room must not know of caches, tickets, files or pictures.
//
// Start at `Transport` and at `CurlTransport`, which implements it.

/// What one exchange asks for.
package struct TransferRequest: Sendable {
  package var url: WebURL
  package var method = "GET"
  package var headers = HeaderFields()
  package var body: [UInt8] = []
  /// What few requests have.
  package var extras: TransferExtras?
  /// The longest time without a byte in either direction, in nanoseconds; nil waits for ever.
  package var silence: Int64?
  /// What counts as too slow, from the first byte of the answer on; without `silence` nothing does.
  package var slowness = Slowness()
  /// Sent as Basic credentials.
  package var credentials: (user: [UInt8], password: [UInt8])?
  /// Whether to ask for gzip and deflate. Answers in them are decoded either way.
  package var acceptsCompressed = false
  /// The most bytes that the sink gets, decoded; one more ends the transfer with `tooLarge`.
  package var maxBytes: Int64?
  /// Whether a body that decodes to more than 64 MiB, and to more than 1,000 times what came, ends the transfer with `tooLarge`.
  package var boundsExpansion = false
  /// Which addresses may be connected to.
  package var addressGuard = AddressGuard.guarded
  /// Whether an answer in a transfer coding that nobody knows is passed on as it is, instead of refused.
  package var passesUnknownCodings = false
  /// Whether an earlier hop of the same fetch was answered from a public address (`AddressReach.countsAsPublic`).
  package var isSentByPublic = false
  package var proxy = ProxyChoice.environment
  /// Whether nothing is sent: the transfer ends without a fault when there is a connection, and closes it. Through a proxy,
  /// that is the connection to the proxy, and for https and SOCKS the proxy's connection to the server. TLS is left out.
  package var connectsOnly = false

  package init(url: WebURL) { self.url = url }

  /// Below so many bytes a second, on the average of a whole window, a transfer is ended: a server that drips a byte
  /// now and then is never silent and never done.
  package struct Slowness: Sendable, Equatable {
    package var bytesPerSecond: Int64 = 16
    /// In nanoseconds; taken as twice the silence where that is longer.
    package var window: Int64 = 60_000_000_000

    package init() {}
  }
}

/// What a sink wants after what it was shown.
package enum TransferVerdict: Sendable {
  case goOn
  /// No more until `Transport.resume`; what is there already may still come.
  case hold
  /// Ends the transfer at this byte; `finished` follows with the fault `.stopped`.
  case stop
}

/// Gets one transfer's answer, on the loop's thread.
package protocol TransferSink: AnyObject, Sendable {
  /// Its host's name is being looked up, which may take long: nothing is sent before `mayConnect`.
  func waitsForName()
  /// The name is known. False when the transfer is to end here, without another call.
  func mayConnect() -> Bool
  /// A 1xx answer, before the real one.
  func interim(_ head: ResponseHead)
  /// So many bytes of the request's body have been sent; of one that has to be sent again, from the beginning.
  func sent(_ bytes: Int64)
  /// As it was sent: `Content-Length` is that of the coded body, `Content-Encoding` names a coding that may be gone.
  func head(_ head: ResponseHead) -> TransferVerdict
  /// Some decoded bytes of the body, valid during the call only.
  func body(_ bytes: UnsafeRawBufferPointer) -> TransferVerdict
  /// The last call of every transfer but a cancelled one. `fault` is nil when the answer came whole.
  func finished(_ fault: TransportFault?, _ timings: TransferTimings)
}

extension TransferSink {
  package func waitsForName() {}
  package func mayConnect() -> Bool { true }
  package func sent(_ bytes: Int64) {}
}

/// Where one transfer's time went, in microseconds from its start (0 where a phase didn't happen), and what it was.
package struct TransferTimings: Sendable, Equatable {
  package var nameLookup: Int64 = 0
  package var connect: Int64 = 0
  package var tls: Int64 = 0
  package var firstByte: Int64 = 0
  package var total: Int64 = 0
  /// Whether only the close of the connection said where the body ends, so that it may have been cut off.
  package var isCloseDelimited = false
  /// Whether it may have been cut off by anybody: the server didn't say by TLS that it has sent all.
  package var isCutOff = false
  package var connection = ConnectionFacts()

  package init() {}
}

/// To whom a transfer was connected.
package struct ConnectionFacts: Sendable, Equatable {
  package enum Version: UInt8, Sendable { case unknown, http10, http11, http2, http3 }

  package var version = Version.unknown
  /// The address that was connected to: the proxy's where there was one. Nil when there was no connection.
  package var address: IPAddress?
  /// The class of the origin's address; nil where a proxy has looked its name up, and nobody here sees where the request goes.
  package var addressClass: AddressClass?
  package var isProxied = false
  /// Whether the connection had been open already.
  package var isReused = false

  package init() {}

  /// How far from public the origin is.
  package var reach: AddressReach { addressClass?.reach ?? (isProxied ? .hidden : .open) }
}

@_exported import NuthatchHTTP
