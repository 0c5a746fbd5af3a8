import NuthatchHTTP
import NuthatchStore

/// Reads what is stored for a request. Only this type follows vary records to an answer and judges the freshness of a stored
/// answer. Code that makes pictures later looks up their thumbnails by `thumbnails`. Recent answers are in the `HitTable`.
struct Reader: Sendable {
  /// How much is read.
  enum Depth {
    /// For an inspection: whether there is a body (a long one isn't read), and how thumbnails are stored.
    case facts
    /// For a peek: only what can be given without a long wait. If pictures are wanted, no body.
    case atHand
    /// Everything that the request needs, without a long wait. For threads that must not wait.
    case promptly
    /// Everything that the request needs, however long reading and verifying takes. For a worker's thread.
    case whole

    /// The longest payload that is read in order to verify it.
    fileprivate var mostChecked: Int { self == .whole ? .max : Reader.mostChecked }
  }

  /// The longest payload that is verified on a thread that must not wait: it takes a few hundredths of a millisecond.
  static let mostChecked = 256 << 10

  let store: Store
  let clock: WallClock

  var thumbnails: Thumbnails { Thumbnails(store: store) }

  /// Returns what is stored for a request, or nil. Also returns an answer that the request may not get
  /// (`StoredAnswer.isAdmitted`). A record that can't be read counts as missing.
  func read(_ plan: RequestPlan, _ depth: Depth = .whole) -> StoredAnswer? {
    // Read the removals before the record, so that a removal in between is noticed. Only an answer that is read whole can be
    // revalidated.
    let seen = depth == .whole || depth == .promptly ? removalsNow(plan) : nil
    guard let (record, marks) = record(plan) else { return nil }
    let isAdmitted = plan.admits(record.reach)
    if isAdmitted { touchLink(plan) }
    var answer = StoredAnswer.Parts()
    if isAdmitted || depth == .facts, let content = record.content {
      readParts(content, record.sizes, plan, depth, &answer)
    }
    let now = clock.coarseSeconds
    return StoredAnswer(
      record, marks: marks, seen: seen, isAdmitted: isAdmitted, second: now,
      record.freshness(for: plan, now: now), answer)
  }

  /// Returns the stored answer if the request may get it, fresh or not.
  func readAdmitted(_ plan: RequestPlan, _ depth: Depth = .whole) -> StoredAnswer? {
    guard plan.readsStore, let stored = read(plan, depth), stored.isAdmitted else { return nil }
    return stored
  }

  /// Returns the stored answer if it can be given at once: it is fresh, but a worker may have to read it first. Follows stored
  /// redirects. If one can't be followed, returns nil; the request that follows it reports the error.
  func readHit(_ plan: RequestPlan) -> (RequestPlan, StoredAnswer)? {
    guard !plan.asksForHeaders, let stored = readAdmitted(plan, .atHand) else { return nil }
    switch Decision(stored, plan) {
    case .hit, .checkFirst: return (plan, stored)
    case .follow(revalidates: false): return (try? plan.following(stored)).flatMap { readHit($0) }
    default: return nil
    }
  }

  private func readParts(
    _ content: Digest, _ sizes: [Recipe], _ plan: RequestPlan, _ depth: Depth,
    _ parts: inout StoredAnswer.Parts
  ) {
    var isIncomplete = false
    var isInMemory = plan.wantsPictures
    for recipe in plan.recipes {
      let found =
        depth == .facts
        ? thumbnails.findRecord(content, recipe)
        : thumbnails.find(content, recipe, checking: depth.mostChecked, &parts.isUnchecked)
      // A thumbnail that isn't verified yet may be all that is missing.
      if found == nil, !parts.isUnchecked { isIncomplete = true }
      if case .inMemory(let kept) = found, kept.picture.ownsPixels {} else { isInMemory = false }
      parts.thumbnails[recipe] = found
    }
    parts.isInMemory = isInMemory
    // Look up the body only if it is needed, because a look-up counts as a use and keeps the record from eviction.
    guard !plan.wantsPictures || isIncomplete else { return }
    let key = RecordKey(.body, content.bytes)
    if depth == .atHand, plan.wantsPictures { return }
    switch (try? store.lookup(key, checking: depth.mostChecked)) ?? .nothing {
    case .nothing: break
    case .found(let body): (parts.body, parts.bodyCount) = (body, Int64(body.count))
    case .unchecked(let count): (parts.isUnchecked, parts.bodyCount) = (depth != .facts, Int64(count))
    }
    guard plan.wantsPictures, parts.bodyCount == nil else { return }
    let missing = plan.recipes.filter { parts.thumbnails[$0] == nil }
    let most = depth == .facts ? Int.max : depth.mostChecked
    thumbnails.findLarger(content, sizes, missing, &parts.thumbnails, checking: most, &parts.isUnchecked)
  }

