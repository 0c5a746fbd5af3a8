/// The rules that decide whether a stored answer is fresh. Numbers are in seconds.
package struct FreshnessRules: Sendable, Equatable {
  package enum Kind: Sendable { case kit, rfc9111, offline, reload }

  package var kind = Kind.kit
  package var validatorTTL: Int64 = 86_400
  package var imageTTL: Int64 = 604_800
  package var noCacheTTL: Int64 = 60
  package var heuristic = 0.1
  /// A lifetime that replaces those of headers and rules, counted from the arrival of the answer; nil: none.
  package var ownLifetime: Int64?

  package init(_ kind: Kind = .kit) { self.kind = kind }

  /// A `Date` at most this many seconds before the arrival adds no age.
  ///
  /// Under `rfc9111` only the rounding to whole seconds is allowed. Otherwise it is a minute, because the clocks may differ:
  /// an answer that is fresh for a few seconds would be stale on arrival.
  var clockTolerance: Int64 { kind == .rfc9111 ? 1 : 60 }

  /// An arrival at most this many seconds in the future is accepted, because clocks are corrected.
  static let futureTolerance: Int64 = 5

  /// The longest lifetime from the heuristic, one day.
  package static let longestHeuristic: Int64 = 86_400
}

/// The properties of a stored answer that freshness depends on.
package struct AnswerFacts: Sendable {
  package var head: ResponseHead
  /// When the request was sent and when the answer came, in seconds since 1970.
  package var requestTime: Int64
  package var responseTime: Int64
  /// Whether the body is a picture, as its bytes show.
  package var isPicture: Bool

  package init(head: ResponseHead, requestTime: Int64, responseTime: Int64, isPicture: Bool) {
    self.head = head
    self.requestTime = requestTime
    self.responseTime = responseTime
    self.isPicture = isPicture
  }
}

/// The freshness of a stored answer at a moment.
package struct Freshness: Sendable, Equatable {
  package enum Grade: Sendable {
    /// Fresh, or treated as fresh (`offline`, `max-stale`): delivered without asking the server.
    case valid
    /// Stale; the server allows delivering it while it is revalidated.
    case staleWhileRevalidate
    /// Stale, or too old for this request. It may be delivered if the caller accepts that; there is no time limit.
    case stale
    /// Must not be delivered before the server was asked.
    case mustValidate
  }

  package var grade: Grade
  /// Whether the answer is stale, but the request's `max-stale` accepts it.
  package var isTolerated = false
  /// Whether the answer may be delivered if the server can't be asked.
  package var mayServeOnError: Bool
  /// In seconds.
  package var age: Int64
  package var lifetime: Int64
  /// Whether the answer's arrival is in the future, because the clock was set back. The age is then unknown.
  package var isFromFuture = false

  package var isStale: Bool { grade != .valid || isTolerated }
}

extension AnswerFacts {
  /// Returns the age of the answer (RFC 9111, 4.2.3) in seconds, at least 0 even if the clock was set back.
  package func age(_ rules: FreshnessRules, now: Int64) -> Int64 {
    let apparent = HTTPDate.seconds(head.fields["Date"] ?? "", now: now).map { responseTime.since($0) } ?? 0
    let corrected = announcedAge + min(responseTime.since(requestTime), DeltaSeconds.most)
    let resident = min(now.since(responseTime), Int64.max / 4)
    let counted = apparent > rules.clockTolerance ? min(apparent, Int64.max / 4) : 0
    return max(corrected, counted) + resident
  }

  /// The first `Age` value, from an upstream cache; 0 if it isn't a number.
  private var announcedAge: Int64 {
    guard let first = head.fields["Age"]?.split(separator: ",", omittingEmptySubsequences: false).first else {
      return 0
    }
    return DeltaSeconds.parse(String(first).trimmed) ?? 0
  }

  /// Returns the lifetime of the answer in seconds, by the first rule that matches (docs/HTTP.md).
  func lifetime(_ rules: FreshnessRules, _ control: CacheDirectives, now: Int64) -> Int64 {
    let isKit = rules.kind != .rfc9111
    if hasNoCache(control) { return isKit ? rules.noCacheTTL : 0 }
    if let seconds = control.seconds("max-age") { return seconds }
    if let expires = head.fields.values("Expires").first {
      // Subtract the answer's own `Date`, so that a wrong clock on either side doesn't matter. An invalid date means stale.
      guard head.fields.values("Expires").count == 1, let end = HTTPDate.seconds(expires, now: now) else {
        return 0
      }
      let date = HTTPDate.seconds(head.fields["Date"] ?? "", now: now) ?? responseTime
      return end.since(date)
    }
    if isKit {
      guard isPicture, (200..<300).contains(head.status) else { return 0 }
      return hasValidator ? rules.validatorTTL : rules.imageTTL
    }
    return heuristicLifetime(rules, control, now: now)
  }

