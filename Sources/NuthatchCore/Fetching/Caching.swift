import NuthatchHTTP

/// The rules of HTTP (`NuthatchHTTP/Caching`), applied to what the store keeps.
enum Caching {
  static func mayStore(_ meta: AnswerRecord, _ redirects: [ResponseHead], _ plan: RequestPlan) -> Bool {
    // A redirect's own headers count only if they have `no-store`.
    redirects.allSatisfy { !CacheDirectives($0.fields).has("no-store") }
      && StorageRules.mayStore(meta.answer, request: plan.headers, plan.freshness)
  }

  /// Returns the digest of the request's values of the `Vary` fields, which distinguishes this request's answer from others.
  /// `number`: the number of the vary record.
  static func variant(_ names: [String], of number: UInt64, _ plan: RequestPlan) -> [UInt8] {
    guard !names.isEmpty else { return [] }
    var encoder = RecordEncoder()
    encoder.put(number)
    for (name, value) in Vary.values(names, in: plan.headers) {
      encoder.put(name)
      encoder.put(UInt8(value == nil ? 0 : 1))
      encoder.put(name == "accept" && value == accept ? earlierAccept : value ?? "")
    }
    return encoder.bytes.withUnsafeBytes { Digest(of: $0).bytes }
  }

  /// `Cache.pictureAccept`, and what it was in version 0.1, as `Vary.values` returns them. They count as the same, so that
  /// answers that were stored by version 0.1 are found.
  private static let accept = normalized(Cache.pictureAccept)
  private static let earlierAccept = normalized("image/jpeg,image/png;q=0.9,*/*;q=0.1")

  private static func normalized(_ accept: String) -> String {
    var fields = HeaderFields()
    fields.append("Accept", accept)
    return Vary.values(["accept"], in: fields).first?.value ?? accept
  }

  /// What happens to a stored answer that the server has renewed.
  enum Fate { case kept, dropped, left }

  static func fate(of renewed: AnswerRecord, _ redirects: [ResponseHead], _ plan: RequestPlan) -> Fate {
    // A request with `no-store` wants nothing stored, but it doesn't ask to remove the stored answer.
    if RequestWishes(plan.headers).noStore { return .left }
    return mayStore(renewed, redirects, plan) ? .kept : .dropped
  }

  /// Returns the renewed record. Nil if the server means another answer than the stored one.
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
    // The new head may have another `Vary`.
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

extension FreshnessRules {
  /// The rules that the options set.
  init(_ options: Options) {
    switch options.policy ?? Options.Standard.policy {
    case .kit: self.init(.kit)
    case .rfc9111: self.init(.rfc9111)
    case .offline: self.init(.offline)
    case .reload: self.init(.reload)
    }
    validatorTTL = Self.seconds(options.validatorTTL ?? Options.Standard.validatorTTL)
    imageTTL = Self.seconds(options.imageTTL ?? Options.Standard.imageTTL)
    noCacheTTL = Self.seconds(options.noCacheTTL ?? Options.Standard.noCacheTTL)
    heuristic = options.heuristic ?? Options.Standard.heuristic
    ownLifetime = options.expireAfter.map(Self.seconds)
  }

  /// Returns whole seconds, rounded up, so that a lifetime below one second doesn't become 0.
  private static func seconds(_ lifetime: Duration) -> Int64 {
    let (seconds, rest) = lifetime.components
    return min(max(seconds, 0), DeltaSeconds.most - 1) + (rest > 0 ? 1 : 0)
  }
}
