import NuthatchTransport

extension RequestPlan {
  /// The request for what a stored redirect leads to.
  func following(_ stored: StoredAnswer) throws(NuthatchError) -> RequestPlan {
    try following(
      stored.record.head, sentByPublic: stored.record.reach.countsAsPublic,
      isStale: stored.freshness.isStale)
  }
}

// Redirects that are answers of their own: what they lead to is looked up, and fetched, like any other URL.

extension RequestTask {
  /// Follows a redirect that was stored, or is, as far as this request goes.
  func follow(_ found: StoredAnswer) {
    follow { () throws(NuthatchError) in try plan.following(found) }
  }

  /// Follows a redirect from the network.
  func follow(_ fetched: FetchedAnswer) {
    follow(
      { () throws(NuthatchError) in
        try plan.following(fetched.head, sentByPublic: fetched.isFromPublic)
      },
      // Nobody judges a redirect: it is kept in any case.
      after: { _ = fetched.keep?() })
  }

  private func follow(
    _ next: () throws(NuthatchError) -> RequestPlan, after store: @escaping @Sendable () -> Void = {}
  ) {
    do throws(NuthatchError) { plan = try next() } catch { return fail(error) }
    let plan = plan
    let isSubmitted = runtime.workers.submit(priority: priority) {
      store()
      let found = self.shared.find(plan)
      self.runtime.loop.post { self.decide(found) }
    }
    if !isSubmitted { fail(runtime.workers.refusal) }
  }
}
