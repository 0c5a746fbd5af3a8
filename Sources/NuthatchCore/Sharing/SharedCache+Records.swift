import NuthatchHTTP
import NuthatchStore

// What is written to the store, on workers' threads, and the moment at which its question began, on any.

extension SharedCache {
  /// The moment at which a fetch begins now; nil when it can't be told at once.
  func momentNow(_ plan: RequestPlan) -> Moment? {
    let groups = plan.groups
    return store.momentNow(groups.own, groups.ofURL)
  }

  /// The same, but it may wait. Nil when nothing can be stored at present.
  func moment(_ plan: RequestPlan) -> Moment? {
    let groups = plan.groups
    return (try? store.moment(groups.own, groups.ofURL)) ?? nil
  }

  /// Keeps what is known of an answer; its body is kept already. False when it can't be kept, when the answer of a later
  /// fetch is there, or when it was removed since its fetch began.
  func write(_ meta: AnswerRecord, _ plan: RequestPlan, began: Moment?) -> Bool {
    guard let began else { return false }
    var meta = meta
    do throws(StoreFault) {
      if plan.name.address != plan.url.address {
        meta.requestedURL = plan.url.address
        guard try link(plan, began) else { return false }
      }
      let isKept =
        meta.varied.isEmpty
        ? try commit(plan.name.key(), .answer, meta.encoded(), began) : try writeVariant(meta, plan, began)
      // What version 0.1 kept of it would be found again when this one is dropped.
      if isKept, store.hasEarlierAnswers { try store.remove(plan.name.key(isEarlier: true)) }
      return isKept
    } catch {
      counts.note(error)
      return false
    }
  }

  private func commit(
    _ key: RecordKey, _ form: RecordForm, _ bytes: [UInt8], _ began: Moment
  ) throws(StoreFault) -> Bool {
    try store.commit(answer: key, form: form.rawValue, bytes, asked: began) != nil
  }

  /// The answer, and a vary record under the URL that says which fields lead to it. With the vary record all variants go.
  private func writeVariant(_ meta: AnswerRecord, _ plan: RequestPlan, _ began: Moment) throws(StoreFault)
    -> Bool
  {
    var varyRecord = AnswerRecord(
      head: ResponseHead(status: 0), requestTime: 0, responseTime: 0, finalURL: "")
    varyRecord.varied = meta.varied
    let key = plan.name.key()
    let present = reader.record(at: key)
    if let present, present.isVaryRecord, present.varied == meta.varied { varyRecord.number = present.number }
    let variant = Caching.variant(meta.varied, of: varyRecord.number, plan)
    guard try commit(plan.name.key(variant: variant), .answer, meta.encoded(), began) else { return false }
    // Also where the same one is there: the answer of an earlier fetch must not take its place later.
    return try commit(key, .vary, varyRecord.encoded(), began)
  }
}

extension AnswerRecord {
  /// Not an answer but the names of the fields by which answers are told apart.
  var isVaryRecord: Bool { head.status == 0 }
}
