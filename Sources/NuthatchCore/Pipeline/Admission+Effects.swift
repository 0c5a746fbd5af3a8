import NuthatchHTTP
import NuthatchStore

// What the answer to a request that isn't a GET does to what is stored.

extension Admission {
  /// - Returns: the moment of the request as it is afterwards.
  func affectStored(_ content: Digest?) -> Moment? {
    let asked = invalidate()
    guard arrival.redirects.isEmpty else { return asked }
    switch plan.method {
    case "HEAD": freshen()
    case "POST" where !isToBeJudged: withMoment(asked).storeForGet(content)
    default: break
    }
    return asked
  }

  /// The same, but asked for at another moment.
  func withMoment(_ asked: Moment?) -> Admission {
    var admission = self
    admission.asked = asked
    return admission
  }

  /// Removes what the request has made invalid.
  ///
  /// - Returns: the moment of the request as it is afterwards; nil when something else was removed since.
  private func invalidate() -> Moment? {
    let urls = StorageRules.invalidated(method: plan.method, url: plan.url, by: head)
    let wasCurrent = asked.map { shared.store.isCurrent($0) } ?? false
    for url in urls {
      // What can't be taken out now is taken out with its pack.
      do throws(StoreFault) { try shared.forget(url, plan.name.partition) } catch {
        shared.counts.note(error)
      }
    }
    return wasCurrent ? asked?.after(removing: urls.map { AnswerName.group(of: $0.address) }) : nil
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
    case .kept: _ = shared.write(meta, plan, asked: asked)
    case .dropped: shared.takeOut(plan.name)
    case .left: break
    }
  }

  func storeForGet(_ content: Digest?) {
    guard arrival.redirects.isEmpty else { return }
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
