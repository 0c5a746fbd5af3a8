import NuthatchTransport

// Redirects that are answers of their own: what they lead to is looked up, and fetched, like any other URL.

extension RequestTask {
  /// Follows a redirect that was stored, or is, as far as this request goes.
  func follow(_ found: StoredAnswer) {
    let isFromPublic = found.meta.reach.countsAsPublic
    follow({ () throws(NuthatchError) in
      try plan.following(found.meta.head, sentByPublic: isFromPublic, isStale: found.isStale)
    })
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
      let found = plan.readsStore ? self.shared.find(plan) : nil
      self.runtime.loop.post { self.decide(found) }
    }
    if !isSubmitted { fail(runtime.workers.refusal) }
  }
}
