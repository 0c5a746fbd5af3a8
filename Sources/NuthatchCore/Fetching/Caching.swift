import NuthatchHTTP

/// The rules of HTTP (`NuthatchHTTP/Caching`), applied to what the store keeps.
enum Caching {
  static func mayStore(_ meta: AnswerRecord, _ redirects: [ResponseHead], _ plan: RequestPlan) -> Bool {
    // A hop's own rules count only if it says no-store.
    redirects.allSatisfy { !CacheDirectives($0.fields).has("no-store") }
      && StorageRules.mayStore(meta.answer, request: plan.headers, plan.policy.freshnessRules)
  }

  /// What tells this request's answer from those that `Vary` makes for others.
  /// `number` is that of the set of variants.
  static func variant(_ names: [String], of number: UInt64, _ plan: RequestPlan) -> [UInt8] {
    guard !names.isEmpty else { return [] }
    var encoder = RecordEncoder()
    encoder.put(number)
    for (name, value) in Vary.values(names, in: plan.headers) {
      encoder.put(name)
      encoder.put(UInt8(value == nil ? 0 : 1))
      encoder.put(value ?? "")
    }
    return encoder.bytes.withUnsafeBytes { Digest(of: $0).bytes }
  }

  /// What becomes of a stored answer that a server's word has renewed.
  enum Fate { case kept, dropped, left }

  static func fate(of renewed: AnswerRecord, _ redirects: [ResponseHead], _ plan: RequestPlan) -> Fate {
    // Whoever wants nothing stored of this exchange says nothing about what is there.
    if RequestWishes(plan.headers).noStore { return .left }
    return mayStore(renewed, redirects, plan) ? .kept : .dropped
  }

  /// nil when the server speaks of something else than what is stored.
  static func renewed(_ meta: AnswerRecord, by head: ResponseHead, requestTime: Int64, responseTime: Int64)
    -> AnswerRecord?
  {
    StorageRules.renewed(meta.head, by: head).map {
      renewed(meta, with: $0, requestTime: requestTime, responseTime: responseTime)
    }
  }

  static func renewed(_ meta: AnswerRecord, with head: ResponseHead, requestTime: Int64, responseTime: Int64)
    -> AnswerRecord
  {
    var meta = meta
    meta.head = head
    // Another answer may depend on other fields.
    meta.varied = Vary(head.fields).names
    meta.requestTime = requestTime
    meta.responseTime = responseTime
    meta.number = AnswerRecord.newNumber
    return meta
  }
}

extension AnswerRecord {
  var answer: AnswerFacts {
    AnswerFacts(head: head, requestTime: requestTime, responseTime: responseTime, isPicture: isPicture)
  }
}

extension Policy {
  var freshnessRules: FreshnessRules {
    var result: FreshnessRules
    switch rules {
    case .kit: result = FreshnessRules(.kit)
    case .rfc9111: result = FreshnessRules(.rfc9111)
    case .offline: result = FreshnessRules(.offline)
    case .reload: result = FreshnessRules(.reload)
    }
    let range = 0...DeltaSeconds.most
    result.validatorTTL = min(max(validatorTTL, range.lowerBound), range.upperBound)
    result.imageTTL = min(max(imageTTL, range.lowerBound), range.upperBound)
    result.noCacheTTL = min(max(noCacheTTL, range.lowerBound), range.upperBound)
    result.heuristic = heuristic
    return result
  }
}
