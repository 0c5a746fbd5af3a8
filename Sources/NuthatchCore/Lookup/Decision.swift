import NuthatchHTTP

/// What to do with a stored answer to a request, before a server is asked. Tickets, peeks and inspections all use it, so that
/// they agree. `SharedCache.decide` adds the failures that are remembered. Two things are decided later: whether a stored
/// redirect can be followed, and whether a stored answer may be used when no new one can be had (`StoredAnswer.mayStandIn`).
package enum Decision: Equatable, Sendable {
  /// Give the stored answer; ask no server.
  case hit
  /// Give the stored answer, and revalidate it in the background (`Revalidation`).
  case hitAndRevalidate
  /// Give the stored answer, then ask the server. A request that may not use the network then ends with `offline`.
  case showThenFetch
  /// Ask the server: whether the stored answer is still valid, if the request may get it (an inspection calls that
  /// `revalidate`); otherwise for the whole answer.
  case fetch
  /// Follow the stored redirect, and revalidate it in the background if `revalidates` is true.
  case follow(revalidates: Bool)
  /// Let a worker read and verify the stored answer first, because it is long. Then decide again.
  case checkFirst
  /// Fail at once.
  case refuse(StoredAnswerInfo.Refusal)

  /// The result of the look-up.
  package enum Finding: Equatable, Sendable {
    case nothing
    /// The stored answer doesn't suit this request: a part of it is gone, pictures are wanted and it is an error, or only the
    /// server can answer.
    case unfit
    /// The answer is longer than the request allows, or has more pixels, as one of its thumbnails says. If it is stale, the
    /// present one may be smaller.
    case beyondLimit(StoredAnswerInfo.Refusal, Freshness.Grade)
    /// The answer is so long that reading it takes a while, and this process hasn't verified it yet.
    case unchecked
    case redirect(Freshness.Grade)
    case answer(Freshness.Grade)
    /// It is only known that no picture can be made of the answer.
    case undecodable(Freshness.Grade)
  }

  /// The properties of the request that matter here.
  package struct Wish: Equatable, Sendable {
    var delivery: Delivery
    package var mayUseNetwork: Bool
    /// Whether only the request itself may fetch: its program judges new answers, or it saves the answer. A background
    /// revalidation can do neither.
    var fetchesItself: Bool
    /// Whether a stored answer has been delivered already.
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

  /// - Parameter remembersFailure: returns whether a failure is remembered of a request that allowed no less. Called only if
  ///   needed.
  package init(_ finding: Finding, _ wish: Wish, remembersFailure: @autoclosure () -> Bool = false) {
    let fetch: Decision = wish.mayUseNetwork ? .fetch : .refuse(.offline)
    switch finding {
    case .unfit: self = fetch
    case .unchecked: self = .checkFirst
    case .beyondLimit(let limit, .valid): self = .refuse(limit)
    case .nothing, .beyondLimit: self = remembersFailure() ? .refuse(.failedBefore) : fetch
    // Don't ask for it more often than for a URL of which nothing is stored.
    case .undecodable(let grade) where grade != .valid && remembersFailure(): self = .refuse(.failedBefore)
    case .undecodable(let grade), .answer(let grade):
      // The grade says how the answer may be used; `delivery` says what the request wants. `Delivery.fresh` is one answer that
      // is valid now.
      switch (grade, wish.delivery) {
      case (.valid, _): self = .hit
      case (.staleWhileRevalidate, .first), (.staleWhileRevalidate, .fresh), (.stale, .first):
        self = wish.fetchesItself ? fetch : wish.mayUseNetwork ? .hitAndRevalidate : .hit
      case (.staleWhileRevalidate, .twice), (.stale, .twice): self = wish.hasShown ? fetch : .showThenFetch
      case (.stale, .fresh), (.mustValidate, _): self = fetch
      }
    // As for an answer, but a redirect isn't shown.
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
    } else if plan.followsRedirect(in: stored) {
      self = .redirect(stored.grade)
    } else if let limit = stored.exceededLimit(of: plan) {
      self = .beyondLimit(limit, stored.grade)
    } else if stored.isUnchecked {
      self = .unchecked
    } else {
      self = stored.isRememberedFailure ? .undecodable(stored.grade) : .answer(stored.grade)
    }
  }

  /// Whether the request may get the stored answer, as far as that is known.
  var isOfUse: Bool { self != .nothing && self != .unfit }
}
