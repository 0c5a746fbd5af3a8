import NuthatchHTTP
import NuthatchStore

// Changes of stored answers by the answer to a request that isn't a GET.

extension AnswerProcessor {
  /// The changes that an answer has made.
  struct Effects {
    /// The moment of the request after these changes. Nil if something else was removed since.
    var began: Moment?
    /// Whether the removal of an invalidated answer failed and is still due.
    var isRemovalDue = false
    /// Whether the answer was stored as the answer to a GET.
    var isStored = false
  }

  func affectStored(_ content: Digest?) -> Effects {
    var effects = invalidate()
    guard arrival.redirects.isEmpty else { return effects }
    switch plan.method {
    case "HEAD": renewByHead()
    case "POST" where !isToBeJudged: effects.isStored = storeForGet(content, began: effects.began)
    default: break
    }
    return effects
  }

  /// Removes the answers that the request has made invalid.
  private func invalidate() -> Effects {
    let urls = StorageRules.invalidated(method: plan.method, url: plan.url, by: head)
    let wasCurrent = arrival.began.map { shared.store.isCurrent($0) } ?? false
    var isRemovalDue = false
    for url in urls where !shared.invalidate(url, plan.name.partition) { isRemovalDue = true }
    let groups = urls.map { AnswerName.group(of: $0.address) }
    return Effects(
      began: wasCurrent ? arrival.began?.after(removing: groups) : nil, isRemovalDue: isRemovalDue)
  }

  /// An answer to HEAD has the head of an answer to GET. So it either renews the stored answer or shows that it is outdated.
  private func renewByHead() {
    guard let (stored, _) = shared.reader.record(plan), plan.admits(stored.reach), stored.redirects == 0,
      stored.head.status == 200
    else { return }
    if head.isGone { return shared.takeOut(plan.name) }
    guard head.status == 200 else { return }
    var meta = stored
    switch StorageRules.verdict(on: stored.head, byHead: head) {
    case .same(let renewed):
      meta = Caching.renewed(
        stored, with: renewed, requestTime: arrival.requestTime, responseTime: arrival.responseTime)
    case .another:
      meta.head = StorageRules.outdated(stored.head)
      meta.number = AnswerRecord.newNumber
    case .unknown: return
    }
    switch Caching.fate(of: meta, [], plan) {
    case .kept: _ = arrival.write(meta, began: arrival.began)
    case .dropped: shared.takeOut(plan.name)
    case .left: break
    }
  }

  func storeForGet(_ content: Digest?, began: Moment?) -> Bool {
    guard arrival.redirects.isEmpty else { return false }
    let answer = AnswerFacts(
      head: head, requestTime: arrival.requestTime, responseTime: arrival.responseTime, isPicture: false)
    guard StorageRules.answersGet(answer, at: plan.url, plan.freshness) else { return false }
    return store(content, began: began)
  }
}

extension ResponseHead {
  /// Whether the server reports that there is nothing at the URL any more.
  var isGone: Bool { status == 404 || status == 410 }
}
