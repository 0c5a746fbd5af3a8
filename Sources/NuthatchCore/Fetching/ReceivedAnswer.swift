import NuthatchStore
import NuthatchTransport

/// An answer from the network without its body.
struct ReceivedAnswer: Sendable {
  let shared: SharedCache
  let plan: RequestPlan
  /// The store's moment when the fetch began. Nil: nothing can be stored.
  let began: Moment?
  let head: ResponseHead
  let redirects: [ResponseHead]
  /// Seconds since 1970 when the request was sent and when the head came.
  let requestTime: Int64
  let responseTime: Int64
  /// The most private address class that the fetch contacted (`AnswerRecord.reach`).
  let reach: AddressReach
  /// Whether a hop was answered from a public address.
  let isFromPublic: Bool
  let provenance: Provenance

  /// The record to be stored, still without a body.
  var meta: AnswerRecord {
    var meta = AnswerRecord(
      head: StorageRules.stored(head), requestTime: requestTime, responseTime: responseTime,
      finalURL: provenance.finalURL)
    meta.redirects = redirects.count
    meta.reach = reach
    // Store only the names. The request's values may be secret, and their digest is in the key.
    meta.varied = Vary(head.fields).names
    return meta
  }

  /// The record that is stored for the same request now.
  var present: AnswerRecord? { shared.reader.record(plan)?.0 }

  func mayStore(_ meta: AnswerRecord) -> Bool { Caching.mayStore(meta, redirects, plan) }

  /// Stores the record. Returns false if it can't be stored.
  func write(_ meta: AnswerRecord, began: Moment?) -> Bool { shared.write(meta, plan, began: began) }

  /// Returns a digest that stands for an unknown body. It is made from the key and from values of the head that identify the
  /// body.
  func digest(_ kind: String, _ words: [String]) -> Digest {
    var encoder = RecordEncoder()
    encoder.put(kind)
    encoder.put(plan.name.key.bytes)
    for word in words { encoder.put(word) }
    return encoder.bytes.withUnsafeBytes { Digest(of: $0) }
  }
}
