import NuthatchHTTP

/// The rules of HTTP, applied to what the store keeps.
enum Caching {
  struct Verdict {
    var standing: Found.Standing
    var mayServeOnError: Bool
    var age: Int64
  }

  private static func directive(_ head: ResponseHead, _ name: String) -> String? {
    for value in head.fields.values("Cache-Control") {
      for part in value.split(separator: ",") {
        let pair = part.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " } }
        if pair.first?.lowercased() == name { return pair.count > 1 ? pair[1] : "" }
      }
    }
    return nil
  }

  static func judge(_ meta: Meta, _ plan: RequestPlan, now: Int64) -> Verdict {
    let age = age(meta, now: now)
    let must = directive(meta.head, "must-revalidate") != nil
    var lifetime: Int64 = 0
    if let seconds = directive(meta.head, "max-age").flatMap({ Int64($0) }) {
      lifetime = seconds
    } else if directive(meta.head, "no-cache") != nil {
      lifetime = plan.policy.noCacheTTL
    } else if meta.isPicture {
      lifetime = meta.head.fields.contains("ETag") ? plan.policy.validatorTTL : plan.policy.imageTTL
    }
    let isFresh = age < lifetime || plan.policy.rules == .offline
    return Verdict(
      standing: isFresh ? .fresh : must ? .mustValidate : .stale, mayServeOnError: !must, age: age)
  }

  static func age(_ meta: Meta, now: Int64) -> Int64 { max(0, now - meta.responseTime) }

  static func mayStore(_ meta: Meta, _ head: ResponseHead, _ redirects: [ResponseHead], _ plan: RequestPlan)
    -> Bool
  {
    head.status == 200 && ([head] + redirects).allSatisfy { directive($0, "no-store") == nil }
  }

  static func storedHead(_ head: ResponseHead) -> ResponseHead { head }

  static func varied(_ head: ResponseHead, _ plan: RequestPlan) -> [(name: String, value: String?)] { [] }

  static func variant(_ names: [String], _ plan: RequestPlan) -> [UInt8] { [] }

  static func renewed(_ meta: Meta, by head: ResponseHead, requestTime: Int64, responseTime: Int64) -> Meta? {
    var meta = meta
    meta.requestTime = requestTime
    meta.responseTime = responseTime
    return meta
  }

  static func invalidated(by plan: RequestPlan, _ head: ResponseHead) -> [String] { [plan.first.url.address] }

  static func conditionalFields(_ meta: Meta) -> [HeaderFields.Field] {
    meta.head.fields["ETag"].map { [HeaderFields.Field(name: "If-None-Match", value: $0)] } ?? []
  }
}

extension ResponseHead {
  /// Seconds that the server asks to be left alone for.
  func retryAfter(now: Int64) -> Int64? { fields["Retry-After"].flatMap { Int64($0) }.map { max(0, $0) } }
}
