// # NuthatchTransport: requests in, streamed bytes out
//
// One thread runs the event loop and two libcurl multi handles; `NameLookups` has threads of its own. At most
// `CurlTransport.ceiling` transfers run at once. A transfer is one request to one server, and its answer, which goes to a
// `TransferSink`. The sink's owner decides about redirects, retries and caching. This room itself sends a request again only if
// the server can't have processed it. This room must not know of caches, tickets or pictures. It reads only files that a
// request names.
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
  /// The transfer fails if no byte was sent or received for this many nanoseconds. Nil: no limit.
  package var silence: Int64?
  /// The lowest speed, from the first sent byte of the body or the first received byte on. Not checked without `silence`.
  package var slowness = Slowness()
  /// The user name and the password. `extras.signIn` says how they are sent; without `extras`, as Basic.
  package var credentials: (user: [UInt8], password: [UInt8])?
  /// Whether to ask for gzip and deflate. An answer in one of them is decoded even if this is false, but not if it is partial
  /// (206).
  package var acceptsCompressed = false
  /// The sink gets at most this many decoded bytes. A longer body ends the transfer with `tooLarge`.
  package var maxBytes: Int64?
  /// Whether to refuse, with `tooLarge`, a body that decodes to more than 64 MiB and to at least 1,000 times its received size.
  package var boundsExpansion = false
  /// Which addresses may be connected to.
  package var addressGuard = AddressGuard.guarded
  /// Whether an answer in an unknown transfer coding is passed on as it is, instead of refused.
  package var passesUnknownCodings = false
  /// Whether a server that counts as public (`AddressReach.countsAsPublic`) has redirected the request here.
  package var isRedirectedByPublic = false
  package var proxy = ProxyChoice.environment
  /// Whether to test the connection only. Nothing is sent, and there is no TLS handshake. The transfer closes the connection
  /// and ends without an error. With an http proxy and an http URL, only the connection to the proxy is tested. With https or
  /// SOCKS, the proxy connects to the server, too.
  package var connectsOnly = false

  package init(url: WebURL) { self.url = url }

  /// A transfer ends if its average speed in a window is below this. `silence` alone would not end a transfer from a server
  /// that sends a byte now and then.
  package struct Slowness: Sendable, Equatable {
    package var bytesPerSecond: Int64 = 16
    /// In nanoseconds. If twice `silence` is longer, that is used instead.
    package var window: Int64 = 60_000_000_000

    package init() {}
  }
}

/// How a sink wants the transfer to continue.
package enum TransferVerdict: Sendable {
  case goOn
  /// Pause until `Transport.resume`. The sink may still get bytes that libcurl has received already.
  case hold
  /// End the transfer now. The sink gets no more bytes. `finished` follows with the fault `.stopped`.
  case stop
}

/// Receives one transfer's answer, on the loop's thread.
package protocol TransferSink: AnyObject, Sendable {
  /// The host name is being looked up, which may take long. Nothing is sent before `nameIsResolved`.
  func waitsForName()
  /// The wait for the name is over; perhaps only the proxy can resolve it. Return false to end the transfer without another
  /// call.
  func nameIsResolved() -> Bool
  /// A 1xx answer, before the real one.
  func interim(_ head: ResponseHead)
  /// `bytes` of the request's body were sent in all. The number begins at 0 again if the body is sent again.
  func sent(_ bytes: Int64)
  /// The head, unchanged. `Content-Length` counts the bytes before decoding. `Content-Encoding` stays, even if the body is
  /// decoded.
  func head(_ head: ResponseHead) -> TransferVerdict
  /// Some decoded bytes of the body, valid during the call only.
  func body(_ bytes: UnsafeRawBufferPointer) -> TransferVerdict
  /// The last call of a transfer. It doesn't come after `cancel`, nor after `nameIsResolved` has returned false. `fault` is nil
  /// if the answer is complete.
  func finished(_ fault: TransportFault?, _ timings: TransferTimings)
}

extension TransferSink {
  package func waitsForName() {}
  package func nameIsResolved() -> Bool { true }
  package func sent(_ bytes: Int64) {}
}

/// When each phase of a transfer ended, in microseconds (0: the phase didn't happen), and facts about its connection. A wait
/// because of `CurlTransport.ceiling` doesn't count.
package struct TransferTimings: Sendable, Equatable {
  package var nameLookup: Int64 = 0
  package var connect: Int64 = 0
  package var tls: Int64 = 0
  package var firstByte: Int64 = 0
  package var total: Int64 = 0
  /// Whether the body had no announced end, so that the close of the connection ended it. Such a body may be truncated.
  package var isCloseDelimited = false
  /// Whether an attacker may have truncated a body without an announced end: the server closed the connection without the
  /// closing alert of TLS.
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
  /// The class of the server's address. Nil if a proxy has resolved the name, or if there was no connection.
  package var addressClass: AddressClass?
  package var isProxied = false
  /// Whether the connection was already open.
  package var isReused = false

  package init() {}

  /// How private the server's address is. `.open` also if there was no connection.
  package var reach: AddressReach { addressClass?.reach ?? (isProxied ? .hidden : .open) }
}

@_exported import NuthatchHTTP
