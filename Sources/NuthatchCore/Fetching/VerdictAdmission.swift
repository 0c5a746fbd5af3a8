import NuthatchHTTP
import NuthatchImaging
import NuthatchStore
import NuthatchTransport

/// What becomes of an answer whose transfer was ended because its first bytes can't be decoded, on a worker's thread.
///
/// Its head is kept, and why there is no picture: as long as the answer is fresh, it isn't fetched again in order to decode it.
/// The body isn't kept: a request for the body fetches it.
struct VerdictAdmission: Sendable {
  let shared: SharedCache
  let plan: RequestPlan
  let arrival: ReceivedAnswer
  let fault: ImageFault
  let recipes: [Recipe]
  /// Bytes of the body that have come, or were announced.
  let length: Int64
  let asked: Moment?

  /// False when it can't be kept.
  func store() -> Bool {
    guard plan.isShared, DecodeFailure.isLasting(fault) else { return false }
    var meta = arrival.meta
    meta.isPicture = fault.kind != .notAnImage
    // With a length of 0 it would be a whole answer without a body.
    meta.bodyLength = max(1, length)
    guard Caching.mayStore(meta, arrival.redirects, plan) else { return false }
    if let present = shared.reader.record(plan)?.0 {
      // A page of a captive portal must not take a picture's place; and a whole page is worth more than this.
      if !meta.isPicture, plan.policy.rules == .kit && present.isPicture || !present.isPartial {
        return false
      }
    }
    let content = digest
    meta.content = content
    meta.isPartial = true
    do throws(StoreFault) {
      try DecodeFailure.write(fault, content, recipes, in: shared.store)
    } catch {
      shared.counts.note(error)
      return false
    }
    return shared.write(meta, plan, asked: asked)
  }

  /// Stands for the answer and for why it can't be decoded, so that another answer has another one.
  private var digest: Digest {
    var encoder = RecordEncoder()
    encoder.put("undecodable")
    encoder.put(plan.name.key().bytes)
    for name in ["ETag", "Last-Modified"] { encoder.put(arrival.head.fields[name] ?? "") }
    encoder.put(fault.description)
    return encoder.bytes.withUnsafeBytes { Digest(of: $0) }
  }
}

extension Fetch {
  /// Hands a verdict over to a worker, and gives it to all that wait.
  func admit(_ verdict: ImageFault, _ error: NuthatchError, _ timings: TransferTimings) {
    guard let head = attempt.head, waiters.allSatisfy({ $0.plan.inquiry == nil }) else {
      return conclude(.failed(error))
    }
    let admission = VerdictAdmission(
      shared: shared, plan: plan, arrival: attempt.arrival(head, timings), fault: verdict,
      recipes: Array(Set(waiters.flatMap(\.plan.recipes))),
      length: max(Int64(attempt.body.count), (try? head.contentLength()) ?? 0),
      asked: attempt.asked)
    phase = .admitting
    attempt.body = IncomingBody()
    handOver(takeTiers()) { tiers, then in
      tiers.ended(admission.store() ? .stored : .notStored)
      then(.failed(error))
    }
  }
}
