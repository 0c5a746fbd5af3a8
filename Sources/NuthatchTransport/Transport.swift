/// Runs transfers. `CurlTransport` runs them over the network; tests replace it by recorded answers.
package protocol Transport: Sendable {
  /// Starts `request`. Its answer goes to `sink`, after this has returned. The result is the transfer's id for the other calls.
  /// Any thread may call it.
  func start(_ request: TransferRequest, sink: any TransferSink) -> UInt64

  /// Ends a transfer soon, without another call to its sink. Ignores unknown and finished ids. Any thread may call it.
  func cancel(_ id: UInt64)

  /// Resumes a transfer that its sink has paused (`TransferVerdict.hold`). Call it on the loop's thread, not within a sink.
  func resume(_ id: UInt64)

  /// Sets the longest silence of a transfer from now on; nil: no limit. Any thread may call it.
  func setSilence(_ silence: Int64?, of id: UInt64)

  /// Returns the time of the last byte (monotonic clock); nil before the transfer has begun. Call it on the loop's thread.
  func lastByteTime(of id: UInt64) -> Int64?

  /// Returns the times of a running transfer so far; nil if it isn't running. Call it on the loop's thread.
  func timings(of id: UInt64) -> TransferTimings?
}
