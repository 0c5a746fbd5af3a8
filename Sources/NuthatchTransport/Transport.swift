/// Runs transfers. `CurlTransport` runs them over the network; tests and recorded answers take its place.
package protocol Transport: Sendable {
  /// Begins `request`; its answer goes to `sink`, after this has returned. The result names the transfer in the other calls.
  /// Any thread may call it.
  func start(_ request: TransferRequest, sink: any TransferSink) -> UInt64

  /// Ends a transfer without another call to its sink, soon. Unknown and finished ones are ignored. Any thread may call it.
  func cancel(_ id: UInt64)

  /// Lets a transfer go on that its sink held up (`TransferVerdict.hold`). On the loop's thread, and not from within a sink.
  func resume(_ id: UInt64)

  /// How long a transfer may be silent from now on; nil for as long as it likes. Any thread may call it.
  func setSilence(_ silence: Int64?, of id: UInt64)

  /// Since when nothing has come of a transfer, on the monotonic clock; nil before it has begun. On the loop's thread.
  func lastSign(of id: UInt64) -> Int64?

  /// What is known of a transfer so far; nil when it isn't under way. On the loop's thread.
  func timings(of id: UInt64) -> TransferTimings?
}
