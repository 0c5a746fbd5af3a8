import NuthatchStore

// What was given before, in a later second; and what is given for the first time, so that it is found again.

extension SharedCache {
  /// The stored answer that a request may be given, fresh or not.
  func find(_ plan: RequestPlan, _ depth: Reader.Depth = .whole) -> StoredAnswer? {
    guard plan.readsStore, let stored = reader.read(plan, depth), stored.isAdmitted else { return nil }
    return stored
  }

  /// What is stored for a request, if it may be given at once: it is fresh. Redirects that are stored are followed; what is
  /// wrong with one is told to the request that goes that way.
  func findFresh(_ plan: RequestPlan) -> (RequestPlan, StoredAnswer)? {
    guard !plan.asksForHeaders, let stored = find(plan, .atHand) else { return nil }
    switch Decision(stored, plan) {
    case .hit: return (plan, stored)
    case .follow(asksBehind: false): return (try? plan.following(stored)).flatMap { findFresh($0) }
    case .checkFirst:
      check(plan)
      return nil
    default: return nil
    }
  }

  /// Has a worker read and check what takes too long for a peek, so that a later one finds it.
  private func check(_ plan: RequestPlan) {
    guard checking.withLock({ $0.insert(plan.name).inserted }) else { return }
    let isSubmitted = runtime.workers.submit(priority: plan.priority) {
      _ = self.find(plan)
      self.checking.withLock { _ = $0.remove(plan.name) }
    }
    if !isSubmitted { checking.withLock { _ = $0.remove(plan.name) } }
  }

  /// The only picture that a request wants, from its fresh stored answer, and what the memory tier keeps it as; nil when the
  /// tier had no room for it.
  ///
  /// - Parameter decodes: whether one that is packed is unpacked.
  func picture(
    _ stored: StoredAnswer, _ plan: RequestPlan, _ url: String, decodes: Bool
  ) -> (Image, MemoryPicture?)? {
    guard let recipe = plan.recipes.first, stored.isAnswer(to: plan), let content = stored.record.content,
      stored.record.bodyLength <= plan.maxBytes, let thumbnail = stored.thumbnails[recipe]
    else { return nil }
    let (picture, kept): (Picture, MemoryPicture?)
    if case .record(let record) = thumbnail {
      guard let made = decodes ? try? record.picture() : thumbnail.picture else { return nil }
      (picture, kept) = (made, reader.thumbnails.remember(made, content, recipe, record))
    } else if case .inMemory(let known) = thumbnail {
      (picture, kept) = (known.picture, known)
    } else {
      return nil
    }
    guard picture.pixelsOfSource <= plan.maxPixels else { return nil }
    var origin = Provenance.stored(stored).behind(plan)
    origin.source = picture.ownsPixels ? .memory : .disk
    return (Image(url: url, picture, origin), kept)
  }

  /// What finds a picture again by its URL and its size; nil for what isn't to be remembered.
  func entry(
    _ image: Image, _ stored: StoredAnswer, _ plan: RequestPlan, _ url: UnsafeRawBufferPointer, _ size: UInt64
  ) -> Peeked? {
    guard let content = stored.record.content, let recipe = plan.recipes.first, let marks = stored.marks,
      mayBeRemembered(stored, plan)
    else { return nil }
    return Peeked(
      url: url, size: size, image: image, thumb: ThumbRecord.key(content, recipe), second: stored.second,
      freshUntil: stored.second + secondsFresh(stored, plan), marks)
  }

  /// What finds an answer again by its URL; nil for what isn't to be remembered.
  func entry(
    _ response: Response, _ stored: StoredAnswer, _ plan: RequestPlan, _ url: UnsafeRawBufferPointer
  ) -> Recalled? {
    guard let marks = stored.marks, mayBeRemembered(stored, plan) else { return nil }
    let made = Recalled(
      url, response.with(.empty),
      body: stored.hasBody ? stored.record.content.map { RecordKey(.body, $0.bytes) } : nil,
      second: stored.second, freshUntil: stored.second + secondsFresh(stored, plan), marks)
    return made.isSmall ? made : nil
  }

  /// Not what only this request takes, and not what lies behind a redirect, whose record the entry doesn't know.
  private func mayBeRemembered(_ stored: StoredAnswer, _ plan: RequestPlan) -> Bool {
    !stored.freshness.isStale && plan.hops == 0 && !stored.isRedirect
  }

  /// For how many seconds, this one included, nothing but the age will be said anew.
  private func secondsFresh(_ stored: StoredAnswer, _ plan: RequestPlan) -> Int64 {
    // A request with wishes, a clock that was set back, and two-digit years are left to those who know their rules.
    guard !plan.headers.contains("Cache-Control"), !plan.headers.contains("Pragma"),
      stored.second >= stored.record.responseTime
    else { return 1 }
    if plan.policy.rules == .offline { return 60 }
    return min(60, max(1, stored.freshness.lifetime - stored.freshness.age))
  }

  // MARK: Once more

  /// The same picture a second or more later, if it still holds: only its age has changed.
  func renewed(_ entry: Peeked) -> (Peeked, MemoryPicture)? {
    let now = clock.coarseSeconds
    guard now >= entry.second, now < entry.freshUntil, entry.isCurrent(store),
      let held = (try? store.recall(entry.thumb)) ?? nil, let kept = held.owner as? MemoryPicture,
      kept.picture === entry.image.picture
    else { return nil }
    let image = entry.image.aged(by: now - entry.second)
    return (Peeked(entry, image: image, second: now), kept)
  }

  /// A remembered answer, with its body, at this moment: itself, or the same in a later second. nil when somebody has to look
  /// closer.
  func renewed(_ old: Recalled) -> (Recalled, Response)? {
    let now = clock.coarseSeconds
    guard now >= old.second, now < old.freshUntil, old.marks.isCurrent(store) else { return nil }
    let present = now == old.second ? old : Recalled(old, second: now)
    guard let key = present.body else { return (present, present.answer) }
    // A body that can't be had is looked for by who looks closer.
    return ((try? store.lookup(key)) ?? nil).map { (present, present.answer.with(SharedBytes($0))) }
  }
}
