import NuthatchHTTP

/// What a stored answer is good for, for a request, before a server is asked. Nothing else decides it: tickets, peeks and
/// inspections heed this. `SharedCache.decide` looks up whether a request has failed a moment ago, too. That a stored redirect can't
/// be followed is found when it is followed. Whether a stored answer stands in for one that can't be had is decided when that is
/// known (`StoredAnswer.mayStandIn`).
package enum Decision: Equatable, Sendable {
  /// It is given, and no server is asked.
  case hit
  /// It is given, and its server is asked behind it (`Revalidation`).
  case hitAndRevalidate
  /// It is shown, and then the server is asked; a request that may not use the network ends with that error then.
  case showThenFetch
  /// The server is asked: whether it holds, where the request may be given it (an inspection calls that `revalidate`); else for the
  /// whole answer.
  case fetch
  /// The stored redirect is followed; its server is asked behind it, or isn't.
  case follow(revalidates: Bool)
  /// A worker reads and checks it first: it is long. Then it is decided anew.
  case checkFirst
  /// An error at once.
  case refuse(StoredAnswerInfo.Refusal)

  /// What was found, as far as it matters here.
  package enum Finding: Equatable, Sendable {
    case nothing
    /// Not for this request: a part of it is gone, or it has no success for pictures, or only the server can tell.
    case unfit
    /// Longer than the request allows, or a picture of more pixels, as a thumbnail of it says. What is stale may be smaller by now.
    case beyondLimit(StoredAnswerInfo.Refusal, Freshness.Grade)
    /// So long that it takes a while to read it, and it hasn't been read in this session.
    case unchecked
    case redirect(Freshness.Grade)
    case answer(Freshness.Grade)
    /// All that is known is that no picture can be made of it.
    case undecodable(Freshness.Grade)
  }

  /// What the request wants, as far as it matters here.
  package struct Wish: Equatable, Sendable {
    var delivery: Delivery
    package var mayUseNetwork: Bool
    /// Whether only the request itself may fetch: its program judges new answers, or it saves what comes. A revalidation behind an
    /// answer has neither a program nor a place to save to.
    var fetchesItself: Bool
    /// Whether a stored answer has been shown already.
    var hasShown: Bool

    package init(
      delivery: Delivery, mayUseNetwork: Bool = true, fetchesItself: Bool = false,
      hasShown: Bool = false
    ) {
      self.delivery = delivery
      self.mayUseNetwork = mayUseNetwork
      self.fetchesItself = fetchesItself
      self.hasShown = hasShown
    }
  }

  /// - Parameter remembersFailure: whether a failure is remembered of a request that wanted no less. Asked only where it matters.
  package init(_ finding: Finding, _ wish: Wish, remembersFailure: @autoclosure () -> Bool = false) {
    let fetch: Decision = wish.mayUseNetwork ? .fetch : .refuse(.offline)
    switch finding {
    case .unfit: self = fetch
    case .unchecked: self = .checkFirst
    case .beyondLimit(let limit, .valid): self = .refuse(limit)
    case .nothing, .beyondLimit: self = remembersFailure() ? .refuse(.failedBefore) : fetch
    // Asked for no more often than what isn't stored.
    case .undecodable(let grade) where grade != .valid && remembersFailure(): self = .refuse(.failedBefore)
    case .undecodable(let grade), .answer(let grade):
      // What the answer is good for, and what the request wants: `Delivery.fresh` is one answer, which holds now.
      switch (grade, wish.delivery) {
      case (.valid, _): self = .hit
      case (.staleWhileRevalidate, .first), (.staleWhileRevalidate, .fresh), (.stale, .first):
        self = wish.fetchesItself ? fetch : wish.mayUseNetwork ? .hitAndRevalidate : .hit
      case (.staleWhileRevalidate, .twice), (.stale, .twice): self = wish.hasShown ? fetch : .showThenFetch
      case (.stale, .fresh), (.mustValidate, _): self = fetch
      }
    // The same, but a redirect isn't shown.
    case .redirect(let grade):
      switch Decision(.answer(grade), wish) {
      case .hit: self = .follow(revalidates: false)
      case .hitAndRevalidate: self = .follow(revalidates: true)
      default: self = fetch
      }
    }
  }
}

extension Decision {
  init(
    _ stored: StoredAnswer?, _ plan: RequestPlan, hasShown: Bool = false,
    remembersFailure: @autoclosure () -> Bool = false
  ) {
    let wish = Wish(
      delivery: plan.delivery, mayUseNetwork: plan.mayUseNetwork,
      fetchesItself: plan.wantsVerdict || plan.download != nil,
      hasShown: hasShown)
    self.init(Finding(stored, plan), wish, remembersFailure: remembersFailure())
  }
}

extension Decision.Finding {
  init(_ stored: StoredAnswer?, _ plan: RequestPlan) {
    guard let stored, plan.readsStore, stored.isAdmitted else {
      self = .nothing
      return
    }
    if !stored.isAnswer(to: plan) {
      self = .unfit
    } else if plan.isLedOn(by: stored) {
      self = .redirect(stored.grade)
    } else if let limit = stored.exceededLimit(of: plan) {
      self = .beyondLimit(limit, stored.grade)
    } else if stored.isUnchecked {
      self = .unchecked
    } else {
      self = stored.isRememberedFailure ? .undecodable(stored.grade) : .answer(stored.grade)
    }
  }

  /// Whether the request may be given what was found, as far as that is known.
  var isOfUse: Bool { self != .nothing && self != .unfit }
}
