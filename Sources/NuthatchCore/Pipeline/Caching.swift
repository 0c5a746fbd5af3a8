import NuthatchHTTP

/// The rules of HTTP (`NuthatchHTTP/Caching`), applied to what the store keeps.
enum Caching {
  static func judge(_ meta: Meta, _ plan: RequestPlan, now: Int64) -> Freshness {
    meta.answer.freshness(for: plan.first.headers, plan.policy.freshnessRules, now: now)
  }

  static func mayStore(_ meta: Meta, _ redirects: [ResponseHead], _ plan: RequestPlan) -> Bool {
    // A hop's own rules count only if it says no-store.
    redirects.allSatisfy { !CacheDirectives($0.fields).has("no-store") }
      && StorageRules.mayStore(meta.answer, request: plan.first.headers, plan.policy.freshnessRules)
  }

  /// What tells this request's answer from those that `Vary` makes for others.
  /// `mark` is that of the set of variants.
  static func variant(_ names: [String], of mark: UInt64, _ plan: RequestPlan) -> [UInt8] {
    guard !names.isEmpty else { return [] }
    var encoder = RecordEncoder()
    encoder.put(mark)
    for (name, value) in Vary.values(names, in: plan.first.headers) {
      encoder.put(name)
      encoder.put(UInt8(value == nil ? 0 : 1))
      encoder.put(value ?? "")
    }
    return encoder.bytes.withUnsafeBytes { Digest(of: $0)?.bytes } ?? []
  }

  static func renewed(_ meta: Meta, by head: ResponseHead, requestTime: Int64, responseTime: Int64) -> Meta? {
    guard let renewed = StorageRules.renewed(meta.head, by: head) else { return nil }
    var meta = meta
    meta.head = renewed
    meta.requestTime = requestTime
    meta.responseTime = responseTime
    meta.mark = Meta.freshMark
    return meta
  }
}

extension Meta {
  var answer: StoredAnswer {
    StoredAnswer(head: head, requestTime: requestTime, responseTime: responseTime, isPicture: isPicture)
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
