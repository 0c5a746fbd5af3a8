import NuthatchHTTP

// What the answer to a request that isn't a GET does to what is stored.

extension Admission {
  func affectStored(_ content: Digest?) {
    invalidate()
    guard arrival.redirects.isEmpty else { return }
    switch plan.method {
    case "HEAD": freshen()
    case "POST": storeForGet(content)
    default: break
    }
  }

  private func invalidate() {
    for url in StorageRules.invalidated(method: plan.method, url: plan.url, by: head) {
      shared.forget(AnswerName(address: url.address, partition: plan.name.partition))
      shared.forget(AnswerName(address: url.address, partition: []))
    }
  }

  /// An answer to HEAD says what one to GET would have said: the stored one is renewed by it, or known to be of the past.
  private func freshen() {
    guard let stored = shared.find(plan)?.meta, stored.redirects == 0, stored.head.status == 200 else {
      return
    }
    if head.isGone { return shared.takeOut(plan.name) }
    guard head.status == 200 else { return }
    var meta = stored
    switch StorageRules.verdict(on: stored.head, byHead: head) {
    case .same(let renewed):
      meta = Caching.renewed(
        stored, with: renewed, requestTime: arrival.requestTime, responseTime: arrival.responseTime)
    case .another:
      meta.head = StorageRules.outdated(stored.head)
      meta.mark = Meta.freshMark
    case .unknown: return
    }
    switch Caching.fate(of: meta, [], plan) {
    case .kept: _ = shared.write(meta, plan, nil)
    case .dropped: shared.takeOut(plan.name)
    case .left: break
    }
  }

  private func storeForGet(_ content: Digest?) {
    let answer = StoredAnswer(
      head: head, requestTime: arrival.requestTime, responseTime: arrival.responseTime, isPicture: false)
    guard StorageRules.answersGet(answer, at: plan.url, plan.policy.freshnessRules) else { return }
    store(content)
  }
}

extension ResponseHead {
  /// Whether the server says that there is nothing any more.
  var isGone: Bool { status == 404 || status == 410 }
}
