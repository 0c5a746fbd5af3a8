/// Runs transfers. `CurlTransport` runs them over the network; tests replace it by recorded answers.
package protocol Transport: Sendable {
  /// Starts `request`. Its answer goes to `sink`, perhaps before this has returned on another thread than the loop's. The
  /// result is the transfer's id. Any thread may call it.
  func start(_ request: TransferRequest, sink: any TransferSink) -> UInt64

  /// Ends a transfer soon. Until then, its sink may still be called. Ignores unknown and finished ids. Any thread may call it.
  func cancel(_ id: UInt64)

  /// Resumes a transfer that its sink has paused (`TransferVerdict.hold`). Call it on the loop's thread, not within a sink.
  func resume(_ id: UInt64)

  /// Changes `TransferRequest.silence` of a transfer. Nil: no limit. Any thread may call it.
  func setSilence(_ silence: Int64?, of id: UInt64)

  /// Returns the time of the last byte, else of the start (monotonic clock, ns); `now` while the server waits for this process.
  /// Nil if the transfer hasn't begun or has ended. Call it on the loop's thread.
  func lastByteTime(of id: UInt64) -> Int64?

  /// Returns the times of a running transfer so far; nil if it isn't running. Call it on the loop's thread.
  func timings(of id: UInt64) -> TransferTimings?
}