  private func removalsNow(_ plan: RequestPlan) -> Moment? {
    let groups = plan.groups
    return store.removalsNow(groups.own, groups.ofURL)
  }

  /// Calls `body` for every stored answer with its freshness by these rules, until `body` returns false.
  func forEach(
    _ rules: FreshnessRules, now: Int64, _ body: (RecordKey, AnswerRecord, Freshness) -> Bool
  ) throws(StoreFault) {
    try store.forEach { key, lease in
      guard key.kind == .answer || key.kind == .meta, lease.shape.form == RecordForm.answer,
        let record = lease.reading({ AnswerRecord($0) }), !record.isVaryRecord
      else { return true }
      return body(key, record, record.answer.freshness(for: HeaderFields(), rules, now: now))
    }
  }

  /// Returns the record of the answer to a request, which may not be allowed to get it, and the records that it depends on.
  func record(_ plan: RequestPlan) -> (AnswerRecord, AnswerMarks)? {
    // Read the marks first, so that a later change is noticed when they are compared.
    let isEarlier = isEarlier(plan.name)
    let name = plan.name.key(isEarlier: isEarlier)
    guard let firstMark = mark(name), let first = record(at: name) else { return nil }
    guard first.isVaryRecord else { return (first, AnswerMarks(key: name, mark: firstMark)) }
    let key = plan.name.key(
      variant: Caching.variant(first.varied, of: first.number, plan), isEarlier: isEarlier)
    guard let ownMark = mark(key), let variant = record(at: key) else { return nil }
    return (variant, AnswerMarks(key: key, mark: ownMark, varyRecord: (name, firstMark)))
  }

  /// Returns the record under a key: an answer's, or a vary record.
  func record(at key: RecordKey) -> AnswerRecord? {
    lookup(key).flatMap { $0.reading { AnswerRecord($0) } }
  }

  /// Returns whether a look-up for a request would have the result `stored` again. Reads no record. Also returns false if the
  /// record has only been moved.
  func isUnchanged(_ plan: RequestPlan, _ stored: StoredAnswer?) -> Bool {
    if let stored { return stored.marks?.isCurrent(store) ?? false }
    return !store.isThere(plan.name.key(isEarlier: isEarlier(plan.name)))
  }

  /// Returns whether an answer is stored only under the key of version 0.1.
  private func isEarlier(_ name: AnswerName) -> Bool {
    store.hasEarlierAnswers && !store.isThere(name.key) && store.isThere(name.key(isEarlier: true))
  }

  // A store that is closed, or belongs to a parent process, has no records. The caller gets that error elsewhere.

  private func mark(_ key: RecordKey) -> RecordMark? { (try? store.mark(key)) ?? nil }

  private func lookup(_ key: RecordKey) -> Lease? { (try? store.lookup(key)) ?? nil }

  /// Marks the link to the answer as used. Without the link, the answer would survive a removal of its URL.
  private func touchLink(_ plan: RequestPlan) {
    guard let link = plan.link else { return }
    _ = try? store.touch(link)
  }
}

extension AnswerRecord {
  /// Returns the freshness for a request at `now`.
  func freshness(for plan: RequestPlan, now: Int64) -> Freshness {
    answer.freshness(for: plan.headers, plan.freshness, now: now)
  }
}
