import NuthatchStore
import NuthatchTransport

/// What is known of an answer that has come over the network, apart from its body.
struct ReceivedAnswer: Sendable {
  let shared: SharedCache
  /// What was fetched, and the moment at which that began, in the store's terms.
  let plan: RequestPlan
  let began: Moment?
  let head: ResponseHead
  let redirects: [ResponseHead]
  /// Seconds since 1970 at which the request was sent and the head came.
  let requestTime: Int64
  let responseTime: Int64
  /// How far the fetch reached (`AnswerRecord.reach`).
  let reach: AddressReach
  /// Whether what it leads to counts as sent there by a public server.
  let isFromPublic: Bool
  let provenance: Provenance

  /// As it is kept, still without a body.
  var meta: AnswerRecord {
    var meta = AnswerRecord(
      head: StorageRules.stored(head), requestTime: requestTime, responseTime: responseTime,
      finalURL: provenance.finalURL)
    meta.redirects = redirects.count
    meta.reach = reach
    // Names alone: what the request said may be a secret, and its digest is in the key.
    meta.varied = Vary(head.fields).names
    return meta
  }

  /// What is stored for the same request at present.
  var present: AnswerRecord? { shared.reader.record(plan)?.0 }

  func mayStore(_ meta: AnswerRecord) -> Bool { Caching.mayStore(meta, redirects, plan) }

  /// Keeps what is known of it. False when it can't be kept.
  func write(_ meta: AnswerRecord, began: Moment?) -> Bool { shared.write(meta, plan, began: began) }

  /// Stands for the content of an answer of which the body isn't known: what it is known by, in the words of its head.
  func digest(_ kind: String, _ words: [String]) -> Digest {
    var encoder = RecordEncoder()
    encoder.put(kind)
    encoder.put(plan.name.key().bytes)
    for word in words { encoder.put(word) }
    return encoder.bytes.withUnsafeBytes { Digest(of: $0) }
  }
}
