import NuthatchHTTP
import NuthatchStore

// Write to the store on workers' threads only. `momentNow` doesn't wait, so any thread may call it.

extension SharedCache {
  /// Returns the moment of a fetch that begins now; doesn't wait. Returns nil if it can't be read without waiting.
  func momentNow(_ plan: RequestPlan) -> Moment? {
    let groups = plan.groups
    return store.momentNow(groups.own, groups.ofURL)
  }

  /// Returns the moment of a fetch that begins now; may wait. Returns nil if nothing can be stored at present.
  func moment(_ plan: RequestPlan) -> Moment? {
    let groups = plan.groups
    return (try? store.moment(groups.own, groups.ofURL)) ?? nil
  }

  /// Stores the record of an answer whose body is stored already. Returns false if it can't be stored, if the answer of a later
  /// fetch is there, or if the answer was removed since its fetch began.
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
        ? try commit(plan.name.key, .answer, meta.encoded(), began) : try writeVariant(meta, plan, began)
      // Otherwise the answer that version 0.1 stored would be found again after the new one is dropped.
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

  /// Stores the answer, and under the URL a vary record that names the request fields by which answers differ. If the vary record
  /// is removed, all variants are gone with it.
  private func writeVariant(_ meta: AnswerRecord, _ plan: RequestPlan, _ began: Moment) throws(StoreFault)
    -> Bool
  {
    var varyRecord = AnswerRecord(
      head: ResponseHead(status: 0), requestTime: 0, responseTime: 0, finalURL: "")
    varyRecord.varied = meta.varied
    let key = plan.name.key
    let present = reader.record(at: key)
    if let present, present.isVaryRecord, present.varied == meta.varied { varyRecord.number = present.number }
    let variant = Caching.variant(meta.varied, of: varyRecord.number, plan)
    guard try commit(plan.name.key(variant: variant), .answer, meta.encoded(), began) else { return false }
    // Commit the vary record even if the same one is stored. Otherwise the answer of an earlier fetch could replace it later.
    return try commit(key, .vary, varyRecord.encoded(), began)
  }
}

extension AnswerRecord {
  /// Whether this is a vary record, which holds the names of the request fields by which answers differ.
  var isVaryRecord: Bool { head.status == 0 }
}
