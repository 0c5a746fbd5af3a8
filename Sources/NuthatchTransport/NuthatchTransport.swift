// # NuthatchTransport: requests in, streamed bytes out
//
// One thread with an event loop, one libcurl multi handle on it, any number of transfers. A transfer is one exchange
// with one server: redirects, retries, caching and what the bytes mean are decided above, by the `TransferSink` that
// gets head and body while they arrive. This room must not know of caches, tickets, files or pictures.
//
// Start at `Transport`.

/// What one exchange asks for.
package struct TransferRequest: Sendable {
  package var url: WebURL
  package var method = "GET"
  package var headers = HeaderFields()
  package var body: [UInt8] = []
  /// The longest time without a byte in either direction, in nanoseconds; nil waits for ever.
  package var silence: Int64?
  /// Sent as Basic credentials.
  package var credentials: (user: [UInt8], password: [UInt8])?

  package init(url: WebURL) { self.url = url }
}

/// What a sink wants after what it was shown.
package enum TransferVerdict: Sendable {
  case goOn
  /// Ends the transfer at this byte; `finished` follows with the fault `.stopped`.
  case stop
}

/// Gets one transfer's answer, on the loop's thread.
package protocol TransferSink: AnyObject, Sendable {
  /// A 1xx answer, before the real one.
  func interim(_ head: ResponseHead)
  func head(_ head: ResponseHead) -> TransferVerdict
  /// Some bytes of the body, valid during the call only.
  func body(_ bytes: UnsafeRawBufferPointer) -> TransferVerdict
  /// The last call of every transfer but a cancelled one. `fault` is nil when the answer came whole.
  func finished(_ fault: TransportFault?, _ timings: TransferTimings)
}

/// Where one transfer's time went, in microseconds from its start; 0 where a phase didn't happen.
package struct TransferTimings: Sendable, Equatable {
  package var nameLookup: Int64 = 0
  package var connect: Int64 = 0
  package var tls: Int64 = 0
  package var firstByte: Int64 = 0
  package var total: Int64 = 0

  package init() {}
}

@_exported import NuthatchHTTP
