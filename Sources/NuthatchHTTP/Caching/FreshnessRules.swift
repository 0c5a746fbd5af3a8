/// What is taken for fresh, and for how long: the rules, and their numbers in seconds.
package struct FreshnessRules: Sendable, Equatable {
  package enum Kind: Sendable { case kit, rfc9111, offline, reload }

  package var kind = Kind.kit
  package var validatorTTL: Int64 = 86_400
  package var imageTTL: Int64 = 604_800
  package var noCacheTTL: Int64 = 60
  package var heuristic = 0.1
  /// A lifetime that takes the place of what headers and rules say, since the answer came; nil for none.
  package var ownLifetime: Int64?

  package init(_ kind: Kind = .kit) { self.kind = kind }

  /// By how many seconds a `Date` may be behind and still mean now. Two clocks that tell whole seconds may be one apart;
  /// RFC 9111 allows no more. For the kit's rules a minute is as likely a difference of clocks as a slow cache on the way, and
  /// would make answers that are fresh for seconds stale on arrival.
  var clockTolerance: Int64 { kind == .rfc9111 ? 1 : 60 }

  /// By how many seconds an answer may come later than now and still have come just now: clocks are corrected by as much.
  static let futureTolerance: Int64 = 5

  /// What the heuristic gives at most: a day.
  package static let longestHeuristic: Int64 = 86_400
}

/// A stored answer, as far as its freshness goes.
package struct AnswerFacts: Sendable {
  package var head: ResponseHead
  /// Seconds since 1970 at which the request was sent and the answer came.
  package var requestTime: Int64
  package var responseTime: Int64
  /// Whether the body is a picture, by its bytes.
  package var isPicture: Bool

  package init(head: ResponseHead, requestTime: Int64, responseTime: Int64, isPicture: Bool) {
    self.head = head
    self.requestTime = requestTime
    self.responseTime = responseTime
    self.isPicture = isPicture
  }
}

/// What a stored answer is good for at a moment.
package struct Freshness: Sendable, Equatable {
  package enum Grade: Sendable {
    /// Within its lifetime, or taken as if it were (`offline`, `max-stale`): given without a word from its server.
    case valid
    /// Stale; the server allows it to be shown while it is asked.
    case staleWhileRevalidate
    /// Past its lifetime, or too old for this request; may be shown where the caller takes that. No rule says for how long.
    case stale
    /// Must not be shown before the server was asked.
    case mustValidate
  }

  package var grade: Grade
  /// Whether it counts as fresh for this request only, which takes stale answers (`max-stale`).
  package var isTolerated = false
  /// Whether it may be shown when the server can't be asked.
  package var mayServeOnError: Bool
  /// In seconds.
  package var age: Int64
  package var lifetime: Int64
  /// Whether it came at a time that is still to come, because the clock was set back. How old it is isn't known.
  package var isFromFuture = false

  package var isStale: Bool { grade != .valid || isTolerated }
}

extension AnswerFacts {
  /// How old the answer is (RFC 9111, 4.2.3), in seconds. A clock that was set back makes nothing younger than 0.
  package func age(_ rules: FreshnessRules, now: Int64) -> Int64 {
    let apparent = HTTPDate.seconds(head.fields["Date"] ?? "", now: now).map { responseTime.since($0) } ?? 0
    let corrected = announcedAge + min(responseTime.since(requestTime), DeltaSeconds.most)
    let resident = min(now.since(responseTime), Int64.max / 4)
    let counted = apparent > rules.clockTolerance ? min(apparent, Int64.max / 4) : 0
    return max(corrected, counted) + resident
  }

  /// What an upstream cache says: the first value; what is no number is ignored.
  private var announcedAge: Int64 {
    guard let first = head.fields["Age"]?.split(separator: ",", omittingEmptySubsequences: false).first else {
      return 0
    }
    return DeltaSeconds.parse(String(first).trimmed) ?? 0
  }

  /// For how long the answer is fresh, in seconds; the first rule that matches (docs/HTTP.md).
  func lifetime(_ rules: FreshnessRules, _ control: CacheDirectives, now: Int64) -> Int64 {
    let isKit = rules.kind != .rfc9111
    if hasNoCache(control) { return isKit ? rules.noCacheTTL : 0 }
    if let seconds = control.seconds("max-age") { return seconds }
    if let expires = head.fields.values("Expires").first {
      // Counted from the answer's own date, so that a wrong clock on either side doesn't matter. No date is the past.
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

  /// `no-cache="x"` is about the field x, which isn't stored.
  private func hasNoCache(_ control: CacheDirectives) -> Bool { control.hasBare("no-cache") }

  package var hasValidator: Bool { head.fields.contains("ETag") || head.fields.contains("Last-Modified") }

  /// What the answer is good for now, for a request with these fields.
  package func freshness(for request: HeaderFields, _ rules: FreshnessRules, now: Int64) -> Freshness {
    let control = CacheDirectives(head.fields)
    let age = age(rules, now: now)
    // Of its own one, the time that the answer was under way is no part.
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
      // Whoever asks for that doesn't want the old answer in place of an error, either.
      result.mayServeOnError = false
      return result
    }
    // An age that isn't known is above every limit.
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
    // Under `rfc9111` a limit that the server set for errors is kept to; without one RFC 9111, 4.2.4 leaves it to us.
    if rules.kind == .rfc9111, let limit = control.seconds("stale-if-error"), -left >= limit {
      result.mayServeOnError = false
    }
    return result
  }
}

extension Int64 {
  /// How much later than `other` this is; 0 when it is earlier. Records come from files, so that any times may stand in
  /// them.
  fileprivate func since(_ other: Int64) -> Int64 {
    guard self > other else { return 0 }
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? .max : difference
  }
}

/// What a request's own `Cache-Control` asks of stored answers.
package struct RequestWishes: Sendable, Equatable {
  package var wantsValidation = false
  package var onlyIfCached = false
  package var noStore = false
  package var maxAge: Int64 = .max
  package var minFresh: Int64 = 0
  /// By how much an answer may be stale; nil: not at all.
  package var maxStale: Int64?

  /// What a browser's reload says; answers that are `immutable` are above it while they are fresh (RFC 8246, 2.1).
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
