import NuthatchTransport

// Redirects that are answers of their own: what they lead to is looked up, and fetched, like any other URL.

extension Errand {
  /// Follows a redirect that was stored, or is, as far as this request goes.
  func follow(_ found: Found) {
    follow(found.meta.head, sentByPublic: found.meta.reach == AddressReach.open.rawValue, after: {})
  }

  /// Follows a redirect from the network.
  func follow(_ fetched: Fetched) {
    // Nobody judges a redirect: it is kept in any case.
    follow(fetched.head, sentByPublic: fetched.isFromPublic, after: fetched.keep ?? {})
  }

  private func follow(
    _ head: ResponseHead, sentByPublic: Bool, after store: @escaping @Sendable () -> Void
  ) {
    do throws(NuthatchError) {
      plan = try plan.following(head, sentByPublic: sentByPublic)
    } catch {
      return fail(error)
    }
    let plan = plan
    let isSubmitted = runtime.workers.submit(priority: priority) {
      store()
      let found = plan.readsStore ? self.shared.find(plan) : nil
      self.runtime.loop.post { self.decide(found) }
    }
    if !isSubmitted { fail(.closed) }
  }
}
