import NuthatchTransport

/// What is known of an answer that has come over the network, apart from its body.
struct ReceivedAnswer: Sendable {
  let head: ResponseHead
  let redirects: [ResponseHead]
  /// Seconds since 1970 at which the request was sent and the head came.
  let requestTime: Int64
  let responseTime: Int64
  /// How far the fetch reached (`AnswerRecord.reach`).
  let reach: AddressReach
  /// Whether what it leads to counts as sent there by a public server.
  let isFromPublic: Bool
  let origin: Provenance

  /// As it is kept, still without a body.
  var meta: AnswerRecord {
    var meta = AnswerRecord(
      head: StorageRules.stored(head), requestTime: requestTime, responseTime: responseTime,
      finalURL: origin.finalURL)
    meta.redirects = redirects.count
    meta.reach = reach
    // Names alone: what the request said may be a secret, and its digest is in the key.
    meta.varied = Vary(head.fields).names
    return meta
  }
}

extension Attempt {
  func arrival(_ head: ResponseHead, _ timings: TransferTimings) -> ReceivedAnswer {
    ReceivedAnswer(
      head: head, redirects: redirects, requestTime: requestTime, responseTime: responseTime, reach: reach,
      isFromPublic: isSentByPublic, origin: origin(timings))
  }
}
