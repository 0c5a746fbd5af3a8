import NuthatchHTTP
import NuthatchImaging
import NuthatchStore
import NuthatchTransport

/// Processes, on a worker's thread, an answer whose transfer was stopped because its first bytes can't be decoded.
///
/// The head and the reason are stored. While the answer is fresh, it isn't fetched again to be decoded. The body isn't stored:
/// a request for the body fetches it.
struct UndecodableAnswerProcessor: Sendable {
  let arrival: ReceivedAnswer
  let fault: ImageFault
  /// The error for all waiters.
  let error: NuthatchError
  let recipes: [Recipe]

  func run(_ tiers: SearchedTiers, then: @escaping @Sendable (FetchOutcome?) -> Void) {
    var error = error
    if store() { error.kept = .now }
    tiers.ended(error.isStored ? .stored : .notStored)
    then(.failed(error))
  }

  /// Returns false if nothing can be stored.
  private func store() -> Bool {
    let plan = arrival.plan
    guard plan.isShareable, StoredDecodeFailure.isLasting(fault) else { return false }
    var meta = arrival.meta
    meta.isPicture = fault.kind != .notAnImage
    // With a length of 0 it would count as a whole answer with an empty body.
    meta.bodyLength = max(1, error.bodyBytes, (try? arrival.head.contentLength()) ?? 0)
    guard arrival.mayStore(meta) else { return false }
    if let present = arrival.present {
      // A page of a captive portal must not replace a picture. A whole page is worth more than this record.
      if !meta.isPicture, plan.policy == .kit && present.isPicture || !present.isPartial {
        return false
      }
    }
    // The digest differs for another answer or another reason.
    let content = arrival.digest(
      "undecodable", ["ETag", "Last-Modified"].map { arrival.head.fields[$0] ?? "" } + [fault.description])
    meta.content = content
    meta.isPartial = true
    do throws(StoreFault) {
      try StoredDecodeFailure.write(fault, content, recipes, in: arrival.shared.store)
    } catch {
      arrival.shared.counts.note(error)
      return false
    }
    return arrival.write(meta, began: arrival.began)
  }
}
