import NuthatchBase

/// A transfer that isn't running yet: its name is being looked up, or too many others run. Used only on the loop's thread.
final class PendingTransfer {
  let id: UInt64
  var request: TransferRequest
  let sink: any TransferSink
  var route: TransferRoute
  /// When it began (monotonic clock, ns).
  let since: Int64
  /// The id of its wait in `NameLookups`, for `leave`.
  var lookup: UInt64?
  /// The timer that ends the lookup.
  var timer: LoopTimer?

  init(id: UInt64, request: TransferRequest, sink: any TransferSink, route: TransferRoute, since: Int64) {
    self.id = id
    self.request = request
    self.sink = sink
    self.route = route
    self.since = since
  }
}
