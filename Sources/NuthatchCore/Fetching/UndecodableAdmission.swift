import NuthatchHTTP
import NuthatchImaging
import NuthatchStore
import NuthatchTransport

/// What becomes of an answer whose transfer was ended because its first bytes can't be decoded, on a worker's thread.
///
/// Its head is kept, and why there is no picture: as long as the answer is fresh, it isn't fetched again in order to decode it.
/// The body isn't kept: a request for the body fetches it.
struct UndecodableAdmission: Sendable {
  let arrival: ReceivedAnswer
  let fault: ImageFault
  /// What all waiters are told.
  let error: NuthatchError
  let recipes: [Recipe]

  func run(_ tiers: SearchedTiers, then: @escaping @Sendable (FetchOutcome?) -> Void) {
    tiers.ended(store() ? .stored : .notStored)
    then(.failed(error))
  }

  /// False when it can't be kept.
  private func store() -> Bool {
    let plan = arrival.plan
    guard plan.isShared, StoredDecodeFailure.isLasting(fault) else { return false }
    var meta = arrival.meta
    meta.isPicture = fault.kind != .notAnImage
    // With a length of 0 it would be a whole answer without a body.
    meta.bodyLength = max(1, error.bodyBytes, (try? arrival.head.contentLength()) ?? 0)
    guard arrival.mayStore(meta) else { return false }
    if let present = arrival.present {
      // A page of a captive portal must not take a picture's place; and a whole page is worth more than this.
      if !meta.isPicture, plan.policy == .kit && present.isPicture || !present.isPartial {
        return false
      }
    }
    // So that another answer, and another reason, has another one.
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