  private func heuristicLifetime(_ rules: FreshnessRules, _ control: CacheDirectives, now: Int64) -> Int64 {
    let understood: Set<Int> = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]
    guard understood.contains(head.status) || control.has("public"),
      let modified = HTTPDate.seconds(head.fields["Last-Modified"] ?? "", now: now)
    else { return 0 }
    let date = HTTPDate.seconds(head.fields["Date"] ?? "", now: now) ?? responseTime
    let share = (rules.heuristic >= 0 ? min(rules.heuristic, 1) : 0) * Double(date.since(modified))
    return Int64(min(share, Double(FreshnessRules.longestHeuristic)))
  }

  /// `no-cache="x"` concerns only the field x, which isn't stored.
  private func hasNoCache(_ control: CacheDirectives) -> Bool { control.hasBare("no-cache") }

  package var hasValidator: Bool { head.fields.contains("ETag") || head.fields.contains("Last-Modified") }

  /// Returns the freshness of the answer now, for a request with these fields.
  package func freshness(for request: HeaderFields, _ rules: FreshnessRules, now: Int64) -> Freshness {
    let control = CacheDirectives(head.fields)
    let age = age(rules, now: now)
    // `ownLifetime` begins at the arrival. Add the age that the answer already had then.
    let lifetime =
      rules.ownLifetime.map { $0 + age - now.since(responseTime) } ?? lifetime(rules, control, now: now)
    let mustValidate = control.has("must-revalidate") || (rules.kind == .rfc9111 && hasNoCache(control))
    var result = Freshness(
      grade: .mustValidate, mayServeOnError: !mustValidate, age: age, lifetime: lifetime)
    result.isFromFuture = responseTime.since(now) > FreshnessRules.futureTolerance
    if rules.kind == .offline {
      result.grade = .valid
      return result
    }
    let wishes = RequestWishes(request)
    if wishes.wantsValidation {
      // `no-cache` in a request also forbids the old answer in place of an error.
      result.mayServeOnError = false
      return result
    }
    // An unknown age exceeds every limit.
    let left = result.isFromFuture ? -.max : lifetime - age
    let known = result.isFromFuture ? .max : age
    let isYoungEnough = known <= wishes.maxAge || wishes.isReload && control.has("immutable")
    if left > 0, left >= wishes.minFresh, isYoungEnough {
      result.grade = .valid
    } else if mustValidate {
      result.grade = .mustValidate
    } else if left <= 0, isYoungEnough, let most = wishes.maxStale, -left <= most {
      result.grade = .valid
      result.isTolerated = true
    } else if left <= 0, known <= wishes.maxAge, -left < control.seconds("stale-while-revalidate") ?? 0 {
      result.grade = .staleWhileRevalidate
    } else {
      result.grade = .stale
    }
    // Under `rfc9111`, `stale-if-error` limits how stale the answer may be. Without it RFC 9111, 4.2.4 sets no limit.
    if rules.kind == .rfc9111, let limit = control.seconds("stale-if-error"), -left >= limit {
      result.mayServeOnError = false
    }
    return result
  }
}

extension Int64 {
  /// Returns how much later than `other` this is; 0 if it is earlier. Records come from files, so all values are possible.
  fileprivate func since(_ other: Int64) -> Int64 {
    guard self > other else { return 0 }
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? .max : difference
  }
}

/// The request's own `Cache-Control`.
package struct RequestWishes: Sendable, Equatable {
  package var wantsValidation = false
  package var onlyIfCached = false
  package var noStore = false
  package var maxAge: Int64 = .max
  package var minFresh: Int64 = 0
  /// An answer may be stale for this many seconds; nil: it must be fresh.
  package var maxStale: Int64?

  /// Whether this is a browser's reload (`max-age=0`). It doesn't reload a fresh `immutable` answer (RFC 8246, 2.1).
  package var isReload: Bool { maxAge == 0 && !wantsValidation }

  package init(_ fields: HeaderFields) {
    let control = CacheDirectives(fields)
    wantsValidation = control.has("no-cache")
    if !fields.contains("Cache-Control"), CacheDirectives(fields, "Pragma").has("no-cache") {
      wantsValidation = true
    }
    onlyIfCached = control.has("only-if-cached")
    noStore = control.has("no-store")
    if let seconds = control.seconds("max-age") { maxAge = seconds }
    if let seconds = control.seconds("min-fresh") { minFresh = seconds }
    if control.hasBare("max-stale") {
      maxStale = .max
    } else if let seconds = control.seconds("max-stale") {
      maxStale = seconds
    }
  }
}
